"""Compilers: where they are, the flags of the installed TensorFlow, and what they say."""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tf1sessions.errors import BuildError, UnsupportedEnvironmentError
from tf1sessions.texts import quoted

__all__ = ["CompilerFlags", "Compilers", "Diagnostic", "first_error", "run_compiler"]

_CANDIDATES = ("g++", "c++", "clang++")
# What TensorFlow's own headers warn of, in pages.
_QUIET = ("-Wno-deprecated-declarations", "-Wno-attributes", "-Wno-sign-compare", "-Wno-ignored-attributes")
# Which GPUs the code is for; in the form with "=".
_OF_NVCC = ("-arch=", "--gpu-architecture=", "-code=", "--gpu-code=", "-gencode=", "--generate-code=")
_ERROR = re.compile(
    r"^(?P<file>[^\s:(][^:(\n]*?)(?::(?P<line>\d+)(?::\d+)?|\((?P<cuda>\d+)\)): "
    r"(?:fatal |catastrophic )?error:? (?P<text>.*)$"
)
_PLACE = re.compile(r"^(?:In file included from |\s+from )?(?P<file>[^\s:(][^:(\n]*?):(?P<line>\d+)[:,]")
_LINKER = re.compile(r"(?:undefined reference to|cannot find|multiple definition of|relocation R_).*")


@dataclasses.dataclass(frozen=True)
class CompilerFlags:
    """The flags of the installed TensorFlow: ``tf.sysconfig.get_compile_flags()`` and ``get_link_flags()``."""

    compile: tuple[str, ...]
    link: tuple[str, ...]

    @property
    def include(self) -> list[str]:
        """The folders of TensorFlow's headers."""
        return [flag[2:] for flag in self.compile if flag.startswith("-I")]


@dataclasses.dataclass(frozen=True)
class Compilers:
    """The compilers of this machine.

    Attributes:
        cpp: The C++ compiler.
        nvcc: NVIDIA's, or None where no source needs it.
        cuda_home: The folder of its toolkit, or "" where it does not say.
    """

    cpp: str
    nvcc: str | None = None
    cuda_home: str = ""

    @classmethod
    def found(cls, cuda: Sequence[str] = ()) -> Compilers:
        """Find the compilers: ``$CXX`` or the first of g++, c++ and clang++, and ``$NVCC`` or nvcc.

        Args:
            cuda: The sources that need nvcc.

        Raises:
            UnsupportedEnvironmentError: There is none; the message says what to install.
        """
        named = os.environ.get("CXX", "").strip()
        cpp = next(filter(None, map(shutil.which, [named] if named else _CANDIDATES)), None)
        if cpp is None:
            raise UnsupportedEnvironmentError(
                f"there is no C++ compiler {quoted(named)}" if named else "there is no C++ compiler (g++ or clang++)",
                where="$CXX" if named else None,
                next_step="Install one: apt-get install g++ (Debian, Ubuntu), dnf install gcc-c++ (Fedora), or "
                "conda install gxx.",
            )
        if not cuda:
            return cls(cpp)
        at_home = [
            os.path.join(os.environ[name], "bin/nvcc") for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)
        ]
        nvcc = next(filter(None, map(shutil.which, [os.environ.get("NVCC") or "nvcc", *at_home])), None)
        if nvcc is None:
            raise UnsupportedEnvironmentError(
                f"there is no nvcc, which {quoted(cuda[0])} needs",
                next_step="Install NVIDIA's CUDA toolkit, or put its bin folder on PATH. For the CPU alone, leave the "
                ".cu sources out; kernels of the GPU must then be under #if GOOGLE_CUDA.",
            )
        return cls(cpp, nvcc, _toolkit(nvcc))

    def compile(self, source: str, target: str, flags: CompilerFlags, user: Sequence[str], *, cuda: bool) -> list[str]:
        """Return the command that compiles a C++ source."""
        gpu = ["-DGOOGLE_CUDA=1"] if cuda else []
        headers = [f"-I{self.cuda_home}/include"] if cuda and self.cuda_home else []
        return [
            self.cpp,
            "-c",
            source,
            "-o",
            target,
            "-fPIC",
            "-O2",
            *_QUIET,
            *gpu,
            *_for_host(user),
            *flags.compile,
            *headers,
        ]

    def compile_cuda(self, source: str, target: str, flags: CompilerFlags, user: Sequence[str]) -> list[str]:
        """Return the command that compiles a CUDA source."""
        assert self.nvcc is not None
        host = ["-ccbin", self.cpp, "-Xcompiler", "-fPIC"]
        # Headers of TensorFlow have constexpr functions that kernels call, and take this macro for granted.
        own = [
            "-x",
            "cu",
            "-w",
            "-O2",
            "--expt-relaxed-constexpr",
            "-DGOOGLE_CUDA=1",
            "-DNDEBUG",
            "-diag-suppress=20012",
        ]
        return [self.nvcc, "-c", source, "-o", target, *host, *own, *_for_nvcc(user), *flags.compile]

    def link(
        self, objects: Sequence[str], target: str, flags: CompilerFlags, user: Sequence[str], *, cuda: bool
    ) -> list[str]:
        """Return the command that makes a shared library."""
        runtime: list[str] = []
        if cuda and self.nvcc is not None:
            folders = [f"{self.cuda_home}/{name}" for name in ("lib64", "lib")] if self.cuda_home else []
            runtime = [f"-L{folder}" for folder in folders if os.path.isdir(folder)] + ["-lcudart"]
        return [self.cpp, "-shared", "-o", target, *objects, *flags.link, *runtime, *_for_host(user)]


