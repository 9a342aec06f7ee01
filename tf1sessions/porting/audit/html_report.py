"""An audit as one HTML page, which needs nothing but a browser.

``page.html`` beside this file is the page: its style, and the script that draws. :func:`page` puts the data in it, as
JSON in which no tag can end.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .constructs import CONSTRUCTS
from .record import Audit, FileAudit

__all__ = ["page"]

#: How many sources are in the page's title; all of them are below it.
_NAMES_SHOWN = 3


def page(found: Audit, sources: Sequence[str], version: str = "") -> str:
    """The page, as text of one HTML file.

    Args:
        found: The audit.
        sources: What was audited, as the user named it.
        version: Of tf1sessions.
    """
    about = {"title": _title(sources), "date": datetime.date.today().isoformat(), "version": version}
    text = json.dumps(about | _data(found, sources), separators=(",", ":"), allow_nan=False)
    template = Path(__file__).with_name("page.html").read_text("utf-8")
    return template.replace("@DATA@", text.replace("<", "\\u003c"), 1)


def _title(sources: Sequence[str]) -> str:
    """The names of the sources: the folder's own where it is called by ``.``"""
    names = [os.path.basename(os.path.abspath(source)) or source for source in sources]
    return ", ".join(names[:_NAMES_SHOWN]) + (" …" if len(names) > _NAMES_SHOWN else "")


def _data(found: Audit, sources: Sequence[str]) -> dict[str, Any]:
    ported = found.to_port()
    return {
        "sources": list(sources),
        "numbers": [
            ["files", len(found.files)],
            ["lines", sum(file.lines for file in found.files)],
            ["files to port", len(ported)],
            ["uses of TensorFlow", sum(found.verdicts().values())],
            ["places by hand", found.by_hand],
        ],
        "by_hand": found.by_hand,
        "hands": sum(bool(file.by_hand) for file in found.files),
        "reaches": found.reaches(),
        "verdicts": found.verdicts(),
        "constructs": [[kind, CONSTRUCTS[kind], places, files] for kind, (places, files) in found.constructs().items()],
        "files": [_file(file) for file in ported],
        "symbols": [
            [each.name, each.verdict, each.target or each.sentence or "", each.uses, each.files]
            for each in found.symbols
        ],
        "places": [
            [str(place.line), place.what, place.fix or ""]
            for file in found.files
            for place in file.places
            if place.by_hand
        ],
    }


def _file(file: FileAudit) -> list[Any]:
    uses = sum(file.uses.values())
    return [
        file.file,
        file.stands,
        file.reach_with_imports or "none",
        file.by_hand,
        file.lines,
        uses,
        file.waits_for or "",
    ]
