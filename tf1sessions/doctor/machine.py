"""Findings about this machine and its packages for TensorFlow 1 programs. Neither TensorFlow nor CUDA is loaded.

Data flow::

    facts() ──▶ Facts: versions (importlib.metadata), cores and memory (sessions/machine.py), GPUs (sessions/gpus.py),
                       environment variables that change what a session does
                  ├──▶ Facts.rows(), Facts.to_json()      what there is, and what a session on a GPU will get
    examine(facts) ◀──┘ ──▶ findings                      its problems

:func:`facts` looks; everything else is computed from what it saw, so that another machine can be described instead.
Everything here may be called from any thread.
"""

from __future__ import annotations

import ctypes.util
import dataclasses
import importlib.metadata
import os
import platform
import re
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import tf1sessions
from tf1sessions.doctor.findings import Finding, FindingSource, Severity, in_order
from tf1sessions.scripts.machine import JOB_MEMORY_BYTES
from tf1sessions.sessions import gpus
from tf1sessions.sessions.machine import available_memory, usable_cores

__all__ = ["NEWEST_TENSORFLOW", "OLDEST_TENSORFLOW", "PYTHONS", "VARIABLES", "Facts", "examine", "facts"]

MIB = 2**20

#: The minor versions that the test suite runs on, as in setup.cfg.
OLDEST_TENSORFLOW, NEWEST_TENSORFLOW = (2, 16), (2, 21)
PYTHONS = ((3, 10), (3, 13))

#: The first driver (Linux) that runs programs built with CUDA 12, as these TensorFlows are; NVIDIA's release notes.
OLDEST_DRIVER = 525
#: Part of a GPU's memory that others may hold before it is reported. Arbitrary.
HELD_PART = 0.5
#: MiB of /dev/shm below which it is reported: the default of Docker.
SMALL_SHM_MB = 64
#: Open files below which it is reported. Arbitrary: a pool of processes takes some 20 a worker.
FEW_FILES = 512

_BUILDS = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-rocm",
    "tf-nightly",
)
_CPU_ONLY = ("tensorflow-cpu", "tensorflow-intel", "tensorflow-macos")
#: Packages that come with TensorFlow, whose versions it prescribes.
_CHECKED = ("keras", "numpy", "protobuf", "h5py", "ml-dtypes", "absl-py", "grpcio", "wrapt")
_DEAD = {
    "tensorflow-addons": "fails at import on TensorFlow 2.16 and later; it is no longer developed",
    "tensorflow-estimator": "fails at import on TensorFlow 2.16 and later; tf1sessions brings tf.estimator",
    "tensorflow-gpu": "is an empty or an old package: since TensorFlow 2.1 `tensorflow` has the GPU code",
    "tf-slim": "imports, but most of it fails on Keras 2 and 3; tf1sessions brings tf.contrib.slim",
}

#: Environment variables that change what a session does -> what they do.
VARIABLES = {
    "CUDA_DEVICE_ORDER": "in which order CUDA counts the GPUs; PCI_BUS_ID is nvidia-smi's",
    "CUDA_LAUNCH_BLOCKING": "each kernel is waited for: slow, for debugging",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "part of a GPU's cores that a process gets under MPS",
    "CUDA_MPS_PIPE_DIRECTORY": "where the Multi-Process Service is found",
    "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": "how much of a GPU's memory a process gets under MPS",
    "CUDA_VISIBLE_DEVICES": "which GPUs CUDA shows a process",
    "KERAS_BACKEND": "what Keras 3 computes with",
    "LD_LIBRARY_PATH": "where CUDA's libraries are looked for first",
    "MKL_NUM_THREADS": "threads of NumPy's linear algebra",
    "NVIDIA_TF32_OVERRIDE": "0: no TF32, as on GPUs of TensorFlow 1's time",
    "OMP_NUM_THREADS": "threads of OpenMP in each process, oneDNN's and NumPy's",
    "OPENBLAS_NUM_THREADS": "threads of NumPy's linear algebra",
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python: graphs and configs are read and written many times slower",
    "PYTHONHASHSEED": "fixes the order of sets of texts, and with it the order of operations that is made from one",
    "TF2_BEHAVIOR": "0: TensorFlow starts with version 1's behaviour",
    "TF_CPP_MIN_LOG_LEVEL": "what TensorFlow's C++ code logs: 0 all, 3 only fatal errors",
    "TF_CUDNN_DETERMINISTIC": "1: cuDNN's deterministic kernels only",
    "TF_DETERMINISTIC_OPS": "1: deterministic kernels only",
    "TF_ENABLE_ONEDNN_OPTS": "1: oneDNN's kernels, which differ from TensorFlow 1's in the last bits; 0: not",
    "TF_FORCE_GPU_ALLOW_GROWTH": "true: memory is taken as it is needed; false: at once; whatever a session asks for",
    "TF_GPU_ALLOCATOR": "cuda_malloc_async: memory is taken from CUDA's own pool, as it is needed",
    "TF_GPU_THREAD_MODE": "which threads launch kernels",
    "TF_NUM_INTEROP_THREADS": "threads between operations, for sessions that do not set them",
    "TF_NUM_INTRAOP_THREADS": "threads within an operation, for sessions that do not set them",
    "TF_USE_LEGACY_KERAS": "1: tf.keras is Keras 2, of the package tf_keras",
    "TF_XLA_FLAGS": "whether graphs are compiled by XLA",
    "XLA_FLAGS": "how XLA compiles",
}