def _for_host(flags: Sequence[str]) -> list[str]:
    """Return flags without those that only nvcc knows, such as ``-arch=sm_80``."""
    return [flag for flag in flags if not flag.startswith(_OF_NVCC)]


def _for_nvcc(flags: Sequence[str]) -> list[str]:
    """Return flags of g++ as nvcc takes them: those that it does not know go to its host compiler."""
    found = []
    for flag in flags:
        if flag == "-iquote":
            found.append("-I")
        elif flag.startswith(("-f", "-m", "-W", "-pthread")):
            found.append("-Xcompiler=" + flag.replace(",", "\\,"))
        else:
            found.append(flag)
    return found


def _toolkit(nvcc: str) -> str:
    """Return the folder of nvcc's toolkit: /usr/local/bin/nvcc may only call another."""
    with tempfile.NamedTemporaryFile(suffix=".cu") as empty:
        try:
            done = subprocess.run(
                [nvcc, "--dryrun", "-c", empty.name, "-o", os.devnull], stdin=subprocess.DEVNULL, capture_output=True,
                text=True, errors="replace",
            )  # fmt: skip
        except OSError:
            return ""
    top = re.search(r"^#\$ TOP=(.+)$", done.stderr, re.MULTILINE)
    return os.path.realpath(top[1].strip()) if top else ""


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """The first error of a compiler.

    Attributes:
        file: The user's file that it is in or that leads to it; the compiler's own words where none does.
        line: Its line, or 0.
        text: The compiler's sentence.
        inside: The header in which it stands, where that is not the user's, with its line, or "".
        count: How many errors there are.
    """

    file: str
    line: int
    text: str
    inside: str
    count: int

    def __str__(self) -> str:
        at = f"{self.file}:{self.line}: " if self.line else ""
        inside = f" (in {self.inside})" if self.inside else ""
        return f"{at}{self.text}{inside}"


def first_error(said: str, own: frozenset[str]) -> Diagnostic:
    """Find the first error in what a compiler wrote.

    Args:
        said: All that it wrote to its standard error.
        own: The user's files, as the compiler names them.
    """
    lines = said.splitlines()
    errors = [(number, found) for number, line in enumerate(lines) if (found := _ERROR.match(line))]
    if not errors:
        linker = (found[0] for line in lines if (found := _LINKER.search(line)))
        plain = (line for line in lines if re.search(r"\b(?:fatal|error)\b", line) and "warning" not in line)
        text = next(linker, "") or next(plain, "") or next((line for line in lines if line.strip()), "")
        return Diagnostic("", 0, text or "it failed without a word", "", 1)
    users = [each for each in errors if each[1]["file"] in own]
    number, found = (users or errors)[0]
    line = int(found["line"] or found["cuda"])
    if users:
        return Diagnostic(found["file"], line, found["text"], "", len(errors))
    end = errors[1][0] if len(errors) > 1 else len(lines)
    around = [*lines[number + 1 : end], *reversed(lines[:number])]  # "required from here", and who included it
    place = next((seen for text in around if (seen := _PLACE.match(text)) and seen["file"] in own), None)
    if place is None:
        return Diagnostic(found["file"], line, found["text"], "", len(errors))
    return Diagnostic(place["file"], int(place["line"]), found["text"], f"{found['file']}:{line}", len(errors))


def run_compiler(command: Sequence[str], own: frozenset[str], temporary: str) -> str:
    """Run a compiler in a group of processes that ends with it, and return what it wrote.

    Args:
        command: The compiler with its arguments.
        own: The files in which errors are the user's.
        temporary: A folder for its temporary files: it removes none of them when it is killed.

    Raises:
        BuildError: It failed; the message is its first error.
        UnsupportedEnvironmentError: It could not be started.
    """
    env = os.environ | {"LC_ALL": "C", "GCC_COLORS": "", "TMPDIR": temporary}
    started: list[subprocess.Popen[str]] = []

    def start() -> None:
        started.append(
            subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                text=True, errors="replace", start_new_session=True,
            )
        )  # fmt: skip

    try:
        try:
            # In a thread, where no signal raises: the main thread could lose a process between its start and its name.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(start).result()
        except OSError as error:
            is_limit = error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
            step = "Raise the limit: ulimit -a shows them." if is_limit else "Install a C++ compiler."
            raise UnsupportedEnvironmentError(
                f"{quoted(command[0])} cannot be started: {error.strerror}", next_step=step
            ) from error
        process = started[0]
        said, _ = process.communicate()
    except BaseException:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        raise
    if process.returncode:
        found = first_error(said, own)
        more = f"; {found.count - 1} more" if found.count > 1 else ""
        raise BuildError(f"{found}{more}", output=said, command=tuple(command), file=found.file, line=found.line)
    return said
