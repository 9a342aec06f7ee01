"""The versions that a machine of a Ray cluster has."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["version_reader"]


def version_reader() -> Callable[[], dict[str, str]]:
    """A function that says what must be equal on both sides, by name; what is not there is ``"none"``.

    It is made here, and imports what it needs, so that Ray sends it by value, to a machine of which nothing is known.
    """

    def versions() -> dict[str, str]:
        import importlib
        import importlib.metadata
        import sys

        found = {"Python": f"{sys.version_info[0]}.{sys.version_info[1]}", "tf1sessions": "none", "TensorFlow": "none"}
        try:
            found["tf1sessions"] = str(importlib.import_module("tf1sessions").__version__)
        except Exception:  # noqa: BLE001 - it may be there, and broken
            pass
        for name in ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly"):
            try:
                found["TensorFlow"] = importlib.metadata.version(name)
                break
            except importlib.metadata.PackageNotFoundError:
                continue
        return found

    return versions
