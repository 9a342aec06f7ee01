"""Names of what only a TPU can do: they can be imported, and say what is missing when they are used."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedEnvironmentError

__all__ = ["needs_tpu"]


def needs_tpu(name: str, module: str) -> Any:
    """A class called ``name`` that cannot be made.

    Args:
        name: As programs write it.
        module: The module where it is public.
    """

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise UnsupportedEnvironmentError(
            f"{name} needs a TPU, and there is none",
            where=module,
            next_step="Take the program's way without a TPU, for most programs use_tpu=False.",
        )

    return type(name, (), {"__init__": refuse, "__module__": module, "__doc__": f"{name}, which needs a TPU."})
