"""The suppressions of a run of pytest, and which of them covered nothing in any of its processes.

With pytest-xdist each worker sends the main process at its end the rules that it has not used.
"""

from __future__ import annotations

from typing import Any

import pytest

from tf1sessions.testing.suppressions import Suppressions, read_suppressions

__all__ = ["AcceptedRaces"]

_UNUSED = "tf1sessions_unused_suppressions"


class AcceptedRaces:
    """A plugin of pytest, in place where there is a file of suppressions.

    Raises:
        UsageError: The file cannot be read, or an entry is wrong.
    """

    def __init__(self, config: pytest.Config, path: str) -> None:
        self._path = path
        # What the fixture ``graph_races`` does not report.
        self.suppressions = Suppressions(read_suppressions(config.rootpath / path))
        self._unused_in_workers: list[set[int]] = []

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_UNUSED] = self.suppressions.unused

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        unused = getattr(node, "workeroutput", {}).get(_UNUSED)
        if unused is not None:  # else it has ended without a word
            self._unused_in_workers.append(set(unused))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        unused = set(self.suppressions.unused).intersection(*self._unused_in_workers)
        for number in sorted(unused):
            rule = self.suppressions.rules[number]
            terminalreporter.write_line(f"tf1sessions: unused suppression in {self._path}: {rule}", yellow=True)
