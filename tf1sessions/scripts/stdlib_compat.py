"""Modules that programs of Python 3.5 to 3.7 use and the standard library, or setuptools, has dropped since.

Data flow: :func:`apply` goes through the tables below and adds what the running Python lacks. Modules that are gone
altogether are made when they are imported first, so that nothing is loaded for a program that does not ask.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import functools
import html
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import locale
import math
import operator
import os
import pickle
import platform
import random
import sys
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from ..source import old_names

__all__ = ["apply"]


class ArgSpec(NamedTuple):
    """The result of ``inspect.getargspec``."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def _getargspec(func: Callable[..., Any]) -> ArgSpec:
    full = inspect.getfullargspec(func)
    if full.kwonlyargs or (full.annotations and not full.args):
        raise ValueError("Function has keyword-only parameters or annotations, use inspect.signature()")
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def _linux_distribution(*_: Any, **__: Any) -> tuple[str, str, str]:
    release = platform.freedesktop_os_release()
    return release.get("NAME", ""), release.get("VERSION_ID", ""), release.get("VERSION_CODENAME", "")


def _locale_format(percent: str, value: Any, grouping: bool = False, monetary: bool = False, *additional: Any) -> str:
    return locale.format_string(percent, (value, *additional) if additional else value, grouping, monetary)


def _unescape(self: Any, s: str) -> str:
    return html.unescape(s)


def _renamed() -> list[tuple[Any, str, Any]]:
    found = []
    for old, (new, _) in old_names.STANDARD_LIBRARY.items():
        (module, _, name), (new_module, _, new_name) = old.rpartition("."), new.rpartition(".")
        if module not in _GONE:
            value = getattr(importlib.import_module(new_module), new_name)
            found.append((importlib.import_module(module), name, value))
    return found


def _additions() -> list[tuple[Any, str, Any]]:
    """(owner, name, value) of each attribute that may have to be added."""
    import configparser
    from html import parser
    from unittest import TestCase

    return [
        *((TestCase, name, getattr(TestCase, value)) for name, value in old_names.TEST_METHODS.items()),
        *_renamed(),
        (inspect, "getargspec", _getargspec),
        (inspect, "ArgSpec", ArgSpec),
        (threading.Thread, "isAlive", threading.Thread.is_alive),
        (platform, "linux_distribution", _linux_distribution),
        (platform, "dist", _linux_distribution),
        (parser.HTMLParser, "unescape", _unescape),
        (locale, "format", _locale_format),  # 3.12
        (configparser.RawConfigParser, "readfp", configparser.RawConfigParser.read_file),  # 3.12
    ]


def apply() -> None:
    """Add what the running Python lacks, for the whole process. Idempotent."""
    for owner, name, value in _additions():
        if not hasattr(owner, name):
            setattr(owner, name, value)
    for owner, name, wrap in (
        (builtins, "open", _open),
        (json, "loads", _without_encoding),
        (json, "load", _without_encoding),
        (random, "sample", _sample),
        (random, "shuffle", _shuffle),
        (random, "randint", _whole_numbers),
        (random, "randrange", _whole_numbers),
    ):
        original = getattr(owner, name)
        if not hasattr(original, "takes_old_arguments"):
            wrapper = wrap(original)
            wrapper.takes_old_arguments = True
            setattr(owner, name, wrapper)
    if not hasattr(pickle.load, "takes_old_arguments"):
        load: Any = _load_of_python_2(pickle.load)
        load.takes_old_arguments = True
        original_module: Any = importlib.import_module("_pickle")
        pickle.load = original_module.load = load  # one function, where its name leads
    if not any(isinstance(finder, _GoneModules) for finder in sys.meta_path):
        sys.meta_path.append(_GoneModules())  # last: what is installed goes first


