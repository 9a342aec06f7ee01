"""A target that is interrupted while it is imported: in a fork of the server what has come comes when it is ready."""

from __future__ import annotations

import os
import signal
from typing import Any

os.kill(os.getpid(), signal.SIGINT)


def execute(payload: dict[str, Any]) -> None:
    print("ran")
