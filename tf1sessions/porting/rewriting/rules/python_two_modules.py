"""Modules of Python 2's standard library, and names in modules, by their addresses in Python 3."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....source.python2 import MODULES
from ....source.uses import FileUses, Use
from ..renames import Row, Spelled, find_names, spell, text_of
from ..rule import Change, Remark, Rule

__all__ = ["RULE", "find"]

_SINCE = "Python 3"


def _rows(old: str, new: str, names: str) -> dict[str, Row]:
    return {f"{old}.{name}": Row(f"{new}.{name}", _SINCE) for name in names.split()}


# -- functions that are methods ---------------------------------------------------------------------------------------


def _as_method(file: FileUses, use: Use) -> Spelled | None:
    """``string.split(text, ",")`` as ``text.split(",")``."""
    call = use.call
    if call is None or not call.args or call.keywords or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    rest = ", ".join(file.positions.source(each) for each in call.args[1:])
    return Spelled(f"{text_of(file, call.args[0], tight=True)}.{use.symbol.rpartition('.')[2]}({rest})")


def _join(file: FileUses, use: Use) -> Spelled | None:
    call = use.call
    if call is None or not call.args or call.keywords or len(call.args) > 2:
        return None
    words = file.positions.source(call.args[0])
    between = text_of(file, call.args[1], tight=True) if len(call.args) > 1 else '" "'
    return Spelled(f"{between}.join({words})")


def _md5(file: FileUses, use: Use) -> Spelled | None:
    if use.call is None:
        return None
    found = spell(file, use, f"hashlib.{use.symbol.partition('.')[0].replace('sha', 'sha1')}")
    rest = ", ".join(file.positions.source(each) for each in use.call.args)
    return Spelled(f"{found.text}({rest})", found.imports)


_STRING_METHODS = "split strip lstrip rstrip lower upper replace find rfind count capitalize zfill ljust rjust center"
_REQUEST = (
    "urlopen Request build_opener install_opener HTTPHandler HTTPSHandler ProxyHandler HTTPCookieProcessor "
    "HTTPBasicAuthHandler HTTPPasswordMgrWithDefaultRealm HTTPRedirectHandler OpenerDirector BaseHandler"
)
_OF_URLLIB = "urlopen urlretrieve urlcleanup pathname2url url2pathname URLopener FancyURLopener getproxies"
_QUOTING = "quote quote_plus unquote unquote_plus urlencode"
_ERRORS = "HTTPError URLError"
_TYPES = {
    "StringType": "str", "UnicodeType": "str", "IntType": "int", "LongType": "int", "FloatType": "float",
    "BooleanType": "bool", "ListType": "list", "TupleType": "tuple", "DictType": "dict", "DictionaryType": "dict",
    "ComplexType": "complex", "ObjectType": "object", "TypeType": "type",
}  # fmt: skip

_TABLE: dict[str, Row] = {
    **_rows("urllib", "urllib.request", _OF_URLLIB),
    **_rows("urllib", "urllib.parse", _QUOTING),
    **_rows("urllib2", "urllib.request", _REQUEST),
    **_rows("urllib2", "urllib.error", _ERRORS),
    **_rows("urllib2", "urllib.parse", _QUOTING),
    **{f"itertools.{old}": Row(f"builtins.{new}", _SINCE)
       for old, new in {"izip": "zip", "imap": "map", "ifilter": "filter"}.items()},
    "itertools.izip_longest": Row("itertools.zip_longest", _SINCE),
    "itertools.ifilterfalse": Row("itertools.filterfalse", _SINCE),
    **{f"string.{name}": Row(f"string.ascii_{name}", _SINCE) for name in ("letters", "lowercase", "uppercase")},
    **{f"string.{name}": Row(None, _SINCE, _as_method, f"string.{name}() is the method {name}() of the text.")
       for name in _STRING_METHODS.split()},
    **{f"string.{name}": Row(None, _SINCE, _join, "string.join(words, sep) is sep.join(words).")
       for name in ("join", "joinfields")},
    "string.maketrans": Row("builtins.str.maketrans", _SINCE),
    "string.atoi": Row("builtins.int", _SINCE),
    "string.atof": Row("builtins.float", _SINCE),
    "os.getcwdu": Row("os.getcwd", _SINCE),
    "sys.maxint": Row("sys.maxsize", _SINCE),
    "sys.exc_clear": Row(None, _SINCE, remark="sys.exc_clear() is gone: leave it out."),
    "operator.div": Row("operator.truediv", _SINCE),
    **{f"types.{old}": Row(f"builtins.{new}", _SINCE) for old, new in _TYPES.items()},
    "types.StringTypes": Row(None, _SINCE, remark="types.StringTypes is str."),
    "types.NoneType": Row(None, _SINCE, remark="types.NoneType is type(None).", by_hand=False),
    "md5.new": Row(None, _SINCE, _md5, "md5.new(x) is hashlib.md5(x), of bytes."),
    "md5.md5": Row("hashlib.md5", _SINCE),
    "sha.new": Row(None, _SINCE, _md5, "sha.new(x) is hashlib.sha1(x), of bytes."),
    "sets.Set": Row("builtins.set", _SINCE),
    "sets.ImmutableSet": Row("builtins.frozenset", _SINCE),
    **_rows("UserDict", "collections", "UserDict"),
    **_rows("UserList", "collections", "UserList"),
    **_rows("UserString", "collections", "UserString"),
    "UserDict.DictMixin": Row("collections.abc.MutableMapping", _SINCE),
    "commands.mkarg": Row(None, _SINCE, remark="commands.mkarg() is shlex.quote()."),
}  # fmt: skip

_MODULES: dict[str, Row] = {
    **{old: Row(new, _SINCE) for old, new in MODULES.items() if old not in ("exceptions",)},
    **{name: Row("PIL." + name, "Pillow") for name in ("Image", "ImageDraw", "ImageFont", "ImageFilter", "ImageOps")},
    "CGIHTTPServer": Row("http.server", _SINCE), "SimpleXMLRPCServer": Row("xmlrpc.server", _SINCE),
    "anydbm": Row("dbm", _SINCE), "dumbdbm": Row("dbm.dumb", _SINCE), "dummy_thread": Row("_dummy_thread", _SINCE),
    "htmlentitydefs": Row("html.entities", _SINCE), "robotparser": Row("urllib.robotparser", _SINCE),
    "thread": Row("_thread", _SINCE), "repr": Row("reprlib", _SINCE), "ttk": Row("tkinter.ttk", _SINCE),
    "Tkconstants": Row("tkinter.constants", _SINCE), "tkFont": Row("tkinter.font", _SINCE),
}  # fmt: skip
del _MODULES["dummy_thread"]
_GONE = frozenset(["md5", "sets", "sha"])
#: What a file of text in memory is given to where it has to be one of bytes.
_OF_BYTES = re.compile(r"\.savefig\(|\bImage\.open\(|\.save\(|\bimsave\(|\bnp\.savez?\(|\bnp\.load\(|\bdecode_image\(")


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find modules of Python 2 in a file. StringIO becomes BytesIO where the file reads or writes pictures with it."""
    own = {each.module for each in file.imports if each.module in _MODULES and _is_beside(file, each.module)}
    modules = {name: row for name, row in _MODULES.items() if name not in own}
    in_memory = "BytesIO" if _OF_BYTES.search(file.source.text) else "StringIO"
    table = {**_TABLE, **{f"{old}.StringIO": Row(f"io.{in_memory}", _SINCE) for old in ("StringIO", "cStringIO")}}
    yield from find_names(file, table, modules, _GONE)


def _is_beside(file: FileUses, name: str) -> bool:
    """Whether the project has a module of this name, which Python 3 finds, too."""
    path = file.source.path
    return any(each.module == name for each in file.siblings) or (
        path.with_name(f"{name}.py").is_file()
        or path.with_name(
            name,
        ).is_dir()
    )


RULE = Rule("python-2-modules", "Imports modules of Python 2's standard library by their names of Python 3.", find)
