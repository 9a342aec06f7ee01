"""The differences of a job from its fork server that need a fresh interpreter. Standard library only."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping

from tf1sessions.pools.hidden_modules import hiding

__all__ = ["INSPECT", "cold_start_reasons", "given_environment"]

INSPECT = "PYTHONINSPECT"
"""The environment variable with which an interpreter prints SystemExit as an error, and does not end by it."""


# What an interpreter, TensorFlow 2.21, tf_keras and the libraries under them look up while they start (found by tracing
# getenv() and os.environ): a fork cannot change it any more. TF_* in general is not here: most of it is read when a
# session is made, or later.
_COLD_PREFIXES = (
    "ABSL_", "GCS_", "GFORTRAN_", "GRPC_", "HDF5_", "KMP_", "LC_", "LD_", "MALLOC_", "MKL_", "NPY_", "NUMPY_", "OMP_",
    "OPENBLAS_", "OPENSSL_", "PILLOW_", "PYTHON", "SCIPY_", "TF_CPP_", "TF_NP_",
)  # fmt: skip
_COLD_NAMES = frozenset({
    "GLIBC_TUNABLES", "GOTO_NUM_THREADS", "HOME", "KERAS_BACKEND", "KERAS_HOME", "LANG", "LANGUAGE",
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "TEST_RANDOM_SEED", "TEST_SRCDIR", "TEST_TMPDIR", "TF2_BEHAVIOR",
    "TF_CUFFT_WORKSPACE_LIMIT_IN_MB", "TF_ENABLED_DEVICE_TYPES", "TF_ENABLE_CONTROL_FLOW_V2", "TF_ENABLE_ONEDNN_OPTS",
    "TF_FORWARD_COMPATIBILITY_DELTA_DAYS", "TF_FUNCTION_JIT_COMPILE_DEFAULT", "TF_JIT_COMPILE_REWRITE",
    "TF_OPTIONALS_IN_GRADIENTS", "TF_PLUGGABLE_DEVICE_LIBRARY_PATH", "TF_USE_LEGACY_KERAS", "TF_USE_MODULAR_FILESYSTEM",
    "TF_XLA_SHARDING_FOR_RESOURCE_VARIABLES", "WRAPT_DISABLE_EXTENSIONS",
})  # fmt: skip


def given_environment() -> dict[str, str]:
    """Return this process's environment as it was given: an interpreter in the C locale adds LC_CTYPE to os.environ."""
    try:
        with open("/proc/self/environ", "rb") as file:
            given = os.fsdecode(file.read()).split("\0")
    except FileNotFoundError:  # not Linux
        return dict(os.environ)
    return {name: value for name, _, value in (item.partition("=") for item in given if item)}


def cold_start_reasons(
    server_env: Mapping[str, str],
    job_env: Mapping[str, str],
    preloaded_top_level: Collection[str],
    path0: str | None,
) -> tuple[str, ...]:
    """Say why a job needs a fresh interpreter instead of a fork of the server.

    Args:
        server_env: The environment that the server was started with.
        job_env: The environment of the job.
        preloaded_top_level: Top-level modules that the server has imported beyond what an interpreter starts with.
        path0: The folder that the job puts first on ``sys.path``, or None. What hides the standard library in it needs
            no cold start: a fork forgets these modules, and the job's own imports find what is in the folder.

    Returns:
        A reason each, such as ``"PYTHONHASHSEED differs"``; none when a fork will do.

    Example:
        >>> cold_start_reasons({"RATE": "0.1"}, {"RATE": "0.2", "PYTHONHASHSEED": "0"}, (), None)
        ('PYTHONHASHSEED differs',)
    """
    names = sorted(
        name
        for name in server_env.keys() | job_env.keys()
        if (name.startswith(_COLD_PREFIXES) or name in _COLD_NAMES)
        and server_env.get(name) != job_env.get(name)
        and name != INSPECT  # with which no server and no worker starts
    )
    return (
        *(f"{name} differs" for name in names),
        *(
            f"{path} hides a preloaded module"
            for path in hiding(set(preloaded_top_level) - sys.stdlib_module_names, path0).values()
        ),
    )
