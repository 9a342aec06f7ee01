"""Changes that sources of TensorFlow 1 operations need on today's headers: a table of rules.

A rule finds a pattern in the code, comments and strings left out, and says what stands there instead. Headers have a
table of their own (headers.py).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from tf1sessions.source.edits import Edit

from .code import CppSource

__all__ = ["RULES", "CustomOpRule"]


Replacement = Callable[[CppSource, "re.Match[str]"], "list[Edit]"]


@dataclasses.dataclass(frozen=True)
class CustomOpRule:
    """A rule.

    Attributes:
        name: What is changed, as a line of a report has it.
        since: The release of TensorFlow whose headers need it: "1" where those of 1.15 do already, "2" where later ones
            do.
        pattern: What it looks for, in ``Code.bare``.
        replace: A template with the groups' text in it, as ``re.Match.expand`` takes it, or a function.
        header: A header that the new text needs, or "".
    """

    name: str
    since: str
    pattern: re.Pattern[str]
    replace: str | Replacement
    header: str = ""

    def edits(self, code: CppSource) -> list[Edit]:
        """Return what the rule changes in ``code``, in order; edits do not overlap."""
        found: list[Edit] = []
        for match in self.pattern.finditer(code.bare):
            new = self.replace(code, match) if callable(self.replace) else _filled(self.replace, code, match)
            found += [edit for edit in new if not found or edit.start >= found[-1].end]
        return found


def _filled(template: str, code: CppSource, match: re.Match[str]) -> list[Edit]:
    def text(group: re.Match[str]) -> str:
        start, end = match.span(int(group[1]))
        return code.text[start:end] if start >= 0 else ""

    return [Edit(match.start(), match.end(), re.sub(r"\\(\d)", text, template))]


_NAMESPACE = r"(?:(?:::\s*)?\btensorflow\s*::\s*)?"
_UNQUALIFIED = r"(?<![\w:.>])"  # not a name of another namespace or class
_CODES = (
    "OK|CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|UNAUTHENTICATED"
    "|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS"
)


def _status_code(code: CppSource, match: re.Match[str]) -> list[Edit]:
    camel = "Ok" if match["code"] == "OK" else match["code"].title().replace("_", "")
    return [Edit(match.start("all"), match.end("all"), f"absl::StatusCode::k{camel}")]


def _message(code: CppSource, match: re.Match[str]) -> list[Edit]:
    """``s.error_message()``, a std::string, as ``std::string(s.message())``, which is a view; one of gRPC has none."""
    if re.search(r"\bgrpc\s*::", code.bare):
        return []
    start = code.receiver(match.start())
    if start == match.start():
        return []
    receiver = code.text[start : match.start()]
    return [Edit(start, match.end(), f"std::string({receiver}{code.text[slice(*match.span('dot'))]}message())")]


def _view_as_string(code: CppSource, match: re.Match[str]) -> list[Edit]:
    """``piece.ToString()`` where ``piece`` is a StringPiece of this file; other classes have a ToString() of theirs."""
    if not re.search(rf"\bStringPiece\s*&?\s+&?{match['name']}\s*[,;=()\[{{]", code.bare):
        return []
    return [Edit(match.start(), match.end(), f"std::string({match['name']})")]


def _persistent(code: CppSource, match: re.Match[str]) -> list[Edit]:
    """``allocate_persistent(type, shape, &kept, &tensor)`` as ``allocate_temp(type, shape, tensor = &kept)``."""
    given = code.arguments(match.end() - 1)
    closing = code.closing(match.end() - 1)
    if given is None or closing is None or not 4 <= len(given) <= 5:
        return []
    kept, tensor = given[2], given[3]
    if tensor in ("nullptr", "NULL", "0"):
        target = kept
    else:
        target = f"{tensor[1:].strip() if tensor.startswith('&') else f'*({tensor})'} = {kept}"
    new = f"allocate_temp({', '.join([given[0], given[1], target, *given[4:]])})"
    return [Edit(match.start(), closing + 1, new)]


def _typed(code: CppSource, match: re.Match[str]) -> list[Edit]:
    """``allocator->Allocate<T>(n)`` as a call of TypedAllocator."""
    start = code.receiver(match.start())
    closing = code.closing(match.end() - 1)
    given = code.arguments(match.end() - 1)
    if start == match.start() or closing is None or not given:
        return []
    receiver = code.text[start : match.start()]
    if match["dot"] == ".":
        receiver = f"&{receiver}"
    if match["name"] == "Allocate" and len(given) == 1:
        given.append("::tensorflow::AllocationAttributes()")
    kind = code.text[slice(*match.span("type"))]
    new = f"::tensorflow::TypedAllocator::{match['name']}<{kind}>({', '.join([receiver, *given])})"
    return [Edit(start, closing + 1, new)]


def _short_debug(code: CppSource, match: re.Match[str]) -> list[Edit]:
    closing = code.closing(match.end() - 1)
    given = code.arguments(match.end() - 1)
    if closing is None or given is None or len(given) != 1:
        return []
    return [Edit(match.start(), closing + 1, f"({given[0]}).ShortDebugString()")]


def _rule(name: str, since: str, pattern: str, replace: str | Replacement, header: str = "") -> CustomOpRule:
    return CustomOpRule(name, since, re.compile(pattern), replace, header)


#: In the order in which they are applied, each to what the one before it left.
RULES: tuple[CustomOpRule, ...] = (
    _rule("Status::OK() → absl::OkStatus()", "2", rf"{_UNQUALIFIED}{_NAMESPACE}\bStatus\s*::\s*OK\s*\(\s*\)",
          "absl::OkStatus()"),
    _rule("Status(error::CODE, …) → Status(absl::StatusCode::kCode, …)", "2",
          rf"{_UNQUALIFIED}{_NAMESPACE}\bStatus\b(?:\s+\w+)?\s*[({{]\s*"
          rf"(?P<all>{_NAMESPACE}\berror\s*::\s*(?:Code\s*::\s*)?(?P<code>{_CODES})\b)", _status_code),
    _rule("case error::CODE → case absl::StatusCode::kCode", "2",
          rf"\bcase\s+(?P<all>{_NAMESPACE}\berror\s*::\s*(?:Code\s*::\s*)?(?P<code>{_CODES})\b)", _status_code),
    _rule("error::Code x = s.code() → auto x = s.code()", "2",
          rf"(?<![\w:]){_NAMESPACE}\berror\s*::\s*Code(\s+\w+\s*=\s*[\w.>\-]+(?:\.|->)code\s*\(\s*\))", r"auto\1"),
    _rule("s.error_message() → std::string(s.message())", "2",
          r"(?P<dot>\.|->)\s*error_message\s*\(\s*\)", _message),
    _rule("strings in tensors: string → tstring", "2",
          r"\b(flat|vec|matrix|scalar|tensor|shaped|unaligned_flat|flat_inner_dims|flat_outer_dims|TTypes|TypeConstraint"
          r"|DataTypeToEnum|AsScalar)(\s*<\s*)(?:(?:::)?(?:std|tensorflow)\s*::\s*)?string(\s*[,>])",
          r"\1\2::tensorflow::tstring\3"),
    _rule("ReadLocked(string*, …) → ReadLocked(tstring*, …)", "2",
          r"\b(ReadLocked\s*\(\s*)(?:std\s*::\s*)?string(\s*\*\s*\w*\s*,\s*)(?:std\s*::\s*)?string(\s*\*)",
          r"\1::tensorflow::tstring\2::tensorflow::tstring\3"),
    _rule("StringPiece::ToString() → std::string(…)", "1",
          r"(?<![\w.>:])(?P<name>[A-Za-z_]\w*)\s*\.\s*ToString\s*\(\s*\)",
          _view_as_string),
    _rule("long long → tensorflow::int64, which is another type now", "2",
          r"(?<!unsigned )(?<!unsigned)\b(?:signed\s+)?long\s+long(?:\s+int)?\b(?!\s*(?:unsigned|double))",
          "::tensorflow::int64", "tensorflow/core/platform/types.h"),
    _rule("DebugString() override → DebugString() const override", "1", r"(\bDebugString\s*\(\s*\)\s*)(override\b)",
          r"\1const \2"),
    _rule("PersistentTensor → Tensor", "2", r"\bPersistentTensor\b", "Tensor"),
    _rule("allocate_persistent(…) → allocate_temp(…)", "2", r"\ballocate_persistent\s*\(", _persistent),
    _rule("kept.AccessTensor(context) → &kept", "2",
          r"(?<![\w.>:])([A-Za-z_]\w*)\s*\.\s*AccessTensor\s*\(\s*\w+\s*\)",
          r"(&\1)"),
    _rule("allocator->Allocate<T>(n) → TypedAllocator::Allocate<T>(allocator, n)", "2",
          r"(?P<dot>\.|->)\s*(?P<name>Allocate|Deallocate)\s*<(?P<type>[^<>();]+)>\s*\(", _typed,
          "tensorflow/core/framework/typed_allocator.h"),
    _rule("GUARDED_BY(…) → TF_GUARDED_BY(…), and its like", "2",
          r"\b(PT_GUARDED_BY|GUARDED_BY|ACQUIRED_BEFORE|ACQUIRED_AFTER|EXCLUSIVE_LOCKS_REQUIRED|SHARED_LOCKS_REQUIRED"
          r"|LOCKS_EXCLUDED|LOCK_RETURNED|SCOPED_LOCKABLE|EXCLUSIVE_LOCK_FUNCTION|SHARED_LOCK_FUNCTION|UNLOCK_FUNCTION"
          r"|EXCLUSIVE_TRYLOCK_FUNCTION|SHARED_TRYLOCK_FUNCTION|NO_THREAD_SAFETY_ANALYSIS)\b", r"TF_\1"),
    _rule("const Shape* → ShapeHandle, const Dimension* → DimensionHandle", "1",
          r"\bconst\s+((?:(?:::)?tensorflow\s*::\s*)?(?:shape_inference\s*::\s*)?)(Shape|Dimension)\s*\*\s*(?!\*)",
          r"\1\2Handle "),
    _rule("ProtoShortDebugString(x) → x.ShortDebugString()", "2", r"\bProtoShortDebugString\s*\(", _short_debug),
    _rule("MakeUnique<T> → std::make_unique<T>", "2", rf"(?<![\w:.>]){_NAMESPACE}(?:gtl\s*::\s*)?\bMakeUnique\s*<",
          "std::make_unique<"),
    _rule("gtl::optional → absl::optional", "2", rf"(?<![\w:.>]){_NAMESPACE}\bgtl\s*::\s*(optional|nullopt)\b",
          r"absl::\1", "absl/types/optional.h"),
    _rule("perftools::gputools → stream_executor", "1", r"(?:::\s*)?\bperftools\s*::\s*gputools\b",
          "::stream_executor"),
    _rule("tensorflow_gpu_device_info() → tensorflow_accelerator_device_info()", "2",
          r"\btensorflow_gpu_device_info\s*\(\s*\)", "tensorflow_accelerator_device_info()"),
    _rule("Cuda…LaunchConfig → Gpu…LaunchConfig", "2",
          r"\b(Get)?Cuda(2D|3D)?LaunchConfig(\w*)", r"\1Gpu\2LaunchConfig\3"),
    _rule("CUDA_1D_KERNEL_LOOP → GPU_1D_KERNEL_LOOP", "2", r"\bCUDA_(1D_KERNEL_LOOP|AXIS_KERNEL_LOOP)\b", r"GPU_\1"),
    _rule("CudaAtomicAdd → GpuAtomicAdd, and other helpers of GPU kernels", "2",
          r"\bCuda(Atomic(?:Add|Sub|Max|Min|Mul|Div)|GridRange[XYZ]|LaunchKernel|Shuffle\w*Sync|SyncWarp"
          r"|LdgHelper|ActiveMask|BallotSync|AnySync|AllSync)\b",
          r"Gpu\1"),
)  # fmt: skip
