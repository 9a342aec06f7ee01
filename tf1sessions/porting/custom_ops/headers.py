"""Headers of TensorFlow 1 that have another address today, or none, as a table."""

from __future__ import annotations

import dataclasses
import re

from tf1sessions.source.edits import Edit

from .code import CppSource

__all__ = ["MOVED", "NEEDED", "Include", "include_edits", "includes", "new_address"]

#: (address, new address); None where nothing takes its place. An address that ends with "/" stands for all below it.
MOVED: tuple[tuple[str, str | None], ...] = (
    ("third_party/tensorflow/", "tensorflow/"),
    ("third_party/absl/", "absl/"),
    ("third_party/eigen3/", ""),
    ("third_party/cub/", "cub/"),
    ("external/cub_archive/", ""),
    ("cuda/include/", "third_party/gpus/cuda/include/"),
    ("tensorflow/core/platform/default/logging.h", "tensorflow/core/platform/logging.h"),
    ("tensorflow/core/platform/default/integral_types.h", "tensorflow/core/platform/types.h"),
    ("tensorflow/core/platform/default/mutex.h", "tensorflow/core/platform/mutex.h"),
    ("tensorflow/core/platform/default/notification.h", "tensorflow/core/platform/notification.h"),
    ("tensorflow/core/platform/default/dynamic_annotations.h", "tensorflow/core/platform/dynamic_annotations.h"),
    ("tensorflow/core/kernels/bounds_check.h", "tensorflow/core/framework/bounds_check.h"),
    ("tensorflow/core/util/cuda_kernel_helper.h", "tensorflow/core/util/gpu_kernel_helper.h"),
    ("tensorflow/core/util/cuda_launch_config.h", "tensorflow/core/util/gpu_launch_config.h"),
    ("tensorflow/core/util/cuda_device_functions.h", "tensorflow/core/util/gpu_device_functions.h"),
    ("tensorflow/core/lib/core/blocking_counter.h", "tensorflow/core/platform/blocking_counter.h"),
    ("tensorflow/core/lib/core/casts.h", "tensorflow/core/platform/casts.h"),
    ("tensorflow/core/lib/gtl/optional.h", "absl/types/optional.h"),
    ("tensorflow/core/framework/selective_registration.h", None),
    ("tensorflow/core/framework/unique_tensor_references.h", None),
    ("tensorflow/core/util/ptr_util.h", None),
    ("tensorflow/stream_executor/", "xla/stream_executor/"),
)
_TEXT_OF_PROTOS = re.compile(r"tensorflow/core/.*\.pb_text(-impl)?\.h")  # classes of protocol buffers print themselves

#: Names whose header came along with others on TensorFlow 1, and does so no longer: (pattern, header).
NEEDED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<![\w.>])Notification\s+\w+\s*[;({]"), "tensorflow/core/platform/notification.h"),
    (re.compile(r"\bthread\s*::\s*ThreadPool\b"), "tensorflow/core/platform/threadpool.h"),
    (re.compile(r"\bstrings\s*::\s*(?:StrCat|StrAppend)\b"), "tensorflow/core/platform/strcat.h"),
    (re.compile(r"\bstr_util\s*::"), "tensorflow/core/platform/str_util.h"),
    (re.compile(r"\bstrings\s*::\s*Printf\b"), "tensorflow/core/platform/stringprintf.h"),
    (re.compile(r"\bFastBoundsCheck\b"), "tensorflow/core/framework/bounds_check.h"),
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(?P<open>[\"<])(?P<address>[^\">\n]+)(?P<close>[\">])", re.MULTILINE)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*include\b")


@dataclasses.dataclass(frozen=True)
class Include:
    """An include: its address, whether it is in quotes, and where its line begins, the address begins and ends."""

    address: str
    quoted: bool
    line: int
    start: int
    end: int


def includes(code: CppSource) -> list[Include]:
    """Return the includes of a source, in order; those in comments are none."""
    return [
        Include(found["address"], found["open"] == '"', found.start(), found.start("address"), found.end("address"))
        for found in _INCLUDE.finditer(code.text)
        if _DIRECTIVE.match(code.bare, found.start())
    ]


def new_address(address: str) -> str | None:
    """Return the address of a header today, the same where it has not moved, None where there is none any more."""
    if _TEXT_OF_PROTOS.fullmatch(address):
        return None
    if address.endswith(".proto.h"):  # what Google's own build calls them
        return new_address(address.removesuffix(".proto.h") + ".pb.h")
    for old, new in MOVED:
        if address == old or (old.endswith("/") and address.startswith(old)):
            return None if new is None else new_address(new + address[len(old) :])
    return address


def include_edits(code: CppSource, own: frozenset[str]) -> list[Edit]:
    """Return the edits of includes whose header has moved. Those in ``own`` are found beside the source, and stay."""
    found = []
    for each in includes(code):
        new = each.address if each.address in own else new_address(each.address)
        if new is None:
            found.append(Edit(each.line, each.line, "// "))
        elif new != each.address:
            found.append(Edit(each.start, each.end, new))
    return found
