"""Effects of calls of libraries on values of a program, and reads of what is outside of it.

Known libraries change only what their documentation says. Of others, such as a module beside the program, nothing is
known: their functions may change what they are given, and methods of their objects the object as well.
"""

from __future__ import annotations

import ast
import builtins

from ..requests.graph_code import called_name
from .kinds import Kinds

__all__ = ["changed_arguments", "is_known", "makes_constant", "reads_outside"]

#: Libraries whose functions change none of their arguments, but for those that ``changed_arguments()`` knows.
_KNOWN = frozenset(
    "PIL absl argparse array atexit base64 builtins codecs collections colorama contextlib copy csv datetime decimal "
    "enum fractions functools gc getopt glob gzip hashlib imageio inspect io itertools joblib json keras logging math "
    "matplotlib mpl multiprocessing np numpy operator os pandas pathlib pd pickle platform plt pprint queue random re "
    "scipy seaborn shutil signal six sklearn socket sp statistics string struct subprocess sys tabulate tempfile "
    "tensorflow termcolor textwrap tf tf1sessions threading time timeit tqdm traceback typing unittest urllib uuid "
    "warnings weakref yaml zipfile".split()
)
#: Libraries whose functions give no containers.
_GIVES_CONSTANTS = ("tf.", "os.", "math.", "time.", "re.", "sys.", "argparse.", "tf1sessions.")
_CONSTANTS = frozenset(
    "bool bytes complex float format frozenset hash id input int len ord range repr round str".split()
)
#: Functions of NumPy that take an array for their result -> by which position they may be given it.
_OUTPUTS = dict.fromkeys(
    "abs absolute arccos arcsin arctan cbrt ceil conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs floor invert "
    "isfinite isinf isnan log log10 log1p log2 logical_not negative positive rad2deg radians reciprocal rint sign sin "
    "sinh sqrt square tan tanh trunc".split(),
    1,
)
_OUTPUTS |= dict.fromkeys(
    "add arctan2 bitwise_and bitwise_or bitwise_xor divide dot equal floor_divide fmax fmin fmod greater greater_equal "
    "hypot left_shift less less_equal logaddexp logical_and logical_or logical_xor matmul maximum minimum mod multiply "
    "not_equal outer power remainder right_shift subtract true_divide".split(),
    2,
)
_OUTPUTS |= {
    "around": 2,
    "choose": 2,
    "clip": 3,
    "compress": 3,
    "cumprod": 3,
    "cumsum": 3,
    "mean": 3,
    "sum": 3,
    "take": 3,
}
#: What reads files or the environment; a name with a dot at its end stands for all that begins with it.
_OUTSIDE = (
    "codecs.open", "glob.", "h5py.File", "io.open", "json.load", "np.fromfile", "np.genfromtxt", "np.load",
    "np.loadtxt", "np.memmap", "os.environ", "os.getenv", "os.listdir", "os.path.exists", "os.path.getmtime",
    "os.path.getsize", "os.path.isdir", "os.path.isfile", "os.scandir", "os.stat", "os.walk", "pd.read_",
    "pickle.load", "scipy.io.loadmat", "tf.gfile.", "tf.io.gfile.", "tf.train.latest_checkpoint", "yaml.load",
)  # fmt: skip
_EXACT = frozenset(["json.load", "pickle.load", "yaml.load"])  # their like reads texts


def changed_arguments(kinds: Kinds, call: ast.Call) -> list[ast.expr]:
    """The arguments that a function of a known library surely changes."""
    symbol = kinds.symbol(call.func) or ""
    place = _OUTPUTS.get(symbol.removeprefix("np.")) if symbol.startswith("np.") else None
    found = [] if place is None else call.args[place : place + 1]
    keywords = {each.arg: each.value for each in call.keywords}
    in_place = keywords.get("copy") if symbol == "np.nan_to_num" else None
    is_in_place = isinstance(in_place, ast.Constant) and not in_place.value
    is_overwritten = any((name or "").startswith("overwrite") or name == "inplace" for name in keywords)
    return [*found, *(call.args[:1] if is_in_place or is_overwritten else [])]


def is_known(kinds: Kinds, node: ast.expr) -> bool:
    """Whether an expression is a name of a library that is known here, or of Python."""
    symbol = kinds.symbol(node)
    if symbol is None:
        return isinstance(node, ast.Name) and hasattr(builtins, node.id)
    return symbol.partition(".")[0] in _KNOWN


def makes_constant(kinds: Kinds, call: ast.Call) -> bool:
    """Whether a call gives what nothing can change, as a number."""
    symbol = kinds.symbol(call.func)
    if symbol is None:
        return isinstance(call.func, ast.Name) and call.func.id in _CONSTANTS
    return symbol.startswith(_GIVES_CONSTANTS)


def reads_outside(kinds: Kinds, node: ast.AST) -> bool:
    """Whether an expression reads a file or the environment."""
    symbol = kinds.symbol(node)
    if symbol is not None:
        return symbol.startswith(_OUTSIDE) and not any(symbol != each and symbol.startswith(each) for each in _EXACT)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and called_name(node) in ("open", "input")
