"""nltk: its data of the old names, which hold pickled objects, and which 3.8.2 does not load any more."""

from __future__ import annotations

import importlib
from typing import Any

from .rows import Table, Wrapped

__all__ = ["TABLES"]

# The package of old -> the package that nltk reads now.
_NEW = {
    "averaged_perceptron_tagger": "averaged_perceptron_tagger_eng",
    "maxent_ne_chunker": "maxent_ne_chunker_tab",
    "punkt": "punkt_tab",
}


def _download(original: Any, info_or_id: Any = None, *args: Any, **named: Any) -> Any:
    """Downloads what is read now beside what was asked for."""
    done = original(info_or_id, *args, **named)
    asked = info_or_id if isinstance(info_or_id, (list, tuple)) else [info_or_id]
    for one in asked:
        if isinstance(one, str) and one in _NEW:
            done = original(_NEW[one], *args, **named) and done
    return done


def _find(original: Any, resource_name: Any, *args: Any, **named: Any) -> Any:
    """A program that looks for ``tokenizers/punkt`` is content with what replaces it."""
    try:
        return original(resource_name, *args, **named)
    except LookupError:
        parts = str(resource_name).rstrip("/").split("/")
        if len(parts) != 2 or parts[1] not in _NEW:
            raise
        return original(f"{parts[0]}/{_NEW[parts[1]]}", *args, **named)


def _load(original: Any, resource_url: Any, *args: Any, **named: Any) -> Any:
    """``nltk.data.load("tokenizers/punkt/english.pickle")`` is the tokenizer of that language."""
    parts = str(resource_url).removeprefix("nltk:").split("/")
    if parts[:2] == ["tokenizers", "punkt"] and parts[-1].endswith(".pickle"):
        punkt: Any = importlib.import_module("nltk.tokenize.punkt")
        if hasattr(punkt, "PunktTokenizer"):
            return punkt.PunktTokenizer(parts[-1].removesuffix(".pickle"))
    return original(resource_url, *args, **named)


TABLES = {
    "nltk": Table(
        changes=[
            Wrapped("nltk.downloader", "download", "3.8.2", _download),
            Wrapped("nltk.data", "find", "3.8.2", _find),
            Wrapped("nltk.data", "load", "3.8.2", _load),
        ]
    )
}
