"""``python -m tf1sessions``: the command line."""

import os
import sys


def _leave_out_working_directory() -> None:
    """Undo what ``python -m`` has put first on ``sys.path``: a file there may have the name of a module that we import.

    A program that we run gets its folders by itself: the path of the command ``tf1sessions`` has no such entry.
    """
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        return
    if sys.path[:1] == [folder] and not getattr(sys.flags, "safe_path", False):
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_working_directory()
    from tf1sessions.cli.entry import main

    main()
