"""Tolerances as records: for which operation, tensor, dtype and device, how far apart two sides may be, and why.

The first record that fits a tensor counts: the caller's own, in their order, then :data:`DEFAULTS`. Integers, booleans
and strings are compared exactly, whatever a record says.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tf1sessions import files
from tf1sessions.errors import UsageError
from tf1sessions.scripts.toml_lines import TomlLines

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["BY_DTYPE", "DEFAULTS", "Tolerance", "Tolerances", "read", "records_of"]


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """The tolerance for the two values of an element: ``absolute + relative * abs(left)``, or ``ulps``.

    Attributes:
        op: Which operations, as patterns with spaces between them: ``"MatMul *Conv*"``. ``"output"`` is what a side
            gives as a whole.
        tensor: Which tensors, as patterns of their names on the left side.
        dtype, device: Of which dtype (``"float32"``), on which kind of device (``"CPU"``, ``"GPU"``), as patterns.
        absolute, relative: The error that is allowed.
        ulps: Or so many units in the last place.
        other_dtype: Whether the sides may have different dtypes.
        reason: Why.
        source: Where the record is from.
    """

    op: str = "*"
    tensor: str = "*"
    dtype: str = "*"
    device: str = "*"
    absolute: float = 0.0
    relative: float = 0.0
    ulps: int = 0
    other_dtype: bool = False
    reason: str = ""
    source: str = "default"

    def __post_init__(self) -> None:
        for field in ("absolute", "relative", "ulps"):
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
                raise UsageError(
                    f"{field} of a tolerance is {value!r}", where=self.source, next_step="Give a number of 0 or more."
                )

    def fits(self, op: str, tensor: str, dtype: str, device: str) -> bool:
        """Whether it is about this tensor."""
        return all(
            any(fnmatch.fnmatchcase(value, pattern) for pattern in patterns.split())
            for value, patterns in ((op, self.op), (tensor, self.tensor), (dtype, self.dtype), (device, self.device))
        )

    @property
    def about(self) -> str:
        """The subject, in words."""
        parts = []
        for field in ("op", "tensor", "dtype", "device"):
            patterns = getattr(self, field).split()
            if patterns != ["*"]:
                more = f" and {len(patterns) - 3} more" if len(patterns) > 3 else ""
                parts.append(f"{field} {' '.join(patterns[:3])}{more}")
        return ", ".join(parts) or "all others"

    @property
    def looseness(self) -> tuple[float, int]:
        """The key by which records are ordered."""
        return self.absolute + self.relative, self.ulps

    def __str__(self) -> str:
        parts = []
        if self.absolute:
            parts.append(f"{self.absolute:g}")
        if self.relative:
            parts.append(f"{self.relative:g} of the value")
        text = " + ".join(parts)
        if self.ulps:
            text += (" or " if text else "") + f"{self.ulps} ulp"
        return (text or "equal") + (", dtypes may differ" if self.other_dtype else "")


# Operations that hand values on, or that round once and alike on every machine: what goes in equal comes out equal.
_EXACT = """
    Const Identity IdentityN ReadVariableOp Variable VariableV2 VarHandleOp Placeholder PlaceholderWithDefault
    Reshape Squeeze ExpandDims Transpose ConcatV2 Concat Pack Unpack Split SplitV Slice StridedSlice Gather GatherV2
    GatherNd ResourceGather Pad PadV2 MirrorPad Tile Fill Shape Size Rank Range Cast StopGradient Snapshot Select
    SelectV2 Where OneHot ReverseV2 ReverseSequence SpaceToBatchND BatchToSpaceND SpaceToDepth DepthToSpace
    BroadcastTo ZerosLike OnesLike
    Add AddV2 Sub Mul RealDiv Div Neg Abs Sign Maximum Minimum Relu Relu6 BiasAdd Square Floor Ceil Round Rint
    MaxPool MaxPoolV2 Max Min ArgMax ArgMin TopK TopKV2
"""

# Functions that are approximated, by other polynomials in each version. Measured on 2.21 against 1.15.5, CPU, values of
# a normal distribution: at most 5 ulp and 3e-7, but where values are near 0 (Sigmoid 5e-6 of the value, Elu 1.4e-4).
_FUNCTIONS = """
    Acos Acosh Asin Asinh Atan Atan2 Atanh Cos Cosh Digamma Elu Erf Erfc Exp Expm1 Inv LRN Lgamma Log Log1p LogSoftmax
    Pow Reciprocal Rsqrt Selu Sigmoid Sin Sinh Softmax SoftmaxCrossEntropyWithLogits Softplus Softsign
    SparseSoftmaxCrossEntropyWithLogits Sqrt Tan Tanh
