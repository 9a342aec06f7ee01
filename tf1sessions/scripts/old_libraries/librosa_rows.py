"""librosa: positional arguments, which 0.10 refuses, and functions that 0.7 to 0.10 removed."""

from __future__ import annotations

import importlib
import wave
from typing import Any

from .rows import Name, Positional, Table, built

__all__ = ["TABLES"]

# Modules that define what programs call.
_MODULES = (
    "beat core.audio core.constantq core.convert core.fft core.harmonic core.pitch core.spectrum decompose display "
    "effects feature.inverse feature.rhythm feature.spectral feature.utils filters onset segment sequence util.utils"
)


def _write_wav(path: Any, y: Any, sr: int, norm: bool = False) -> None:
    """Write a wave file of ``y`` ([n] or [2, n]), of 32-bit floats as then; ``norm`` scales it to its largest value."""
    numpy: Any = importlib.import_module("numpy")
    data = numpy.asarray(y)
    if norm and data.dtype.kind == "f":
        data = data / (numpy.abs(data).max() or 1.0)
    if data.dtype.kind == "f":
        importlib.import_module("scipy.io.wavfile").write(path, sr, data.T.astype(numpy.float32))
        return
    with wave.open(path, "wb") as file:
        file.setparams((1 if data.ndim == 1 else len(data), data.dtype.itemsize, int(sr), 0, "NONE", ""))
        file.writeframes(numpy.ascontiguousarray(data.T).tobytes())


TABLES = {
    "librosa": Table(
        changes=[
            Name("librosa", "", "output", "0.8", lambda *_: built("librosa.output", {"write_wav": _write_wav})),
            Name("librosa.feature.spectral", "", "rmse", "0.7", "rms"),
            Name("librosa.feature", "", "rmse", "0.7", "rms"),
            Name("librosa.display", "", "waveplot", "0.10", "waveshow"),
            Name("librosa.core", "", "logamplitude", "0.6", "power_to_db"),
            Name("librosa", "", "logamplitude", "0.6", "power_to_db"),
            *(Positional(f"librosa.{name}", "0.10") for name in _MODULES.split()),
        ]
    )
}
