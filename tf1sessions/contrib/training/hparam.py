"""HParams: named values with a type each, that a command line or JSON can override.

Data flow: the constructor and :meth:`HParams.add_hparam` note the type of each value; :func:`parse_values` turns
``"name=value,..."`` into values of those types; :meth:`HParams.set_hparam` lets in only what fits the type.
"""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["HParams", "parse_values"]

# One assignment and what separates it from the next: name, [index], =, a [list] or a plain value.
_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"(?:\[(?P<items>[^\]]*)\]|(?P<value>[^,\[]*))(?:,\s*|$)"
)


def _bool(text: str) -> bool:
    if text in ("true", "True"):
        return True
    return False if text in ("false", "False") else bool(int(text))


def parse_values(values: str, type_map: Mapping[str, type], ignore_unknown: bool = False) -> dict[str, Any]:
    """The values that a text such as ``"rate=0.1,layers=[3,4],names[1]=x"`` gives to hyperparameters.

    Args:
        values: ``name=value`` pairs with commas between them. A value in square brackets is a list; ``name[1]=value``
            gives one element.
        type_map: The type of each name, or of the elements of its list.
        ignore_unknown: Leave out names that ``type_map`` lacks.

    Returns:
        For each name a value, a list of values, or ``{index: value}``.

    Raises:
        ValueError: The text is malformed, a value does not fit its type, or a name is unknown or assigned twice.

    Example:
        >>> parse_values("rate=1,layers=[3,4],names[1]=x", {"rate": float, "layers": int, "names": str})
        {'rate': 1.0, 'layers': [3, 4], 'names': {1: 'x'}}
    """
    found: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name, index, items = match["name"], match["index"], match["items"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind = type_map[name]
        convert: Callable[[str], Any] = _bool if kind is bool else kind

        def parse(text: str, convert: Callable[[str], Any] = convert, name: str = name, kind: type = kind) -> Any:
            try:
                return convert(text)
            except ValueError as error:
                raise ValueError(
                    f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in {values}"
                ) from error

        if items is not None:
            if index is not None:
                raise ValueError("Assignment of a list to a list index.")
            value = [parse(item) for item in re.split(r"[,\s]", items) if item]
        else:
            value = parse(match["value"])
        if index is not None:
            elements = found.setdefault(name, {})
            if not isinstance(elements, dict):
                raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
            if int(index) in elements:
                raise ValueError(f"Multiple assignments to variable '{name}[{int(index)}]' in {values}")
            elements[int(index)] = value
        elif name in found:
            raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
        else:
            found[name] = value
    return found


def _cast(name: str, kind: type, value: Any) -> Any:
    """``value`` as the type ``kind`` of the hyperparameter ``name``, where that loses nothing.

    Raises:
        ValueError: It would lose something, or make a number of a text or truth value, or one of these of a number.
    """
    if kind is type(None):
        return value
    text = (str, bytes)
    fits = (
        issubclass(kind, text) == isinstance(value, text)
        and issubclass(kind, bool) == isinstance(value, bool)
        and (not issubclass(kind, numbers.Integral) or isinstance(value, numbers.Integral))
        and (not issubclass(kind, numbers.Number) or isinstance(value, numbers.Number))
    )
    if not fits:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)


class HParams:
    """Hyperparameters: attributes, each of which keeps the type of its first value.

    Attention: this is **not** thread-safe while values change.

    Args:
        hparam_def: Must be None: the ``HParamDef`` proto is gone. Use :meth:`to_json` and :meth:`parse_json`.
        model_structure: An object that goes with them; see :meth:`get_model_structure`.
        **kwargs: The names and values: an int, float, bool, str, None, or a list with elements of one of these.

    Example:
        >>> hparams = HParams(rate=0.1, layers=[8, 8], mode="train")
        >>> hparams.parse("rate=1,layers=[3,4]").values()
        {'rate': 1.0, 'layers': [3, 4], 'mode': 'train'}
    """

    _HAS_DYNAMIC_ATTRIBUTES = True  # informs type checkers of TF1's time

    def __init__(self, hparam_def: None = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            raise TypeError("HParams: hparam_def must be None: HParamDef protos are not supported; use parse_json")
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def __getattr__(self, name: str) -> Any:  # only for what is missing; here so that type checkers allow attributes
        raise AttributeError(f"'HParams' object has no attribute '{name}'")

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a hyperparameter.

        Raises:
            ValueError: The name is one of a hyperparameter or method already, or the value an empty list.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        many = isinstance(value, (list, tuple))
        if many and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0] if many else value), many)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Gives an existing hyperparameter another value of its type.

        Raises:
            KeyError: There is none of that name.
            ValueError: The value has another type.
        """
        kind, many = self._hparam_types[name]
        if isinstance(value, list):
            if not many:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, item) for item in value])
        else:
            if many:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a hyperparameter; does nothing if there is none of that name."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Overrides values by those in a text such as ``"rate=0.1,layers=[3,4]"``; see :func:`parse_values`.

        Returns:
            ``self``.

        Raises:
            ValueError: The text is malformed, or has an unknown name or a value of another type.
        """
        type_map = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, type_map))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Overrides values.

        Returns:
            ``self``.

        Raises:
            KeyError: A name is unknown.
            ValueError: A value has another type.
        """
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
        """The old name of :meth:`override_from_dict`."""
        return self.override_from_dict(values_map)

    def parse_json(self, values_json: str) -> HParams:
        """Overrides values by those of a JSON object; errors as in :meth:`override_from_dict`."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self, indent: int | None = None, separators: tuple[str, str] | None = None, sort_keys: bool = False
    ) -> str:
        """The values as a JSON object.

        Args:
            indent: Spaces for each level; None for one line.
            separators: ``(between items, between key and value)``; None for the usual ones.
            sort_keys: Whether the names are sorted.
        """
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """The names and values."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """The value of ``key``, or ``default`` if there is none.

        Raises:
            ValueError: There is a value and ``default`` has another type.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, many = self._hparam_types[key]
            shown = f"list<{kind}>" if many else str(kind)
            problem = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
            if many != isinstance(default, list):
                raise ValueError(problem)
            try:
                for value in default if many else [default]:
                    _cast(key, kind, value)
            except ValueError as error:
                raise ValueError(f"{problem}. {error}") from error
        return getattr(self, key)

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def get_model_structure(self) -> Any:
        """Return what the constructor or :meth:`set_model_structure` was given."""
        return self._model_structure

    def set_model_structure(self, model_structure: Any) -> None:
        """Keeps an object that goes with the hyperparameters; it is not one of their values."""
        self._model_structure = model_structure

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"HParams({sorted(self.values().items())!r})"
