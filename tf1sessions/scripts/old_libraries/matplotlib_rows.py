"""matplotlib: names and arguments that 2.0 to 3.10 removed."""

from __future__ import annotations

import importlib
from typing import Any

from .rows import Arguments, Name, Table, Wrapped

__all__ = ["TABLES"]


def _get_cmap(cm: Any, name: str) -> Any:
    """A colour map by its name, with ``lut`` colours; maps as they are."""

    def get_cmap(name: Any = None, lut: int | None = None) -> Any:
        matplotlib: Any = importlib.import_module("matplotlib")
        if isinstance(name, matplotlib.colors.Colormap):
            return name
        found = matplotlib.colormaps[name or matplotlib.rcParams["image.cmap"]]
        return found if lut is None else found.resampled(lut)

    return get_cmap


def _tostring_rgb(kind: Any, name: str) -> Any:
    """The pixels of the canvas, row by row, three bytes each."""

    def tostring_rgb(self: Any) -> bytes:
        numpy: Any = importlib.import_module("numpy")
        data: bytes = numpy.asarray(self.buffer_rgba())[..., :3].tobytes()
        return data

    return tostring_rgb


def _set_window_title(kind: Any, name: str) -> Any:
    def set_window_title(self: Any, title: str) -> None:
        if self.manager is not None:
            self.manager.set_window_title(title)

    return set_window_title


def _hold(pyplot: Any, name: str) -> Any:
    """Plots are added to the axes, which ``hold(True)`` meant."""
    return (lambda: True) if name == "ishold" else (lambda b=None: None)


def _style(original: Any, style: Any) -> Any:
    """``seaborn`` and its kinds have a version in their names since 3.6."""
    available = importlib.import_module("matplotlib.style").available

    def new(one: Any) -> Any:
        if isinstance(one, str) and one.startswith("seaborn") and one not in available:
            return f"seaborn-v0_8{one[len('seaborn') :]}"
        return one

    return original([new(one) for one in style] if isinstance(style, (list, tuple)) else new(style))


def _gca(original: Any, self: Any, **named: Any) -> Any:
    """``figure.gca(projection="3d")`` makes the axes where there are none."""
    return self.add_subplot(**named) if named else original(self)


def _pyplot_gca(original: Any, **named: Any) -> Any:
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    return pyplot.gcf().gca(**named)


def _show(original: Any, *args: Any, **named: Any) -> Any:
    """``plt.show(False)`` does not wait; another positional argument, such as a figure, meant nothing."""
    if args and isinstance(args[0], bool):
        named.setdefault("block", args[0])
    return original(**named)


_AXES = "matplotlib.axes"

TABLES = {
    "matplotlib": Table(
        changes=[
            Arguments("matplotlib", "use", "3.3", {"warn": "force"}, values={"warn": lambda warn: True}),
            Arguments(_AXES, "Axes.hist", "3.1", {"normed": "density"}),
            Arguments(_AXES, "Axes.grid", "3.6", {"b": "visible"}),
            Arguments(_AXES, "Axes.bar", "2.2", {"left": "x"}),
            Arguments(_AXES, "Axes.__init__", "2.2", {"axisbg": "facecolor"}),
            Name(_AXES, "Axes", "set_axis_bgcolor", "2.2", "Axes.set_facecolor"),
            Arguments(_AXES, "Axes.set_xscale", "3.5", {"basex": "base", "nonposx": "nonpositive"}),
            Arguments(_AXES, "Axes.set_yscale", "3.5", {"basey": "base", "nonposy": "nonpositive"}),
            Name("matplotlib.cm", "", "get_cmap", "3.9", _get_cmap),
            Name("matplotlib.cm", "", "spectral", "2.2", "nipy_spectral"),
            Name("matplotlib.backend_bases", "FigureCanvasBase", "set_window_title", "3.6", _set_window_title),
            Name("matplotlib.backends.backend_agg", "FigureCanvasAgg", "tostring_rgb", "3.10", _tostring_rgb),
            Wrapped("matplotlib.figure", "Figure.gca", "3.7", _gca),
            Wrapped("matplotlib.pyplot", "gca", "3.7", _pyplot_gca),
            Name("matplotlib.pyplot", "", "hold ishold", "3.0", _hold),
            Wrapped("matplotlib.pyplot", "show", "3.6", _show),
            Wrapped("matplotlib.style", "use", "3.6", _style),
        ]
    )
}
