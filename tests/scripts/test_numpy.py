"""NumPy 2 under a script: what small programs printed under 1.18, what libraries get, and that NumPy stays whole.

golden/cases/numpy_cases.txt has the programs, golden/make/make_numpy.py recorded what they printed. Here each prints
the same, or is named below, with how one hears of it.
"""

from __future__ import annotations

import gzip
import json
import platform
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import ROOT

from tf1sessions.doctor.check import check
from tf1sessions.source.program import read_text

GOLDEN = ROOT / "tests" / "golden"
VERSION = np.lib.NumpyVersion(np.__version__)

#: Different, and found by a rule of doctor's in the program's text.
FOUND = {
    "ufuncs, float32 array": "numpy-float64-scalar",
    "ufuncs, uint8 array": "numpy-integer-overflow",
    "ufuncs, scalars": "numpy-float32-scalar",
    "integer scalar of beyond": "numpy-integer-overflow",
    "full of beyond": "numpy-integer-overflow",
    "assign beyond": "numpy-integer-overflow",
    "assign beyond, fill": "numpy-integer-overflow",
    "index by list of lists": "numpy-lists-as-index",
    "index by list of slices": "numpy-lists-as-index",
    "index by list, assigned": "numpy-lists-as-index",
    "name np.bool": "numpy-bool-type",
    "name np.long is int": "numpy-bool-type",
    "isinstance of np.bool": "numpy-bool-type",
}
#: Different, and an error that says so.
ERRORS = [
    "binary_repr beyond", "can_cast values", "dtype of generic", "dtype words", "nonzero of 0-d", "numpy.testing names",
    "ragged, shape of", "random choice of ragged", "sctypeDict by code", "set_string_function",
]  # fmt: skip
#: Different, and nothing reports it: migration_notes/fidelity.md lists them.
SILENT = [
    "any of objects", "bool of text", "bool of text numbers", "compare structured", "corrcoef",
    "dtype comparisons to nonsense", "float32 masked", "float32 masked by float64", "floor of integers",
    "floor_divide by zero", "get_printoptions", "percentile of float32", "print slogdet",
    "repr of a widened int32 array", "result_type", "sign of complex",
]  # fmt: skip
#: Different by the processor's instructions, which NumPy can be asked not to use, and its BLAS (the norm of sums).
PROCESSOR = [
    "argpartition", "argsort of equal float32", "argsort of equal values", "argsort of few equal values",
    "functions float32", "functions float64", "sums float32",
]  # fmt: skip
#: Different under another NumPy than 2.4, or another Python than 3.11.
OF_OTHER_VERSIONS = [
    "cross 2-d", "dtype codes", "loadtxt of float texts as int", "lstsq", "numpy.distutils", "powers",
    "private imports",
]  # fmt: skip
#: Instructions that NumPy 1.18 did not use for these.
INSTRUCTIONS = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Prescott"}

RUN = """
import sys
import tf1sessions.scripts
tf1sessions.scripts.install()
sys.path.insert(0, sys.argv[1])
import make_numpy
import numpy as np
report(outcomes=make_numpy.outcomes(np), tensorflow="tensorflow" in sys.modules)
"""


@pytest.fixture(scope="module")
def outcomes(run_python: Callable[..., Any]) -> dict[str, str]:
    results = run_python(RUN, str(GOLDEN / "make"), fresh=True).results
    assert not results["tensorflow"]
    return results["outcomes"]


@pytest.fixture(scope="module")
def of_1_18() -> dict[str, str]:
    return json.loads(gzip.decompress((GOLDEN / "data" / "numpy.json.gz").read_bytes()))


def test_programs_print_what_they_printed(outcomes: dict[str, str], of_1_18: dict[str, str]) -> None:
    named = {*FOUND, *ERRORS, *SILENT, *PROCESSOR}
    assert list(outcomes) and outcomes.keys() == of_1_18.keys() and named <= outcomes.keys()
    if not (VERSION >= "2.4.0" and VERSION < "2.5.0" and sys.version_info[:2] == (3, 11)):
        named.update(OF_OTHER_VERSIONS)
    assert {name: outcomes[name] for name in of_1_18.keys() - named if outcomes[name] != of_1_18[name]} == {}


