"""Names of ``platform.control_imports``, ``platform.status_bar``, ``util.memory`` and ``util.future_api``."""

from __future__ import annotations

from typing import Any

__all__ = ["SetupStatusBarInsideGoogle", "dismantle_ordered_dict"]

USE_OSS = OSS_APP = OSS_FLAGS = OSS_GFILE = OSS_GOOGLETEST = OSS_LOGGING = OSS_PARAMETERIZED = True


def SetupStatusBarInsideGoogle(unused_link_text: Any, unused_port: Any) -> None:
    """Does nothing, as outside of Google it always did."""


def dismantle_ordered_dict(ordered_dict: dict[Any, Any]) -> None:
    """Empties ``ordered_dict``, which in Python 2 was a cycle of references."""
    ordered_dict.clear()
