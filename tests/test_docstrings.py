"""The examples in docstrings do what they show."""

from __future__ import annotations

from collections.abc import Callable

from support import PACKAGE, PythonRun


def test_examples_in_docstrings(run_python: Callable[..., PythonRun]) -> None:
    names = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if ">>> " in path.read_text("utf-8"):
            parts = [PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts]
            names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    assert "tf1sessions.errors" in names

    results = run_python(
        """
        import doctest, importlib, sys

        for name in sys.argv[1:]:
            shown = []
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            for test in doctest.DocTestFinder().find(importlib.import_module(name), name):
                runner.run(test, out=shown.append)
            report(**{name: [runner.summarize(verbose=False).attempted, "".join(shown)]})
        """,
        *names,
    ).results

    failures = "\n".join(text for _, text in results.values() if text)
    assert not failures, failures
    assert [name for name, (attempted, _) in results.items() if not attempted] == []
    assert sorted(results) == sorted(names)