@pytest.mark.skipif(VERSION < "2.4.0", reason="of earlier versions some are as they were")
def test_what_is_named_as_different_is(outcomes: dict[str, str], of_1_18: dict[str, str]) -> None:
    assert [name for name in [*FOUND, *ERRORS, *SILENT] if outcomes[name] == of_1_18[name]] == []
    assert [name for name in ERRORS if "! " not in outcomes[name]] == []
    assert [name for name in SILENT if "! " in outcomes[name]] == []


@pytest.mark.parametrize(("name", "rule"), FOUND.items())
def test_doctor_finds_it(name: str, rule: str) -> None:
    sys.path.insert(0, str(GOLDEN / "make"))
    try:
        import make_numpy
    finally:
        sys.path.remove(str(GOLDEN / "make"))
    found = check(read_text("import numpy as np\n" + make_numpy.cases()[name], "program.py"))
    assert rule in [finding.rule for finding in found]


@pytest.mark.skipif(
    VERSION < "2.4.0" or platform.machine() != "x86_64" or sys.platform != "linux", reason="instructions of x86-64"
)
def test_instructions_that_make_the_difference(run_python: Callable[..., Any], of_1_18: dict[str, str]) -> None:
    found = run_python(RUN, str(GOLDEN / "make"), env=INSTRUCTIONS).results["outcomes"]
    assert {name: found[name] for name in PROCESSOR if found[name] != of_1_18[name]} == {}


#: Scripts have either rules; names they have in any case.
CHOSEN = """
import numpy as np
from tf1sessions.errors import UsageError
from tf1sessions.scripts import numpy_compat
try:
    numpy_compat.apply()
    report(kind=str((np.ones(2, np.float32) * np.sqrt(2.0)).dtype), old_name=np.float is float)
except UsageError as error:
    report(error=str(error))
"""


# -- what libraries get -----------------------------------------------------------------------------------------------

#: Prints the same from anywhere but a program's own file.
LIBRARY = """
import numpy as np
def look():
    x = np.ones(2, np.float32)
    def error(call):
        try:
            call()
        except Exception as error:
            return type(error).__name__
    return [str((x * np.float64(2)).dtype), str((np.sqrt(2.) * x).dtype), str((np.float32(1) + 1.5).dtype),
            bool(np.float32(0.1) == 0.1), error(lambda: np.array([200], np.uint8) + 300),
            error(lambda: x == np.ones(3)), np.linspace(-1, 0, 4, dtype=int).tolist(), type(np.meshgrid([1])).__name__,
            str(np.where(x > 0, x, np.float64(0)).dtype), error(lambda: np.array([-1], np.uint8)),
            bool(np.issubdtype(np.int32, int)), type(round(np.float64(2.5))).__name__]
"""
LIBRARIES = """
import os, sys
folder = os.path.join(os.getcwd(), "site-packages")
os.mkdir(folder)
for name in ("a_library", "one_of_mine"):
    with open(os.path.join(folder if name == "a_library" else os.getcwd(), name + ".py"), "w") as file:
        file.write(sys.argv[1])
sys.path[:0] = [folder, os.getcwd()]
import a_library
before = a_library.look()
import tf1sessions.scripts
tf1sessions.scripts.install()
import one_of_mine
report(before=before, library=a_library.look(), program=one_of_mine.look())
"""


@pytest.mark.skipif(VERSION < "2.4.0", reason="the results of NumPy 2")
def test_libraries_get_what_they_got_and_modules_beside_the_program_the_old(run_python: Callable[..., Any]) -> None:
    found = run_python(LIBRARIES, LIBRARY, fresh=True).results
    assert found["library"] == found["before"]
    assert found["before"] == [
        "float64", "float64", "float32", True, "OverflowError", "ValueError", [-1, -1, -1, 0], "tuple", "float64",
        "OverflowError", False, "int",
    ]  # fmt: skip
    assert found["program"] == [
        "float32", "float32", "float64", False, None, None, [-1, 0, 0, 0], "list", "float32", None, True, "float64",
    ]  # fmt: skip


#: Python 3.13 does it in the children that multiprocessing forks.
FORGETFUL = """
import atexit, gc
import tf1sessions.scripts
tf1sessions.scripts.install()
import numpy as np
atexit._clear()
gc.collect()
held = [[type("C", (), {})() for _ in range(20)] for _ in range(2000)]  # in the memory of whatever has gone
report(kind=str((np.ones(2, np.float32) * np.sqrt(2.0)).dtype))
"""


def test_operators_stay_where_what_was_registered_for_the_end_is_forgotten(run_python: Callable[..., Any]) -> None:
    assert run_python(FORGETFUL, fresh=True).results == {"kind": "float32"}


