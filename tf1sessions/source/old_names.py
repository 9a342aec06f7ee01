"""Names of NumPy, Pillow and the standard library that are gone, and what has taken their place: facts for two rooms.

Under `tf1sessions run` scripts/ gives the old names back; `tf1sessions port` writes the new ones. What a name alone
does not say (other arguments, other results) is in those rooms; scripts/old_libraries has tables of other libraries.
"""

from __future__ import annotations

__all__ = ["ABSTRACT", "NUMPY", "PILLOW_FILTERS", "STANDARD_LIBRARY", "TEST_METHODS"]


def _since(release: str, names: dict[str, str]) -> dict[str, tuple[str, str]]:
    return {old: (new, release) for old, new in names.items()}


#: Name in NumPy -> its new one there, or a builtin, and the release without the old one.
NUMPY: dict[str, tuple[str, str]] = {
    **_since("1.24", {
        "int": "builtins.int", "float": "builtins.float", "complex": "builtins.complex", "bool": "builtins.bool",
        "object": "builtins.object", "str": "builtins.str", "long": "builtins.int", "unicode": "builtins.str",
        "bool8": "bool_", "bytes0": "bytes_", "str0": "str_", "object0": "object_", "void0": "void", "int0": "intp",
        "uint0": "uintp", "typeDict": "sctypeDict",
    }),
    **_since("2.0", {
        "Inf": "inf", "Infinity": "inf", "infty": "inf", "PINF": "inf", "NAN": "nan", "NaN": "nan",
        "float_": "float64", "cfloat": "complex128", "complex_": "complex128", "singlecomplex": "complex64",
        "longfloat": "longdouble", "longcomplex": "clongdouble", "clongfloat": "clongdouble", "string_": "bytes_",
        "unicode_": "str_", "product": "prod", "cumproduct": "cumprod", "round_": "round", "mat": "asmatrix",
        "ndfromtxt": "genfromtxt",
        "AxisError": "exceptions.AxisError", "ComplexWarning": "exceptions.ComplexWarning",
        "ModuleDeprecationWarning": "exceptions.ModuleDeprecationWarning", "RankWarning": "exceptions.RankWarning",
        "TooHardError": "exceptions.TooHardError",
        "VisibleDeprecationWarning": "exceptions.VisibleDeprecationWarning",
        "DataSource": "lib.npyio.DataSource", "add_docstring": "lib.add_docstring", "add_newdoc": "lib.add_newdoc",
        "byte_bounds": "lib.array_utils.byte_bounds", "chararray": "char.chararray",
        "compare_chararrays": "char.compare_chararrays", "format_parser": "rec.format_parser",
        "tracemalloc_domain": "lib.tracemalloc_domain",
    }),
}  # fmt: skip

#: Filter of PIL.Image -> its new name, since Pillow 10.
PILLOW_FILTERS = {"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC"}

#: Names of `collections` that are in `collections.abc` only, since Python 3.10.
ABSTRACT = (
    "Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Hashable Iterable Iterator Generator Reversible "
    "Sized Container Callable Collection Set MutableSet Mapping MutableMapping MappingView KeysView ItemsView "
    "ValuesView Sequence MutableSequence"
).split()

#: Method of unittest.TestCase -> its new name, since Python 3.12.
TEST_METHODS = {
    "assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assert_": "assertTrue",
    "assertAlmostEquals": "assertAlmostEqual", "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertRegexpMatches": "assertRegex", "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex", "failUnlessEqual": "assertEqual", "failIfEqual": "assertNotEqual",
    "failUnless": "assertTrue", "failIf": "assertFalse", "failUnlessRaises": "assertRaises",
    "failUnlessAlmostEqual": "assertAlmostEqual", "failIfAlmostEqual": "assertNotAlmostEqual",
}  # fmt: skip

#: Name in the standard library -> its new one, and the Python without the old one.
STANDARD_LIBRARY: dict[str, tuple[str, str]] = {
    **{f"collections.{name}": (f"collections.abc.{name}", "3.10") for name in ABSTRACT},
    **_since("3.9", {
        "fractions.gcd": "math.gcd", "base64.encodestring": "base64.encodebytes",
        "base64.decodestring": "base64.decodebytes",
    }),
    "time.clock": ("time.process_time", "3.8"),
    "configparser.SafeConfigParser": ("configparser.ConfigParser", "3.12"),
    "pipes.quote": ("shlex.quote", "3.13"),
    "imp.reload": ("importlib.reload", "3.12"),
    "imp.new_module": ("types.ModuleType", "3.12"),
}  # fmt: skip
