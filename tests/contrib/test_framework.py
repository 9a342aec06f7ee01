"""contrib.framework: what decorators of old functions log."""

from __future__ import annotations

from collections.abc import Callable

from support import PythonRun


def test_old_functions_log_it(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(
        """
        from tf1sessions import contrib
        from tf1sessions.runtime import tf1 as tf

        lines = []
        tf.logging.warning = lambda text, *values: lines.append(text % values)

        @contrib.framework.deprecated("2016-01-01", "Use another.")
        def whole(x):
            return x

        @contrib.framework.deprecated_args(None, "Leave it out.", "scale", ("shift", 0), warn_once=False)
        def arguments(x, scale=1, shift=0):
            return x * scale + shift

        @contrib.framework.deprecated_arg_values(None, "Give another.", shift=0)
        def values(x, shift=1):
            return x + shift

        whole(1), whole(2)
        arguments(1), arguments(1, shift=0), arguments(1, 2), arguments(1, scale=2, shift=1)
        values(1), values(1, shift=2), values(1, 0)
        report(lines=lines, name=whole.__name__)
        """
    ).results
    assert found["name"] == "whole"
    first, *others = found["lines"]
    assert "code.py: whole is deprecated and will be removed after 2016-01-01" in first and "Use another." in first
    assert [line.partition("code.py: ")[2].partition(" is deprecated")[0] for line in others] == [
        "calling arguments with scale",
        "calling arguments with scale, shift",
        "calling values with shift of that value",
    ]
    assert all("removed in a future version" in line for line in others)
