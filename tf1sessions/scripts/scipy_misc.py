"""scipy.misc: the image functions that SciPy had up to 1.2, on top of Pillow.

Used by TF1 programs to read and write pictures. The module is made when a program imports ``scipy.misc``; without
Pillow installed its functions raise the ImportError of Pillow.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["module"]

_RESAMPLING = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}


def _bytescale(data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0) -> Any:
    """``data`` as uint8: [cmin, cmax] (default: its own range) scaled to [low, high]. uint8 stays as it is."""
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    if cmax < cmin:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scale = float(high - low) / (float(cmax - cmin) or 1.0)
    return ((data - cmin) * scale + low).clip(low, high).round().astype(np.uint8)


def _toimage(arr: Any, high: int = 255, low: int = 0, cmin: Any = None, cmax: Any = None, **rest: Any) -> Any:
    """A Pillow image of an array [H, W], [H, W, 3 or 4] or [3 or 4, H, W]."""
    from PIL import Image

    if rest.get("pal") is not None or rest.get("mode") not in (None, "L", "RGB", "RGBA"):
        raise NotImplementedError("toimage: palettes and modes other than L, RGB and RGBA are not supported")
    data = np.asarray(arr)
    if data.ndim == 3 and data.shape[2] not in (3, 4) and data.shape[0] in (3, 4):
        data = data.transpose(1, 2, 0)
    if data.ndim != 2 and (data.ndim != 3 or data.shape[2] not in (3, 4)):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    return Image.fromarray(_bytescale(data, cmin, cmax, high, low))


def _fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> Any:
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def _imread(name: Any, flatten: bool = False, mode: str | None = None) -> Any:
    from PIL import Image

    with Image.open(name) as im:
        return _fromimage(im, flatten, mode)


def _imsave(name: Any, arr: Any, format: str | None = None) -> None:
    _toimage(arr).save(name, format)


def _imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> Any:
    """``size``: a fraction, an integer in percent, or (height, width)."""
    im = _toimage(arr, mode=mode)
    if np.issubdtype(np.asarray(size).dtype, np.signedinteger) and np.ndim(size) == 0:
        shape = tuple(np.asarray(im.size) * (float(size) / 100.0))
    elif np.ndim(size) == 0:
        shape = tuple(np.asarray(im.size) * float(size))
    else:
        shape = (size[1], size[0])
    return _fromimage(im.resize(tuple(int(n) for n in shape), _RESAMPLING[interp]))


def _imrotate(arr: Any, angle: float, interp: str = "bilinear") -> Any:
    return _fromimage(_toimage(arr).rotate(angle, resample=_RESAMPLING[interp]))


def module() -> ModuleType:
    """The module ``scipy.misc``; needs SciPy."""
    special = importlib.import_module("scipy.special")

    made = ModuleType("scipy.misc", __doc__)
    made.__dict__.update(
        bytescale=_bytescale,
        comb=special.comb,
        factorial=special.factorial,
        fromimage=_fromimage,
        imread=_imread,
        imresize=_imresize,
        imrotate=_imrotate,
        imsave=_imsave,
        logsumexp=special.logsumexp,
        toimage=_toimage,
    )
    return made