@dataclasses.dataclass(frozen=True)
class Facts:
    """The facts about a machine.

    Attributes:
        python: Version of this interpreter.
        system: Name and version of the operating system, and the processor.
        versions: Installed packages that matter -> version.
        required: What TensorFlow's own metadata asks of the packages that come with it, such as ``"numpy<2.2,>=1.26"``.
        cores: That this process may keep busy; of ``all_cores`` that the machine has.
        memory_mb, free_mb: Main memory, containers' limits included; None where that cannot be determined.
        shm_mb: Size of /dev/shm; None where there is none.
        open_files: How many a process may open (the soft limit, and the hard one).
        machine: The GPUs that CUDA shows, which processes hold their memory, and whether MPS runs.
        all_gpus: Those that are there, with what CUDA_VISIBLE_DEVICES hides.
        driver: Version of NVIDIA's driver, or None.
        cuda_libraries: Whether CUDA's libraries are where TensorFlow may find them.
        environment: Those of :data:`VARIABLES` that are set.
    """

    python: str
    system: str
    versions: Mapping[str, str]
    required: tuple[str, ...] = ()
    cores: int = 1
    all_cores: int = 1
    memory_mb: float | None = None
    free_mb: float | None = None
    shm_mb: float | None = None
    open_files: tuple[int, int] = (1024, 1024)
    machine: gpus.Machine = gpus.Machine()
    all_gpus: tuple[gpus.Gpu, ...] = ()
    driver: str | None = None
    cuda_libraries: bool = True
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def tensorflow(self) -> str | None:
        """The version of TensorFlow, by whatever package it was installed."""
        return next((self.versions[name] for name in _BUILDS if name in self.versions), None)

    def gpu_session(self) -> list[str]:
        """A line for each GPU: what a session gets of it that asks for nothing in its config; empty without GPUs."""
        growth = self.environment.get("TF_FORCE_GPU_ALLOW_GROWTH", "").lower() == "true"
        pool = self.environment.get("TF_GPU_ALLOCATOR") == "cuda_malloc_async"
        lines = []
        for gpu in self.machine.gpus:
            if growth:
                takes = f"memory as it is needed, up to the {gpu.free_mb:.0f} MiB that are free"
            elif pool:
                takes = f"memory of CUDA's pool as it is needed, up to the {gpu.free_mb:.0f} MiB that are free"
            else:
                takes = f"nearly all of the {gpu.free_mb:.0f} MiB that are free, at once"
            lines.append(f"GPU:{gpu.index} {gpu.name}: {takes}")
        if lines:
            lines.append("the process keeps it until it ends; the first session decides for all of the process")
        return lines

    def rows(self) -> list[tuple[str, str]]:
        """Name and text, to be printed as a table."""
        rows = [("Python", self.python), ("System", self.system)]
        rows += [(name, version) for name, version in self.versions.items()]
        rows.append(("Cores", _part(self.cores, self.all_cores, "for this process")))
        if self.memory_mb is not None and self.free_mb is not None:
            rows.append(("Memory", f"{self.free_mb:.0f} of {self.memory_mb:.0f} MiB free"))
        if self.shm_mb is not None:
            rows.append(("/dev/shm", f"{self.shm_mb:.0f} MiB"))
        soft, hard = ("unlimited" if limit == resource.RLIM_INFINITY else str(limit) for limit in self.open_files)
        rows.append(("Open files", f"{soft}, at most {hard}"))
        if self.driver is not None:
            rows.append(("NVIDIA driver", self.driver))
        for gpu in self.machine.gpus:
            text = f"{gpu.name}, {gpu.free_mb:.0f} of {gpu.total_mb:.0f} MiB free"
            rows.append((f"GPU {gpu.index}", text + (f"; held by {_holders(gpu)}" if gpu.holders else "")))
        rows += [("GPUs", note) for note in self.machine.notes]
        if self.machine.gpus:
            rows.append(("MPS", "runs" if self.machine.mps else "does not run"))
        rows += [("A session gets", line) for line in self.gpu_session()]
        rows += [(f"{name}={value}", VARIABLES[name]) for name, value in self.environment.items()]
        return rows

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return dataclasses.asdict(self) | {
            "versions": dict(self.versions),
            "environment": dict(self.environment),
            "gpu_session": self.gpu_session(),
        }


