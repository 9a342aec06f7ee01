"""SciPy: modules and functions that moved, and the names of NumPy that it had as its own.

SciPy 1.x has modules of old private names (``scipy.sparse.csr``, ``scipy.ndimage.filters``) still; 2.0 will not. Where
one is gone it is the public module above it.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from .rows import Module, Name, Table, built

__all__ = ["OF_NUMPY", "PUBLIC", "TABLES", "WINDOWS"]

# What SciPy 2 removes, and where each is public.
_PRIVATE = {
    "scipy.ndimage": "filters fourier interpolation measurements morphology",
    "scipy.sparse": "base bsr compressed construct coo csc csr data dia dok extract lil sputils",
    "scipy.sparse.linalg": "dsolve eigen interface isolve matfuncs",
    "scipy.signal": "bsplines filter_design fir_filter_design ltisys signaltools spectral waveforms wavelets",
    "scipy.stats": "distributions kde morestats mstats_basic stats",
    "scipy.linalg": "basic decomp decomp_cholesky decomp_lu decomp_qr decomp_svd matfuncs misc special_matrices",
    "scipy.special": "basic orthogonal spfun_stats",
    "scipy.optimize": "cobyla lbfgsb linesearch minpack nonlin optimize slsqp tnc zeros",
    "scipy.integrate": "odepack quadpack quadrature vode",
    "scipy.interpolate": "fitpack fitpack2 interpolate ndgriddata polyint rbf",
    "scipy.spatial": "ckdtree kdtree qhull",
    "scipy.io.matlab": "mio mio4 mio5 miobase",
    "scipy.fftpack": "basic convolve helper pseudo_diffs realtransforms",
}
PUBLIC = {f"{package}.{name}": package for package, names in _PRIVATE.items() for name in names.split()}

# Of NumPy, under the name of SciPy.
OF_NUMPY = (
    "absolute abs all allclose any arange arccos arcsin arctan arctan2 argmax argmin argsort array array_equal asarray "
    "average c_ ceil clip column_stack complex128 concatenate conj cos cosh cov cross cumsum deg2rad diag diff dot "
    "double e empty exp expand_dims eye finfo float32 float64 floor histogram hstack identity inf inner int32 int64 "
    "interp isfinite isinf isnan isreal kron linspace log10 log2 logical_and logical_not logical_or logspace log "
    "loadtxt matrix max maximum mean median meshgrid min minimum mod nan ndarray newaxis ones ones_like outer pi power "
    "prod r_ rad2deg ravel real repeat reshape roll round save savetxt sign sin sinh size sort sqrt square squeeze std "
    "sum tan tanh tile trace transpose uint8 unique vander var vstack where zeros zeros_like"
)


def _of_numpy(scipy: Any, name: str) -> Any:
    return getattr(importlib.import_module("numpy"), name, None)


def _of_real_numbers(name: str) -> Any:
    """``scipy.sqrt(-1)`` is a complex number, unlike NumPy's."""
    return getattr(importlib.import_module("numpy.lib.scimath"), name)


def _random(scipy: Any, name: str) -> Any:
    return getattr(importlib.import_module("numpy.random"), name)


def _simpson(integrate: Any, name: str) -> Any:
    def simps(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1, even: str | None = None) -> Any:
        return integrate.simpson(y, x=x, dx=dx, axis=axis)

    return simps


def _pinv2(linalg: Any, name: str) -> Any:
    def pinv2(a: Any, cond: Any = None, rcond: Any = None, return_rank: bool = False, check_finite: bool = True) -> Any:
        return linalg.pinv(a, rtol=rcond if cond is None else cond, return_rank=return_rank, check_finite=check_finite)

    return pinv2


def _dense(owner: Any, name: str) -> Any:
    return property(lambda matrix: matrix.toarray())


def _adjoint(owner: Any, name: str) -> Any:
    return property(lambda matrix: matrix.conj().transpose())


def _misc() -> ModuleType:
    from .. import scipy_misc

    return scipy_misc.module()


def _arpack() -> ModuleType:
    linalg: Any = importlib.import_module("scipy.sparse.linalg")
    names = ("ArpackError", "ArpackNoConvergence", "eigs", "eigsh", "svds")
    return built("scipy.sparse.linalg.eigen.arpack", {name: getattr(linalg, name) for name in names})


def _private(name: str) -> Module | None:
    public = PUBLIC.get(name)
    return None if public is None else Module(name, "2.0", public)


WINDOWS = "barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine exponential flattop gaussian"
WINDOWS += " general_gaussian hamming hann kaiser nuttall parzen slepian triang tukey"

TABLES = {
    "scipy": Table(
        changes=[
            Name("scipy", "", "sqrt log log2 log10 power arccos arcsin", "1.12",
                 lambda scipy, name: _of_real_numbers(name)),
            Name("scipy", "", "rand randn", "1.12", _random),
            Name("scipy", "", OF_NUMPY, "1.12", _of_numpy),
            Name("scipy.signal", "", WINDOWS, "1.13", lambda signal, name: getattr(signal.windows, name, None)),
            Name("scipy.signal", "", "hanning", "1.13", "windows.hann"),
            Name("scipy.integrate", "", "trapz", "1.14", "trapezoid"),
            Name("scipy.integrate", "", "cumtrapz", "1.14", "cumulative_trapezoid"),
            Name("scipy.integrate", "", "simps", "1.14", _simpson),
            Name("scipy.sparse", "spmatrix", "A", "1.14", _dense),
            Name("scipy.sparse", "spmatrix", "H", "1.14", _adjoint),
            Name("scipy.linalg", "", "pinv2", "1.9", _pinv2),
            Name("scipy.sparse.linalg.eigen", "", "__path__", "1.8", lambda module, name: []),
        ],
        modules=[
            Module("scipy.misc", "1.2", _misc, always=True),
            Module("scipy.sparse.linalg.eigen.arpack", "1.8", _arpack),
        ],
        other=_private,
    ),
}  # fmt: skip
