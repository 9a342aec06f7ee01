"""The command line: a file a command, which parses, calls the library and prints. The library prints nothing.

Files::

    entry.py       the entry point; calls the user's server before the rest is imported
    closed_streams.py   standard streams that are closed
    main.py        finds the subcommand; errors and exit codes
    signals.py     SIGTERM and SIGHUP as errors, which cleaning up survives
    run.py         tf1sessions run
    launch.py      tf1sessions launch
    inspect.py     tf1sessions inspect
    html_pages.py  pages that commands write
    report.py      the report of tf1sessions inspect
    memory.py      tf1sessions memory
    programs.py    arguments of commands that take programs
    doctor.py      tf1sessions doctor
    races.py       tf1sessions races
    convert.py     tf1sessions convert
    verify.py      tf1sessions verify
    serve.py       tf1sessions serve
    warm.py        tf1sessions warm
    warm_commands.py   commands that run in a fork of the user's server
    build_op.py    tf1sessions build-op
    audit.py       tf1sessions audit
    port.py        tf1sessions port
    port_report.py     its diffs, summary and JSON
    port_differences.py   what plain Python computes otherwise in a ported program
    progress.py    plain lines about a run
    live.py        the live table of a run
    formatting.py  durations, ends and tables of jobs as text
"""