def facts(
    *,
    environ: Mapping[str, str] | None = None,
    installed: Callable[[str], str | None] | None = None,
    machine: gpus.Machine | None = None,
    root: Path = Path("/"),
) -> Facts:
    """Looks at this machine.

    Args:
        environ: Environment variables; by default this process's.
        installed: Version of a package, or None; by default what is installed.
        machine: The GPUs; by default what the driver says.
        root: Where ``proc``, ``sys`` and ``dev`` are.
    """
    environ = os.environ if environ is None else environ
    installed = _installed if installed is None else installed
    shown = gpus.look(environ) if machine is None else machine
    hidden = machine is None and environ.get("CUDA_VISIBLE_DEVICES") is not None
    free = available_memory(root)
    names = ("tf1sessions", *_BUILDS, "tf-keras", *_CHECKED[:3], *_DEAD, "nvidia-ml-py")
    versions = {name: version for name in dict.fromkeys(names) if (version := installed(name)) is not None}
    versions = {"tf1sessions": tf1sessions.__version__} | versions  # a checkout has no metadata
    return Facts(
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()}, {platform.machine()}",
        versions=versions | {name: version for name in _CHECKED if (version := installed(name)) is not None},
        required=_required(versions),
        cores=usable_cores(root),
        all_cores=os.cpu_count() or 1,
        memory_mb=_total_memory(root),
        free_mb=None if free is None else free / MIB,
        shm_mb=_shm(root),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE),
        machine=shown,
        all_gpus=gpus.look(_without(environ, "CUDA_VISIBLE_DEVICES")).gpus if hidden else shown.gpus,
        driver=_driver(root),
        cuda_libraries=_has_cuda(installed, environ),
        environment={name: environ[name] for name in VARIABLES if name in environ},
    )


def _without(environ: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in environ.items() if key != name}


def _part(one: int, of: int, what: str) -> str:
    return str(one) if one >= of else f"{one} of {of} {what}"


def _holders(gpu: gpus.Gpu) -> str:
    """The processes that hold the memory of a GPU, the greatest first."""
    held = sorted(gpu.holders, key=lambda holder: -(holder.used_mb or 0.0))
    named = [
        f"{holder.name or 'process'} ({holder.pid}"
        + (")" if holder.used_mb is None else f", {holder.used_mb:.0f} MiB)")
        for holder in held[:4]
    ]
    return ", ".join(named) + (f" and {len(held) - 4} more" if len(held) > 4 else "")


# -- looking ----------------------------------------------------------------------------------------------------------


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _required(versions: Mapping[str, str]) -> tuple[str, ...]:
    """Return what TensorFlow asks of :data:`_CHECKED`, without what is for other surroundings or extras."""
    build = next((name for name in _BUILDS if name in versions), None)
    try:
        listed = importlib.metadata.requires(build) or [] if build else []
    except importlib.metadata.PackageNotFoundError:  # a described machine
        listed = []
    parts = [line.partition(";") for line in listed]
    plain = [line.strip() for line, _, marker in parts if _applies(marker)]
    return tuple(line for line in plain if _requirement(line)[0] in _CHECKED)


