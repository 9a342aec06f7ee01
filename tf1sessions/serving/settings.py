"""ServerSettings and ModelSettings: what a server serves, and within which limits; from Python or a TOML file."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.files import read_whole

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Limits", "ModelSettings", "models_from", "name_of", "read_models"]

#: What a model may be called: it stands in addresses, metrics and messages.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True)
class Limits:
    """The bounds of one request, and of all that wait in a server.

    Attributes:
        body_bytes: Of a request, as it is sent and after decompression.
        decoded_bytes: Of all arrays of a request; and of all of its answer.
        rows: Of a request.
        waiting: Requests of one model that run or wait; more are refused.
        deadline_secs: From a request's arrival until its answer; and for a run.
        body_secs: How long a client may take to send a request.
    """

    body_bytes: int = 64 << 20
    decoded_bytes: int = 256 << 20
    rows: int = 65_536
    waiting: int = 1_000
    deadline_secs: float = 60.0
    body_secs: float = 30.0

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            whole = field.type == "int"
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 < value < 1e15:
                raise UsageError(
                    f"{field.name} is {value!r}",
                    where="Limits",
                    next_step=f"Give {'an integer' if whole else 'a number'} above 0.",
                )


@dataclass(frozen=True)
class ModelSettings:
    """A model to serve.

    Attributes:
        name: What clients call it.
        path: What :func:`~tf1sessions.load` takes, or a folder with a numbered folder for each version.
        tags, signature, inputs, outputs, checkpoint, initialize, allow_ops, fold_constants: As for ``load()``.
        versions: How many of the numbered versions are served at once, the highest numbers.
        batch: Whether rows of several requests may be computed together.
        max_batch_size, max_delay_ms: As for :class:`~tf1sessions.Batcher`.
        threads: Threads that run operations of this model's session; those of the process by default.
        lane: The number of the logical device that has the model; of a plan with ``lanes``.
    """

    name: str
    path: str
    tags: tuple[str, ...] | None = None
    signature: str | None = None
    inputs: tuple[str, ...] | Mapping[str, str] | None = None
    outputs: tuple[str, ...] | Mapping[str, str] | None = None
    checkpoint: str | None = None
    initialize: bool = False
    allow_ops: tuple[str, ...] = ()
    fold_constants: bool = False
    versions: int = 1
    batch: bool = True
    max_batch_size: int = 64
    max_delay_ms: float = 2.0
    threads: int | None = None
    lane: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise UsageError(
                f"a model is called {self.name!r}",
                where=f"the model at {self.path}",
                next_step="Give it a name of letters, digits, '_', '-' and '.': NAME=PATH.",
            )

    def load_options(self) -> dict[str, Any]:
        """Return the arguments of ``load()`` besides the path and the configuration."""
        names = "tags signature inputs outputs checkpoint initialize allow_ops fold_constants".split()
        return {name: getattr(self, name) for name in names}


def models_from(given: Any) -> tuple[ModelSettings, ...]:
    """The models that a caller names.

    Args:
        given: One path; name -> path, or name -> dict of the fields of :class:`ModelSettings`; or several
            ModelSettings, or paths, in a list.

    Raises:
        UsageError: A field that there is not, a name twice, or no model.
    """
    if isinstance(given, (str, os.PathLike, ModelSettings)):
        given = [given]
    if isinstance(given, Mapping):
        found = tuple(_one(name, value, f"models[{name!r}]") for name, value in given.items())
    else:
        found = tuple(
            each if isinstance(each, ModelSettings) else ModelSettings(name_of(each), os.fspath(each)) for each in given
        )
    _check_names(found)
    return found


def read_models(path: str | os.PathLike[str]) -> tuple[ModelSettings, ...]:
    """The models of a TOML file: a table ``[models.NAME]`` for each, with the fields of :class:`ModelSettings`.

    Relative paths are from the file's folder.

    Raises:
        UsageError: The file cannot be read, is no TOML, or has a wrong key or type.
    """
    where = os.fspath(path)
    try:
        table: dict[str, Any] = tomllib.loads(read_whole(path, 1 << 20).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # RecursionError: brackets that are nested without end
        raise UsageError(
            f"the configuration cannot be read: {error}", where=where, next_step="Give a TOML file with [models.NAME]."
        ) from error
    models = table.pop("models", None)
    if table or not isinstance(models, dict) or not models:
        wrong = f"has the unknown key {next(iter(table))!r}" if table else "has no table [models.NAME]"
        raise UsageError(f"the configuration {wrong}", where=where, next_step="Write a table [models.NAME] a model.")
    folder = os.path.dirname(os.path.abspath(where))
    found = []
    for name, value in models.items():
        one = _one(name, value, f"{where}: [models.{name}]")
        checkpoint = None if one.checkpoint is None else os.path.join(folder, one.checkpoint)
        found.append(dataclasses.replace(one, path=os.path.join(folder, one.path), checkpoint=checkpoint))
    return tuple(found)


def name_of(path: str | os.PathLike[str]) -> str:
    """The name of a model that has only a path: that of its file, without what a name may not have."""
    base = os.path.basename(os.path.abspath(os.fspath(path)))
    for ending in (".pbtxt", ".pb", ".meta"):
        base = base.removesuffix(ending)
    return re.sub(r"[^A-Za-z0-9_.-]", "_", base).lstrip(".-") or "model"


def _check_names(found: Iterable[ModelSettings]) -> None:
    seen: dict[str, str] = {}
    for one in found:
        if one.name in seen:
            raise UsageError(
                f"two models are called {one.name!r}: {seen[one.name]} and {one.path}",
                where="models",
                next_step="Name them: NAME=PATH.",
            )
        seen[one.name] = one.path


_KINDS: dict[str, Any] = {
    "path": str, "tags": list, "signature": str, "inputs": (list, dict), "outputs": (list, dict), "checkpoint": str,
    "initialize": bool, "allow_ops": list, "fold_constants": bool, "versions": int, "batch": bool,
    "max_batch_size": int, "max_delay_ms": (int, float), "threads": int, "lane": int,
}  # fmt: skip

#: Of numbers; the upper ends are arbitrary.
_RANGES = {
    "versions": (1, 1_000), "max_batch_size": (1, 1_000_000), "max_delay_ms": (0, 60_000), "threads": (1, 1_000),
    "lane": (0, 63),
}  # fmt: skip


def _one(name: str, value: Any, where: str) -> ModelSettings:
    """A model from a path or a dict of fields."""
    if isinstance(value, (str, os.PathLike)):
        return ModelSettings(name, os.fspath(value))
    if not isinstance(value, Mapping) or "path" not in value:
        raise UsageError(f"the model is {value!r}", where=where, next_step="Give its path, or fields with a path.")
    fields: dict[str, Any] = {}
    for key, field in value.items():
        given = os.fspath(field) if isinstance(field, os.PathLike) else field
        given = list(given) if isinstance(given, tuple) else given
        if key not in _KINDS:
            raise UsageError(f"unknown key {key!r}", where=where, next_step=f"There are {', '.join(_KINDS)}.")
        wrong_bool = isinstance(given, bool) and _KINDS[key] is not bool
        if given is not None and (wrong_bool or not isinstance(given, _KINDS[key])):
            raise UsageError(f"{key} is {given!r}", where=where, next_step="See the page about serving for its type.")
        fields[key] = tuple(given) if isinstance(given, list) else given
        if isinstance(given, (list, dict)) and not all(isinstance(each, str) for each in _leaves(given)):
            raise UsageError(f"{key} is {given!r}", where=where, next_step="Give strings in it.")
    for key, (least, most) in _RANGES.items():
        if fields.get(key) is not None and not least <= fields[key] <= most:
            raise UsageError(f"{key} is {fields[key]}", where=where, next_step=f"Give {least} to {most}.")
    return ModelSettings(name, **fields)


def _leaves(given: Any) -> list[Any]:
    return [*given, *given.values()] if isinstance(given, dict) else given