# -- NumPy stays whole ------------------------------------------------------------------------------------------------

WHOLE = """
import copy, gc, inspect, os, pickle, sys, threading
import tf1sessions.scripts
tf1sessions.scripts.install()
import numpy as np
from tf1sessions.scripts import numpy_compat, numpy_operators
numpy_compat.apply()  # again

class Aside:  # takes over, as a tensor or a symbol does
    __array_ufunc__ = None
    def __add__(self, other): return "aside"
    __radd__ = __mul__ = __rmul__ = __eq__ = __lt__ = __gt__ = __add__
class Weighty:
    __array_priority__ = 100
    def __add__(self, other): return "weighty"
    __radd__ = __mul__ = __rmul__ = __add__
class Sub(np.ndarray): pass
class Scalar(np.float32): pass
def error(call):
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__
x, f = np.ones(2, np.float32), np.float32(2)
report(
    others=[x + Aside(), Aside() * x, f + Aside(), Aside() + f, x == Aside(), f < Aside(), np.float64(1) + Aside(),
            x + Weighty(), Weighty() + f, f * Weighty()],
    errors=[error(lambda: f + "a"), error(lambda: f + None), error(lambda: x + object()), error(lambda: f + []),
            error(lambda: x @ 2), error(lambda: np.ones(2) + np.ones(3)), error(lambda: float(np.ones(2))),
            error(lambda: bool(np.ones(2))), error(lambda: float(np.array(["a"]))), error(lambda: f ** "a")],
    subclasses=[type(x.view(Sub) * np.float64(2)).__name__, str((x.view(Sub) * np.float64(2)).dtype),
                float(np.array([2.5]).view(Sub)), type(Scalar(1) + 1.5).__name__, repr(0.1 + Scalar(0.1)),
                float(np.ma.array([1.5])), bool(np.array([]).view(Sub))],
    others_of_numpy=[str(np.datetime64("2016-01-01") + np.timedelta64(1, "D")), str(np.longdouble(1) + 1.5),
                     str(np.array(["2016-01-01"], "M8[D]") + 1), (np.array([{1}], object) | {2}).tolist() == [{1, 2}]],
    hashes=[{1.5: "a"}[np.float32(1.5)], {np.int64(1): "b"}[1], len({np.float32(0.5), 0.5})],
    reduced=[float(np.add.reduce(x)), float(x.sum()), x.cumsum().tolist(), float(x.mean()), x.round(1).tolist(),
             (-x).tolist(), abs(-x).tolist(), (x ** 2).tolist(), (x @ x).item()],
    functions=[pickle.loads(pickle.dumps(np.linspace)) is np.linspace, copy.deepcopy(np.sum) is np.sum,
               pickle.loads(pickle.dumps(np.linalg.solve)) is np.linalg.solve,
               "endpoint" in inspect.signature(np.linspace).parameters, "evenly" in np.linspace.__doc__],
    immutable=[error(lambda: setattr(owner, "tf1", 1)) for owner in (np.float32, np.ndarray, np.int8)],
)

import warnings
big, place = np.full(2, 3e38, np.float32), []
def overflows():
    with warnings.catch_warnings(record=True) as caught:
        for _ in range(2): big + big; big * 2.0; np.float32(3e38) * np.float32(9)
    first = overflows.__code__.co_firstlineno
    return [(os.path.basename(one.filename), one.lineno - first, str(one.message)) for one in caught]
def raised():
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=RuntimeWarning)
        return error(lambda: big + big)
filters = pickle.loads(pickle.dumps(warnings.filters))  # as joblib hands them to its workers
report(warned=overflows(), raised=raised(), filters=len(filters) == len(warnings.filters))

table = {}  # as libraries with arrays of their own have one
class Own:
    def __array_function__(self, function, types, args, kwargs): return table[function](*args, **kwargs)
table[np.linspace], table[np.sum] = (lambda *a, **k: "linspace"), (lambda *a, **k: "sum")
report(table=[np.sum(Own()), np.linspace(Own(), 1)])

wrong, counts = [], []
def work():  # in threads, with garbage collected beneath
    for turn in range(3000):
        if repr(0.5 + np.float32(0.1)) != "0.6000000014901161" or (x * np.float64(3)).dtype != np.float32 \\
                or float(np.array([1.5])) != 1.5 or (np.array([200], np.uint8) + 300)[0] != 500:
            wrong.append(turn)
    counts.append(turn)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for _ in range(20): gc.collect()
for thread in threads: thread.join()
report(wrong=wrong, threads=len(counts))

def references(n):
    for _ in range(n):
        x * np.float64(2), x + 1, f + 1.5, 1 - f, x == x, float(np.array([1.5])), bool(np.array([]))
        try: x + np.ones(3)
        except ValueError: pass
references(10)
gc.collect()
before = sys.getrefcount(x), sys.getrefcount(f), sys.getrefcount(None), len(gc.get_objects())
references(1000)
gc.collect()
after = sys.getrefcount(x), sys.getrefcount(f), sys.getrefcount(None), len(gc.get_objects())
report(leaked=[b - a for a, b in zip(before, after)])
try:
    import ml_dtypes
    report(bfloat16=[str(ml_dtypes.bfloat16(1) + 1.5), str(x * ml_dtypes.bfloat16(2)), str(ml_dtypes.bfloat16(2) * x)])
except ImportError:
    report(bfloat16=None)
"""


