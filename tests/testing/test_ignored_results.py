"""Which calls have results that nothing looks at."""

from __future__ import annotations

import sys
from typing import Any

from tf1sessions.testing.ignored_results import ignores_result


def asks(*args: Any, **named: Any) -> bool:
    seen.append(ignores_result(sys._getframe(1)))
    return True


seen: list[bool] = []


def test_statements_by_themselves() -> None:
    del seen[:]
    asks()
    asks(1, two=2)
    asks(asks())  # the inner one is looked at
    assert seen == [True, True, False, True]


def test_results_that_are_looked_at() -> None:
    del seen[:]
    result = asks()
    if asks() and not asks():
        raise AssertionError
    assert asks() and [asks() for _ in range(2)] and result
    (lambda: asks())()
    assert seen == [False] * 7
    assert not ignores_result(None)
