"""Facts about a shared library, read from its ELF tables: libraries that it needs, symbols that it lacks."""

from __future__ import annotations

import dataclasses
import re
import struct

__all__ = ["SharedLibrary", "read_shared_library"]

_MOST_BYTES = 1 << 30
_LITTLE_64 = b"\x7fELF\x02\x01"
_DYNAMIC, _DYNSYM = 6, 11  # kinds of sections
_NEEDED, _UNDEFINED = 1, 0
_MACHINES = {3: "32-bit x86", 40: "32-bit ARM", 62: "x86-64", 183: "64-bit ARM", 21: "POWER", 243: "RISC-V"}


@dataclasses.dataclass(frozen=True)
class SharedLibrary:
    """The facts about a shared library that can be read without loading it.

    Attributes:
        machine: The processor that it is for, such as ``"x86-64"``.
        needed: The names of the libraries that it needs.
        undefined: The symbols that others must define, as the linker writes them.
    """

    machine: str
    needed: tuple[str, ...]
    undefined: tuple[str, ...]

    @property
    def tensorflow(self) -> str | None:
        """The releases of TensorFlow that it may have been built for, in words; None where it has nothing of it."""
        names = " ".join(self.needed)
        version = re.search(r"\blibtensorflow_framework\.so\.(\d+)", names)
        if version and version[1] == "1":
            return "TensorFlow 1.14 or 1.15"
        if re.search(r"\blibtensorflow_framework\.so(?= |$)", names):
            return "TensorFlow 1.4 to 1.13"
        symbols = [symbol for symbol in self.undefined if "10tensorflow" in symbol]
        if not symbols and not version:
            return None
        status = r"10tensorflow6Status|NS_6StatusE|10tensorflow5error4Code"  # its own class, which is absl::Status now
        if any(re.search(status, symbol) for symbol in symbols):
            return "TensorFlow 2.0 to 2.13" if version else "TensorFlow 1"
        return "another release of TensorFlow 2" if version else "another TensorFlow"

    @property
    def old_abi(self) -> bool | None:
        """Whether it has the C++ strings from before GCC 5 (_GLIBCXX_USE_CXX11_ABI=0); None where nothing shows it."""
        symbols = [symbol for symbol in self.undefined if "10tensorflow" in symbol]
        if any("cxx11" in symbol for symbol in symbols):
            return False
        return True if any(re.search(r"(?<=[EKRPv])Ss|Ss(?=$|[EKRPS_])", symbol) for symbol in symbols) else None

    @property
    def cuda(self) -> str | None:
        """The CUDA runtime that it needs, such as ``"libcudart.so.10.0"``, or None."""
        return next((name for name in self.needed if name.startswith("libcudart")), None)


def read_shared_library(path: str) -> SharedLibrary | None:
    """Read a library's tables. Return None where it is no library of Linux for 64-bit processors, or is damaged."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES)
        return _read(data) if data.startswith(_LITTLE_64) else None
    except (OSError, struct.error, IndexError, ValueError):
        return None


def _read(data: bytes) -> SharedLibrary:
    machine = struct.unpack_from("<H", data, 18)[0]
    start = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + number * size) for number in range(count)]
    needed, undefined = [], []
    for _, kind, _, _, offset, length, link, _, _, _ in sections:
        if kind == _DYNAMIC:
            for tag, value in struct.iter_unpack("<QQ", data[offset : offset + length]):
                if tag == _NEEDED:
                    needed.append(_string(data, sections[link][4] + value))
        elif kind == _DYNSYM:
            for name, _, _, index, _, _ in struct.iter_unpack("<IBBHQQ", data[offset : offset + length]):
                if index == _UNDEFINED and name:
                    undefined.append(_string(data, sections[link][4] + name))
    return SharedLibrary(_MACHINES.get(machine, f"processor {machine}"), tuple(needed), tuple(undefined))


def _string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode("ascii", errors="replace")