@pytest.fixture(scope="module")
def whole(run_python: Callable[..., Any]) -> dict[str, Any]:
    return run_python(WHOLE, fresh=True).results


def test_operands_of_other_kinds(whole: dict[str, Any]) -> None:
    assert whole["others"] == ["aside"] * 7 + ["weighty"] * 3
    assert whole["errors"] == [
        "UFuncTypeError", "TypeError", "TypeError", "[]", "ValueError", "ValueError", "TypeError", "ValueError",
        "ValueError", "TypeError",
    ]  # fmt: skip
    assert whole["others_of_numpy"] == ["2016-01-02", "2.5", "['2016-01-02']", True]
    if whole["bfloat16"] is not None:
        assert whole["bfloat16"] == ["2.5", "[2. 2.]", "[2. 2.]"]


def test_subclasses_and_scalars_as_keys(whole: dict[str, Any]) -> None:
    assert whole["subclasses"] == ["Sub", "float32", 2.5, "float64", "0.20000000149011612", 1.5, False]
    assert whole["hashes"] == ["a", "b", 1]
    assert whole["immutable"] == ["TypeError"] * 3


def test_what_numpy_uses_its_operators_for_itself(whole: dict[str, Any]) -> None:
    assert whole["reduced"] == [2.0, 2.0, [1.0, 2.0], 1.0, [1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, 1.0], 2.0]


def test_functions_are_pickled_found_and_shown_as_numpys_own(whole: dict[str, Any]) -> None:
    assert whole["functions"] == [True] * 5
    assert whole["table"] == ["sum", "linspace"]


@pytest.mark.skipif(VERSION < "2.0.0", reason="has NumPy 1's rules itself")
@pytest.mark.parametrize(("rules", "kind"), [(None, "float32"), ("1", "float32"), ("2", "float64"), ("3", "refused")])
def test_rules_can_be_chosen(run_python: Callable[..., Any], rules: str | None, kind: str) -> None:
    found = run_python(CHOSEN, env={"TF1SESSIONS_NUMPY": rules}).results
    if kind == "refused":
        assert found["error"].startswith("its value is '3' (from the environment variable TF1SESSIONS_NUMPY). Give 1,")
    else:
        assert (found["kind"], found["old_name"]) == (kind, True)


def test_threads_and_references(whole: dict[str, Any]) -> None:
    assert (whole["wrong"], whole["threads"]) == ([], 4)
    assert all(abs(count) < 20 for count in whole["leaked"])


def test_warnings_name_the_line_of_the_program_once(whole: dict[str, Any]) -> None:
    assert whole["warned"] == [["code.py", 2, f"overflow encountered in {name}"] for name in ("add", "multiply")] + [
        ["code.py", 2, "overflow encountered in scalar multiply"]
    ]
    assert whole["raised"] == "RuntimeWarning"
    assert whole["filters"]


def test_filters_of_warnings_have_patterns_as_those_of_others(run_python):
    """scikit-learn reads them, to give its workers the same filters."""
    code = """
        import re, warnings
        import tf1sessions.scripts
        tf1sessions.scripts.install()
        import numpy
        parts = [part for one in warnings.filters for part in (one[1], one[3]) if part is not None]
        patterns = [part if isinstance(part, str) else part.pattern for part in parts]
        report(compiled=[bool(re.compile(pattern)) for pattern in patterns], ours=patterns.count("(?!)"))
    """
    found = run_python(code, fresh=True).results
    assert all(found["compiled"]) and found["ours"] == 2