"""
_PRODUCTS = "MatMul BatchMatMul* Conv* DepthwiseConv* Einsum _Fused* output"

_EQUAL = "it moves values, or rounds each once: what goes in equal comes out equal"
_SUMS = "sums are added up in another order by other kernels and other numbers of threads"

#: By dtype, for operations that round more than once.
BY_DTYPE = (
    Tolerance(dtype="float64", absolute=1e-12, relative=1e-10, reason="double precision"),
    Tolerance(dtype="float32", absolute=1e-5, relative=1e-5, reason=_SUMS),
    Tolerance(dtype="float16", absolute=1e-3, relative=4e-3, reason="half precision has 11 bits"),
    Tolerance(dtype="bfloat16", absolute=1e-2, relative=3e-2, reason="bfloat16 has 8 bits"),
    Tolerance(dtype="float8*", absolute=0.1, relative=0.25, reason="3 or 4 bits"),
    Tolerance(dtype="complex64", absolute=1e-5, relative=1e-5, reason=_SUMS),
    Tolerance(dtype="complex128", absolute=1e-12, relative=1e-10, reason="double precision"),
)

DEFAULTS: tuple[Tolerance, ...] = (
    Tolerance(op=" ".join(_EXACT.split()), reason=_EQUAL),
    Tolerance(
        op=" ".join(_FUNCTIONS.split()),
        dtype="float32",
        device="CPU",
        absolute=1e-6,
        relative=1e-6,
        reason="another approximation; measured against 1.15.5: up to 5 ulp and 3e-7",
    ),
    Tolerance(
        op="*FFT*",
        dtype="complex64",
        absolute=2e-3,
        relative=1e-5,
        reason="another library; measured against 1.15.5: 1.8e-3 where the largest value is 120",
    ),
    Tolerance(
        op=_PRODUCTS,
        dtype="float32",
        device="GPU",
        absolute=1e-3,
        relative=1e-3,
        reason="TF32 has 11 bits, and TensorFlow 2 computes products in it; by its format, not measured",
    ),
    *BY_DTYPE,
    Tolerance(reason="integers, booleans and strings are equal or they are not"),
)

_KEYS = {field.name: field.type for field in dataclasses.fields(Tolerance) if field.name != "source"}


class Tolerances:
    """The caller's records and the defaults behind them.

    Args:
        records: The caller's.
        device: The kind of device that computes: ``"CPU"`` or ``"GPU"``.
    """

    def __init__(self, records: Sequence[Tolerance] = (), device: str = "CPU") -> None:
        self.device = device
        self._records = (*records, *DEFAULTS)
        self._found: dict[tuple[str, str, str], Tolerance] = {}
        self._by_tensor = any(each.tensor != "*" for each in records)

    def of(self, op: str, tensor: str, dtype: str) -> Tolerance:
        """The record for a tensor."""
        key = (op, tensor if self._by_tensor else "", dtype)
        if key not in self._found:
            self._found[key] = next(each for each in self._records if each.fits(op, tensor, dtype, self.device))
        return self._found[key]


def read(path: str | os.PathLike[str]) -> list[Tolerance]:
    """Reads records from a TOML file with ``[[tolerance]]`` tables, or from JSON: a list, or one named so.

    Raises:
        UsageError: The file cannot be read, or a record has an unknown key or a wrong value.

    Example, as TOML::

        [[tolerance]]
        op = "MatMul"
        dtype = "float32"
        relative = 1e-4
        reason = "TF32 on the new GPU"
    """
    where = os.fspath(path)
    try:
        text = files.read_whole(path).decode("utf-8")
        if not where.endswith(".json"):
            TomlLines(text)  # refuses what would take for ever
        found = json.loads(text) if where.endswith(".json") else tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:  # both decoders' errors, and those of UTF-8, are ValueErrors
        what = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"the tolerances {where!r} cannot be read: {what}") from error
    if isinstance(found, Mapping):
        if others := sorted(found.keys() - {"tolerance"}):
            raise UsageError(f"unknown key {others[0]!r}", where=where, next_step="Records are [[tolerance]] tables.")
        found = found.get("tolerance", [])
    if not isinstance(found, list):
        raise UsageError("there is no list of records", where=where, next_step="Write [[tolerance]] tables.")
    return [_record(each, f"{where}, record {number}") for number, each in enumerate(found, 1)]


def records_of(given: Any) -> list[Tolerance]:
    """The caller's records, whatever they were given as: a path, records, or mappings.

    Raises:
        UsageError: A record is none.
    """
    if given is None:
        return []
    if isinstance(given, str | os.PathLike):
        return read(given)
    if isinstance(given, Tolerance | Mapping) or not isinstance(given, Iterable):
        raise UsageError(f"tolerances is {given!r}", where="tolerances=", next_step="Give a list of Tolerance.")
    records = []
    for number, each in enumerate(given, 1):
        if isinstance(each, Tolerance):
            records.append(each if each.source != "default" else dataclasses.replace(each, source=f"given {number}"))
        else:
            records.append(_record(each, f"tolerances=, record {number}"))
    return records


def _record(fields: Any, where: str) -> Tolerance:
    if not isinstance(fields, Mapping):
        raise UsageError(f"{fields!r} is no record", where=where)
    if unknown := sorted(set(fields) - _KEYS.keys()):
        raise UsageError(f"unknown key {unknown[0]!r}", where=where, next_step=f"Known: {', '.join(_KEYS)}.")
    for key, value in fields.items():
        if _KEYS[key] == "str" and not isinstance(value, str):
            raise UsageError(f"{key} is {value!r}, which is no text", where=where)
    return Tolerance(**fields, source=where)
