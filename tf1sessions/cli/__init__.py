"""The command line: a file a command, which parses, calls the library and prints. The library prints nothing."""
