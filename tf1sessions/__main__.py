"""``python -m tf1sessions``: the command line."""

from tf1sessions.cli.entry import main

if __name__ == "__main__":
    main()