def _open(original: Callable[..., Any]) -> Any:
    """``open(path, "rU")``: universal newlines have been the default since Python 3.0, the letter is an error now."""

    @functools.wraps(original)
    def open_(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
        if isinstance(mode, str) and "U" in mode:
            mode = mode.replace("U", "") or "r"
            mode = mode if "r" in mode else "r" + mode
        return original(file, mode, *args, **kwargs)

    return open_


def _load_of_python_2(original: Callable[..., Any]) -> Any:
    """``pickle.load`` of a file of Python 2, whose texts are bytes: those of arrays are not ASCII."""

    @functools.wraps(original)
    def load(file: Any, *args: Any, **kwargs: Any) -> Any:
        if args or "encoding" in kwargs:
            return original(file, *args, **kwargs)
        try:
            position = file.tell()
        except (AttributeError, OSError, ValueError):  # a pipe, or no file
            return original(file, **kwargs)
        try:
            return original(file, **kwargs)
        except UnicodeDecodeError:
            from .callers import by_program

            if not by_program():
                raise
        file.seek(position)
        return original(file, **kwargs, encoding="latin1")  # what NumPy's documentation names for its arrays

    return load


def _without_encoding(original: Callable[..., Any]) -> Any:
    """``json.loads(text, encoding=...)`` was ignored up to Python 3.8."""

    @functools.wraps(original)
    def load(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("encoding", None)
        return original(*args, **kwargs)

    return load


def _sample(original: Callable[..., Any]) -> Any:
    """``random.sample`` of a set, up to Python 3.10."""

    @functools.wraps(original)
    def sample(population: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(population, collections.abc.Set):
            population = tuple(population)
        return original(population, *args, **kwargs)

    return sample


def _shuffle(original: Callable[..., Any]) -> Any:
    """``random.shuffle(x, random)``, up to Python 3.10: the second argument gives numbers in [0, 1)."""

    @functools.wraps(original)
    def shuffle(x: Any, random: Callable[[], float] | None = None) -> None:
        if random is None:
            original(x)
            return
        for i in reversed(range(1, len(x))):
            j = math.floor(random() * (i + 1))
            x[i], x[j] = x[j], x[i]

    return shuffle


def _whole_numbers(original: Callable[..., Any]) -> Any:
    """``random.randint(0, 10 / 2)``: floats without a fraction, up to Python 3.11."""

    @functools.wraps(original)
    def number(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except TypeError:
            return original(*(int(a) if isinstance(a, float) and a.is_integer() else a for a in args), **kwargs)

    return number


def _imp() -> dict[str, Any]:
    def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
        loader = importlib.machinery.SourceFileLoader(name, pathname)
        spec = importlib.util.spec_from_file_location(name, pathname, loader=loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        loader.exec_module(module)
        return module

    return {"load_source": load_source, "reload": importlib.reload, "new_module": ModuleType}


class _LooseVersion:
    """A version that compares part by part: numbers as numbers, the rest as text."""

    def __init__(self, vstring: str = "") -> None:
        self.parse(vstring)

    def parse(self, vstring: str) -> None:
        import re

        self.vstring = vstring
        parts = (part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part and part != ".")
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"LooseVersion ('{self}')"

    def _compare(self, other: Any, relation: Callable[[Any, Any], bool]) -> bool:
        return relation(self.version, (other if isinstance(other, _LooseVersion) else _LooseVersion(other)).version)

    def __eq__(self, other: object) -> bool:
        return self._compare(other, operator.eq)

    def __lt__(self, other: Any) -> bool:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> bool:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> bool:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> bool:
        return self._compare(other, operator.ge)

    __hash__ = None  # type: ignore[assignment]


def _distutils_version() -> dict[str, Any]:
    return {"LooseVersion": _LooseVersion, "StrictVersion": _LooseVersion, "Version": _LooseVersion}


def _distutils_util() -> dict[str, Any]:
    def strtobool(val: str) -> int:
        value = val.lower()
        if value in ("y", "yes", "t", "true", "on", "1"):
            return 1
        if value in ("n", "no", "f", "false", "off", "0"):
            return 0
        raise ValueError(f"invalid truth value {val!r}")

    return {"strtobool": strtobool}


def _pipes() -> dict[str, Any]:
    import shlex

    return {"quote": shlex.quote}


def _celementtree() -> dict[str, Any]:
    return _public("xml.etree.ElementTree")


def _public(name: str) -> dict[str, Any]:
    return {key: value for key, value in vars(importlib.import_module(name)).items() if not key.startswith("__")}


def _pkg_resources() -> dict[str, Any]:
    import importlib.metadata as metadata

    from packaging.version import parse  # TensorFlow requires it

    def resource_filename(package_or_requirement: str, resource_name: str) -> str:
        spec = importlib.util.find_spec(package_or_requirement)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"No module named {package_or_requirement!r}", name=package_or_requirement)
        return os.path.join(os.path.dirname(spec.origin), *resource_name.split("/"))

    def resource_stream(package_or_requirement: str, resource_name: str) -> Any:
        return open(resource_filename(package_or_requirement, resource_name), "rb")

    def resource_string(package_or_requirement: str, resource_name: str) -> bytes:
        with resource_stream(package_or_requirement, resource_name) as file:
            data: bytes = file.read()
            return data

    def resource_exists(package_or_requirement: str, resource_name: str) -> bool:
        return os.path.exists(resource_filename(package_or_requirement, resource_name))

    return {
        "DistributionNotFound": metadata.PackageNotFoundError,
        "get_distribution": metadata.distribution,
        "parse_version": parse,
        "resource_exists": resource_exists,
        "resource_filename": resource_filename,
        "resource_stream": resource_stream,
        "resource_string": resource_string,
    }


def _past_builtins() -> dict[str, Any]:
    names = {"basestring": str, "long": int, "raw_input": input, "reduce": functools.reduce, "unichr": chr}
    return {**names, "reload": importlib.reload, "unicode": str, "xrange": range}


_GONE: dict[str, Callable[[], dict[str, Any]]] = {
    "imp": _imp,
    "distutils": lambda: {"__path__": []},
    "distutils.version": _distutils_version,
    "distutils.util": _distutils_util,
    "pipes": _pipes,
    "pkg_resources": _pkg_resources,  # setuptools 82
    "xml.etree.cElementTree": _celementtree,  # 3.9
    # The package "future", which programs for both Pythons ask for what Python 3 has by itself.
    "future": lambda: {"__path__": []},
    "future.moves": lambda: {"__path__": []},
    "future.moves.urllib": lambda: {**_public("urllib"), "__path__": []},
    **{
        f"future.moves.urllib.{name}": functools.partial(_public, f"urllib.{name}")
        for name in ("error", "parse", "request")
    },
    "future.standard_library": lambda: {"install_aliases": lambda: None},
    "past": lambda: {"__path__": []},
    "past.builtins": _past_builtins,
}


class _GoneModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the parts of removed modules that old programs use."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(fullname, self) if fullname in _GONE else None

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(_GONE[module.__name__]())