def _applies(marker: str) -> bool:
    """Whether a requirement is one of this Python; those of an extra, or of one platform, are left out."""
    for condition in filter(None, (part.strip() for part in marker.split(" and "))):
        found = re.fullmatch(r"""python_version\s*([<>=!~]+)\s*["']([\d.]+)["']""", condition)
        if found is None or not _meets(".".join(platform.python_version_tuple()[:2]), [(found[1], found[2])]):
            return False
    return True


def _total_memory(root: Path) -> float | None:
    try:
        text = (root / "proc/meminfo").read_text("ascii")
    except OSError:
        return None
    found = re.search(r"^MemTotal:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else None


def _shm(root: Path) -> float | None:
    try:
        status = os.statvfs(root / "dev/shm")
    except OSError:
        return None
    return status.f_frsize * status.f_blocks / MIB


def _driver(root: Path) -> str | None:
    try:
        text = (root / "proc/driver/nvidia/version").read_text("utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"Kernel Module[^\n]*?\s(\d+\.\d+(?:\.\d+)?)\s", text)
    return found[1] if found else None


def _has_cuda(installed: Callable[[str], str | None], environ: Mapping[str, str]) -> bool:
    """Whether cuDNN is there: as a package, in LD_LIBRARY_PATH, beside the interpreter, or known to the linker."""
    if any(installed(f"nvidia-cudnn-cu{cuda}") for cuda in (12, 13)) or ctypes.util.find_library("cudnn"):
        return True
    folders = [*environ.get("LD_LIBRARY_PATH", "").split(os.pathsep), os.path.join(sys.prefix, "lib")]
    return any(list(Path(folder).glob("libcudnn.so*")) for folder in folders if folder)


# -- versions ---------------------------------------------------------------------------------------------------------


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a release: ``"2.21.0rc1"`` -> (2, 21, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", re.split(r"(?:a|b|rc|\.?dev|\+|-)", version)[0]))


def _requirement(line: str) -> tuple[str, list[tuple[str, str]]]:
    """Name and conditions of a requirement: ``"numpy<2.2,>=1.26"`` -> ("numpy", [("<", "2.2"), (">=", "1.26")])."""
    found = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*\(?([^;)]*)", line)
    assert found is not None
    conditions = re.findall(r"(~=|==|!=|<=|>=|<|>)\s*([\w.*+]+)", found[2])
    return found[1].lower().replace("_", "-"), conditions


def _meets(version: str, conditions: Iterable[tuple[str, str]]) -> bool:
    have = _numbers(version)
    for sign, text in conditions:
        want = _numbers(text.removesuffix(".*"))
        width = max(len(have), len(want))
        ours, theirs = (numbers + (0,) * (width - len(numbers)) for numbers in (have, want))
        if text.endswith(".*"):
            equal = have[: len(want)] == want
            ok = equal if sign == "==" else not equal
        else:
            ok = {
                "==": ours == theirs,
                "!=": ours != theirs,
                "<": ours < theirs,
                "<=": ours <= theirs,
                ">": ours > theirs,
                ">=": ours >= theirs,
                "~=": ours >= theirs and have[: len(want) - 1] == want[:-1],
            }[sign]
        if not ok:
            return False
    return True


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


# -- its problems -----------------------------------------------------------------------------------------------------


def examine(seen: Facts | None = None, *, processes: int = 1) -> list[Finding]:
    """Return the problems of a machine, the worst first.

    Args:
        seen: What was seen of it; by default this machine, now.
        processes: How many processes with a session are to run at once.
    """
    seen = facts() if seen is None else seen
    return in_order(
        [*_of_versions(seen), *_of_memory(seen, processes), *_of_gpus(seen), *_of_environment(seen), *_of_limits(seen)]
    )


def _finding(rule: str, severity: Severity, title: str, why: str, fix: str) -> Finding:
    return Finding(rule, severity, title, why, fix, FindingSource.MACHINE)


_INSTALL = f"pip install 'tensorflow=={_dotted(NEWEST_TENSORFLOW)}.*' 'tf_keras=={_dotted(NEWEST_TENSORFLOW)}.*'"


def _of_versions(seen: Facts) -> Iterator[Finding]:
    yield from _of_python(seen)
    if seen.tensorflow is None:
        yield _finding(
            "unsupported-version",
            Severity.ERROR,
            "TensorFlow is not installed",
            "Nothing runs without it.",
            _INSTALL,
        )
        return
    yield from _of_tensorflow(seen.tensorflow)
    yield from _of_builds(seen)
    yield from _of_keras(seen, seen.tensorflow)
    yield from _of_requirements(seen)
    yield from _of_dead_packages(seen)


def _of_python(seen: Facts) -> Iterator[Finding]:
    python = _numbers(seen.python)[:2]
    if not PYTHONS[0] <= python <= PYTHONS[1]:
        yield _finding(
            "unsupported-version",
            Severity.WARNING,
            f"Python {seen.python}",
            "tf1sessions is tested on Python " + " to ".join(map(_dotted, PYTHONS)) + ".",
            "Use one of these.",
        )


def _of_tensorflow(found: str) -> Iterator[Finding]:
    window = f"{_dotted(OLDEST_TENSORFLOW)} to {_dotted(NEWEST_TENSORFLOW)}"
    minor = _numbers(found)[:2]
    if minor < OLDEST_TENSORFLOW:
        yield _finding(
            "unsupported-version",
            Severity.ERROR,
            f"TensorFlow {found}",
            f"tf1sessions needs TensorFlow {window}, and refuses an older one.",
            _INSTALL,
        )
    elif minor > NEWEST_TENSORFLOW:
        yield _finding(
            "unsupported-version",
            Severity.WARNING,
            f"TensorFlow {found}",
            f"tf1sessions is tested on TensorFlow {window}. A newer one is tried; names that it has moved fail.",
            _INSTALL,
        )


def _of_builds(seen: Facts) -> Iterator[Finding]:
    builds = [name for name in _BUILDS if name in seen.versions and name != "tensorflow-gpu"]
    if len(builds) > 1:
        yield _finding(
            "two-tensorflows",
            Severity.ERROR,
            " and ".join(f"{name} {seen.versions[name]}" for name in builds) + " are installed",
            "They write the same files: what is there now is a mixture of both.",
            f"pip uninstall {' '.join(builds)}, and install one of them.",
        )


def _of_keras(seen: Facts, tensorflow: str) -> Iterator[Finding]:
    minor = _numbers(tensorflow)[:2]
    keras = seen.versions.get("tf-keras")
    install = f"pip install 'tf_keras=={_dotted((minor[0], minor[1]))}.*'"
    if keras is None:
        yield _finding(
            "tf-keras-missing",
            Severity.ERROR,
            "the package tf_keras is not installed",
            "tf.layers, tf.nn.rnn_cell and tf.keras of TensorFlow 1 programs are made of it; `tf1sessions run` refuses "
            "to start without it.",
            install,
        )
    elif _numbers(keras)[:2] != minor:
        yield _finding(
            "tf-keras-version",
            Severity.WARNING,
            f"tf_keras {keras} with TensorFlow {tensorflow}",
            "tf_keras uses inner names of the TensorFlow of the same minor version; with another it fails at import, "
            "or later.",
            install,
        )


def _of_requirements(seen: Facts) -> Iterator[Finding]:
    for line in seen.required:
        name, conditions = _requirement(line)
        version = seen.versions.get(name)
        if version is not None and not _meets(version, conditions):
            yield _finding(
                "requirement-not-met",
                Severity.WARNING,
                f"{name} {version}, where TensorFlow {seen.tensorflow} asks for {line}",
                "It was built and tested with those versions; others fail at import, or give other results.",
                f"pip install '{line}'",
            )


def _of_dead_packages(seen: Facts) -> Iterator[Finding]:
    for name, reason in _DEAD.items():
        if name in seen.versions:
            yield _finding(
                "dead-package",
                Severity.NOTE if name == "tensorflow-gpu" else Severity.WARNING,
                f"{name} {seen.versions[name]} is installed",
                f"It {reason}.",
                f"pip uninstall {name}",
            )


def _of_memory(seen: Facts, processes: int) -> Iterator[Finding]:
    if seen.free_mb is not None:
        fit = int(seen.free_mb * MIB // JOB_MEMORY_BYTES)
        each = JOB_MEMORY_BYTES / 1e9
        if fit < processes:
            yield _finding(
                "little-memory",
                Severity.WARNING,
                f"{seen.free_mb:.0f} MiB of memory are free: enough for {fit} of {processes} "
                f"process{'es' * (processes != 1)} with TensorFlow",
                f"A process with TensorFlow and a small model takes about {each:.1f} GB. Without them it is killed, or "
                "the machine swaps.",
                f"Run {max(1, fit)} at once (tf1sessions run -j {max(1, fit)}), or threads of one process: "
                "tf1sessions.ThreadSessionPool.",
            )
        elif fit < seen.cores:
            yield _finding(
                "little-memory",
                Severity.NOTE,
                f"{seen.free_mb:.0f} MiB of memory are free: enough for {fit} processes with TensorFlow, "
                f"for {seen.cores} cores",
                f"A process with TensorFlow and a small model takes about {each:.1f} GB: memory bounds how many run "
                "at once, and some cores have nothing to do.",
                "Threads share one TensorFlow: tf1sessions.ThreadSessionPool.",
            )
    if seen.shm_mb is not None and seen.shm_mb <= SMALL_SHM_MB:
        yield _finding(
            "small-shm",
            Severity.NOTE,
            f"/dev/shm has {seen.shm_mb:.0f} MiB",
            "Programs that share arrays by multiprocessing.shared_memory or joblib die of SIGBUS when it is full. "
            "tf1sessions' pools use anonymous memory, and are not concerned.",
            "In a container: docker run --shm-size=1g, or --ipc=host.",
        )


def _of_gpus(seen: Facts) -> Iterator[Finding]:
    wanted = seen.environment.get("CUDA_VISIBLE_DEVICES")
    there = seen.all_gpus or seen.machine.gpus
    if there and wanted is not None:
        asked = [part.strip() for part in wanted.split(",") if part.strip()]
        if not asked or asked[0] == "-1":
            yield _finding(
                "gpus-hidden",
                Severity.NOTE,
                f"CUDA_VISIBLE_DEVICES={wanted!r} hides {_count(len(there), 'GPU')}",
                "Every session computes on the processor.",
                "unset CUDA_VISIBLE_DEVICES, or name those that may be used: CUDA_VISIBLE_DEVICES=0",
            )
        elif len(seen.machine.gpus) < len(asked) and not any(part.startswith("MIG-") for part in asked):
            bad = asked[len(seen.machine.gpus)]
            yield _finding(
                "gpu-not-there",
                Severity.ERROR if not seen.machine.gpus else Severity.WARNING,
                f"CUDA_VISIBLE_DEVICES={wanted!r} names {bad!r}, and there "
                f"{'is' if len(there) == 1 else 'are'} {_count(len(there), 'GPU')}",
                "CUDA stops at the first entry that is none, or that was named before, and hides the rest without a "
                "word: sessions get fewer GPUs, or none.",
                f"CUDA_VISIBLE_DEVICES={','.join(str(gpu.number) for gpu in there)} shows all.",
            )
    if not there:
        return
    cpu_only = [name for name in _CPU_ONLY if name in seen.versions]
    if cpu_only or not seen.cuda_libraries:
        what = f"{cpu_only[0]} is installed" if cpu_only else "CUDA's libraries (cuDNN) are not found"
        yield _finding(
            "gpu-without-cuda",
            Severity.WARNING,
            f"{_count(len(there), 'GPU')}, but {what}",
            "TensorFlow then computes on the processor, and says so in one line of its log only.",
            f"pip install 'tensorflow[and-cuda]=={seen.tensorflow or _dotted(NEWEST_TENSORFLOW) + '.*'}'",
        )
    if seen.driver is not None and _numbers(seen.driver)[0] < OLDEST_DRIVER:
        yield _finding(
            "old-driver",
            Severity.ERROR,
            f"NVIDIA's driver {seen.driver}",
            f"TensorFlow {_dotted(OLDEST_TENSORFLOW)} and later are built with CUDA 12, which needs driver "
            f"{OLDEST_DRIVER} or later.",
            "Update the driver.",
        )
    for gpu in seen.machine.gpus:
        held = gpu.total_mb - gpu.free_mb
        if held > HELD_PART * gpu.total_mb:
            yield _finding(
                "gpu-memory-held",
                Severity.WARNING,
                f"{held:.0f} of {gpu.total_mb:.0f} MiB of GPU {gpu.index} are held"
                + (f" by {_holders(gpu)}" if gpu.holders else ", and the driver does not say which processes"),
                "A session gets what is left. TensorFlow gives memory back only when its process ends, so that one "
                "without a limit keeps all of a GPU though it uses little.",
                "tf1sessions memory --watch shows which process holds what; MemoryPlan(...).wait_for_memory() waits.",
            )


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _of_environment(seen: Facts) -> Iterator[Finding]:
    for name in (
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "TF_NUM_INTRAOP_THREADS",
        "TF_NUM_INTEROP_THREADS",
    ):
        value = seen.environment.get(name, "").partition(",")[0].strip()
        if value.isdecimal() and int(value) > seen.cores:
            yield _finding(
                "threads-variable",
                Severity.WARNING,
                f"{name}={seen.environment[name]}, and this process has {_count(seen.cores, 'core')}",
                "More threads than cores take turns on them; in N processes it is N times as many.",
                f"unset {name}, or {name}={seen.cores}",
            )
    if seen.environment.get("TF_USE_LEGACY_KERAS") in ("0", "false", "False"):
        yield _finding(
            "legacy-keras-off",
            Severity.NOTE,
            f"TF_USE_LEGACY_KERAS={seen.environment['TF_USE_LEGACY_KERAS']}",
            "With Keras 3, tf.compat.v1.layers and the RNN cells raise. `tf1sessions run` sets the variable to 1 for "
            "its scripts; programs that are started otherwise get Keras 3.",
            "TF_USE_LEGACY_KERAS=1 for TensorFlow 1 programs that are started by python.",
        )
    if seen.environment.get("TF_ENABLE_ONEDNN_OPTS") in ("1", "true", "True"):
        yield _finding(
            "onednn-on",
            Severity.NOTE,
            f"TF_ENABLE_ONEDNN_OPTS={seen.environment['TF_ENABLE_ONEDNN_OPTS']}",
            "oneDNN's kernels are often faster, and differ from TensorFlow 1's in the last bits (gradients of "
            "convolutions by up to 7e-4, measured).",
            "TF_ENABLE_ONEDNN_OPTS=0 where results are compared with TensorFlow 1's.",
        )
    if seen.environment.get("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION") == "python":
        yield _finding(
            "slow-protobuf",
            Severity.WARNING,
            "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python",
            "Graphs, configs and summaries are then read and written in Python, many times slower.",
            "unset PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION",
        )
    if seen.environment.get("CUDA_LAUNCH_BLOCKING") == "1":
        yield _finding(
            "launch-blocking",
            Severity.WARNING if seen.machine.gpus else Severity.NOTE,
            "CUDA_LAUNCH_BLOCKING=1",
            "Each kernel is waited for before the next is launched: a GPU stands still most of the time.",
            "unset CUDA_LAUNCH_BLOCKING after debugging.",
        )
    if seen.environment.get("TF2_BEHAVIOR") == "0":
        yield _finding(
            "tf2-behavior-off",
            Severity.NOTE,
            "TF2_BEHAVIOR=0",
            "Every program of this environment gets TensorFlow 1's behaviour, those written for TensorFlow 2 too.",
            "unset TF2_BEHAVIOR; tf1sessions run and enable_v1_behavior() do it for one program.",
        )


def _of_limits(seen: Facts) -> Iterator[Finding]:
    soft, hard = seen.open_files
    if soft != resource.RLIM_INFINITY and soft < FEW_FILES:
        yield _finding(
            "few-open-files",
            Severity.WARNING,
            f"a process may open {soft} files",
            "Pools of processes, readers of many record files and event files each need some: at the limit "
            "everything fails that opens one.",
            f"ulimit -n {hard if hard != resource.RLIM_INFINITY else 4096}",
        )
