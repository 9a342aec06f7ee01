"""Libraries with a row or two: PyYAML, matplotlib, seaborn, librosa, moviepy, nose_parameterized."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses, Use
from .. import library_tables
from ..renames import (
    Row,
    argument_edit,
    find_arguments,
    find_method_arguments,
    find_names,
    imports_library,
    method_call,
    spell,
    with_attribute,
)
from ..rule import Change, Remark, Rule

__all__ = ["RULE", "find"]

_TABLE: dict[str, Row] = {
    **library_tables.names("matplotlib"),
    **library_tables.names("seaborn"),
    **library_tables.names("librosa"),
    "matplotlib.cm.get_cmap": Row("matplotlib.pyplot.get_cmap", "matplotlib 3.9"),
    "seaborn.tsplot": Row(None, "seaborn 0.10", remark="seaborn.tsplot() is gone: seaborn.lineplot()."),
    "librosa.output.write_wav": Row(None, "librosa 0.8", remark="librosa.output.write_wav(path, y, sr) is "
                                    "soundfile.write(path, y, sr)."),
}  # fmt: skip
_MODULES: dict[str, Row] = {**library_tables.modules("moviepy"), **library_tables.modules("nose_parameterized")}
#: Arguments that librosa 0.10 takes by their names only.
_NAMED = {
    "librosa.load": ("path", "sr", "mono"),
    "librosa.stft": ("y", "n_fft", "hop_length", "win_length"),
    "librosa.istft": ("stft_matrix", "hop_length", "win_length"),
    "librosa.resample": ("y", "orig_sr", "target_sr"),
    "librosa.effects.time_stretch": ("y", "rate"),
    "librosa.effects.pitch_shift": ("y", "sr", "n_steps"),
    "librosa.feature.melspectrogram": ("", "sr"),
    "librosa.feature.mfcc": ("", "sr"),
}
_FIRST_NAMED = ("librosa.feature.melspectrogram", "librosa.feature.mfcc")


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find what these libraries no longer have."""
    yield from find_names(file, _TABLE, _MODULES)
    yield from find_arguments(file, *library_tables.arguments("matplotlib"))
    yield from find_method_arguments(file, "matplotlib", library_tables.method_arguments("matplotlib"))
    for use in file.uses:
        if use.call is None or not use.direct:
            continue
        if use.symbol in ("yaml.load", "yaml.load_all"):
            yield from _yaml(file, use, use.call)
        elif use.symbol == "matplotlib.use":
            yield from _backend(file, use.call)
        elif use.symbol in ("matplotlib.pyplot.style.use", "matplotlib.style.use"):
            yield from _style(file, use.call)
        elif use.symbol in _NAMED:
            yield from _by_name(file, use, use.call)
    if imports_library(file, "matplotlib"):
        yield from _matplotlib_methods(file)
    if imports_library(file, "gym"):
        statement = next(each.statement for each in file.imports if each.meaning.partition(".")[0] == "gym")
        yield Remark(statement, "Gym is Gymnasium now, whose reset() and step() give more: `tf1sessions run` has "
                     "the old API, and Gymnasium a page on moving.", by_hand=False)  # fmt: skip


def _yaml(file: FileUses, use: Use, call: ast.Call) -> Iterator[Change]:
    """The loader that PyYAML 5.1 chose where none was given."""
    if len(call.args) == 1 and not call.keywords:
        loader = spell(file, use, "yaml.FullLoader")
        end = file.positions.span(call.args[0])[1]
        what = f"{use.symbol}(x): Loader=yaml.FullLoader (PyYAML 6.0)"
        yield Change(use.node, what, (Edit(end, end, f", Loader={loader.text}"),), loader.imports)


def _backend(file: FileUses, call: ast.Call) -> Iterator[Change]:
    for keyword in call.keywords:
        if keyword.arg == "warn":
            edit = argument_edit(file, call, keyword, None)
            yield Change(call, "matplotlib.use(warn=): left out (matplotlib 3.3)", (edit,))


def _style(file: FileUses, call: ast.Call) -> Iterator[Change]:
    for node in ast.walk(call):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value
            if name.startswith("seaborn") and not name.startswith("seaborn-v0_8"):
                new = f"seaborn-v0_8{name.removeprefix('seaborn')}"
                yield Change(
                    node, f'style "{name}": "{new}" (matplotlib 3.6)', (file.positions.replace(node, f'"{new}"'),)
                )


def _matplotlib_methods(file: FileUses) -> Iterator[Change | Remark]:
    for function, call in file.calls.items():
        method = method_call(file, function, "gca", "set_axis_bgcolor", "tostring_rgb")
        if method is not None and method.attr == "gca" and any(each.arg == "projection" for each in call.keywords):
            yield with_attribute(file, method, "add_subplot", "matplotlib 3.7")
        elif method is not None and method.attr == "set_axis_bgcolor":
            yield with_attribute(file, method, "set_facecolor", "matplotlib 2.2")
        elif method is not None and method.attr == "tostring_rgb":
            yield Remark(call, "canvas.tostring_rgb() is np.asarray(canvas.buffer_rgba())[..., :3].tobytes().")
    for use in file.uses:
        if use.symbol == "matplotlib.pyplot.hold" and use.call is not None:
            yield Remark(use.node, "plt.hold() is gone since matplotlib 3.0: plots are added. Leave it out.")


def _by_name(file: FileUses, use: Use, call: ast.Call) -> Iterator[Change]:
    names = _NAMED[use.symbol]
    given = {keyword.arg for keyword in call.keywords}
    edits = []
    for number, (argument, name) in enumerate(zip(call.args, names, strict=False)):
        name = name or "y"
        must = number > 0 or use.symbol in _FIRST_NAMED
        if isinstance(argument, ast.Starred) or (must and name in given):
            return
        if must:
            start = file.positions.span(argument)[0]
            edits.append(Edit(start, start, f"{name}="))
    if edits and len(call.args) <= len(names):
        yield Change(use.node, f"{use.symbol}(): arguments by their names (librosa 0.10)", tuple(edits))


RULE = Rule(
    "small-library-names", "Gives names of PyYAML, matplotlib, seaborn and librosa that are gone their new ones.", find
)
