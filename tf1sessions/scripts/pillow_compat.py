"""Names that programs of 2016 to 2019 use of Pillow, and that Pillow 10 removed.

The import hooks call :func:`apply` with each of Pillow's modules named in ``MODULES`` after its import. Only what is
missing is added, so an old Pillow stays as it is. The replacements are those that Pillow's own list of removals names.
"""

from __future__ import annotations

from math import ceil
from types import ModuleType
from typing import Any

from ..source.old_names import PILLOW_FILTERS

__all__ = ["MODULES", "apply"]

MODULES = frozenset({"PIL.Image", "PIL.ImageDraw", "PIL.ImageFont"})


def apply(module: ModuleType) -> None:
    """Adds to one of Pillow's modules what was removed from it. Again is harmless."""
    found: Any = module
    if module.__name__ == "PIL.Image":
        for old, new in PILLOW_FILTERS.items():
            if not hasattr(found, old):
                setattr(found, old, getattr(found, new))
    elif module.__name__ == "PIL.ImageDraw":
        _add(found.ImageDraw, textsize=_textsize, multiline_textsize=_multiline_textsize)
    elif module.__name__ == "PIL.ImageFont":
        for kind in (found.FreeTypeFont, found.ImageFont, found.TransposedFont):
            _add(kind, getsize=_getsize)


def _add(kind: type, **methods: Any) -> None:
    for name, method in methods.items():
        if not hasattr(kind, name):
            setattr(kind, name, method)


def _textsize(self: Any, text: str, font: Any = None, *args: Any, **settings: Any) -> tuple[int, int]:
    """The width and height of a text in pixels, from the origin."""
    _, _, right, bottom = self.textbbox((0, 0), text, font, None, *args, **settings)
    return ceil(right), ceil(bottom)


def _multiline_textsize(self: Any, text: str, font: Any = None, *args: Any, **settings: Any) -> tuple[int, int]:
    """The width and height of several lines in pixels, from the origin."""
    _, _, right, bottom = self.multiline_textbbox((0, 0), text, font, None, *args, **settings)
    return ceil(right), ceil(bottom)


def _getsize(self: Any, text: str, *args: Any, **settings: Any) -> tuple[int, int]:
    """The width and height of a text in this font in pixels, from the origin."""
    _, _, right, bottom = self.getbbox(text, *args, **settings)
    return ceil(right), ceil(bottom)
