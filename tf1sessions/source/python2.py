"""Recognises Python 2, by what Python 3 says about it.

:func:`explain_syntax` is for source that does not compile, :func:`hint` for a program that compiled and then stumbled
over a name that only Python 2 has, or over a module of its own that is Python 2.
"""

from __future__ import annotations

import linecache
import re

from ..errors import PythonTwoError

__all__ = ["MODULES", "explain_syntax", "hint"]

_NEXT_STEP = "Convert a copy with `2to3 -w -n FILE` (Python up to 3.12) or `futurize`, and run that."

# (pattern of a line, what it is); tried on the line that the compiler names first
_CONSTRUCTS = [
    (r"^\s*(.*[:;]\s*)?print\s*$", "the print statement"),
    (r"^\s*(.*[:;]\s*)?print\s+[^=(\s]", "the print statement"),
    (r"^\s*(.*[:;]\s*)?print\s*>>", "the print statement"),
    (r"^\s*(.*[:;]\s*)?print\s*\(.*\)\s*(,|%)", "the print statement"),
    (r"^\s*(.*[:;]\s*)?exec\s+[^=(\s]", "the exec statement"),
    (r"^\s*except\s+[\w.() ,]+,\s*\w+\s*:", "`except Kind, name:`"),
    (r"^\s*raise\s+[\w.]+\s*,", "`raise Kind, value`"),
    (r"(?<![\w.])0[0-7]+(?![\w.])", "an octal number such as 0777"),
    (r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)[lL](?!\w)", "a long number such as 10L"),
    (r"<>", "the operator <>"),
    (r"(?<!\w)[uU][rR]['\"]", "a ur'' string"),
    (r"`[^`]*`", "backquotes for repr()"),
    (r"^\s*def\s+\w+\s*\(.*\(\s*\w+\s*,[^()]*\).*\)\s*:", "a tuple among the parameters"),
    (r"\blambda\s*([^:()]*,\s*)?\(\s*\w+\s*,[^()]*\)[^:()]*:", "a tuple among the parameters"),
]
_MESSAGES = [
    (r"Missing parentheses in call to 'print'", "the print statement"),
    (r"Missing parentheses in call to 'exec'", "the exec statement"),
    (r"multiple exception types must be parenthesized", "`except Kind, name:`"),
    (r"leading zeros in decimal integer literals", "an octal number such as 0777"),
    (r"inconsistent use of tabs and spaces", "tabs mixed with spaces"),
]

_NAMES = {
    "basestring": "str", "cmp": "(a > b) - (a < b)", "coerce": "nothing", "execfile": "exec(open(path).read())",
    "file": "open", "intern": "sys.intern", "long": "int", "raw_input": "input", "reduce": "functools.reduce",
    "reload": "importlib.reload", "unichr": "chr", "unicode": "str", "xrange": "range",
}  # fmt: skip
#: Modules that have another name in Python 3. Of some only the greater part is there: `urllib2`, `commands`.
MODULES = {
    "BaseHTTPServer": "http.server", "ConfigParser": "configparser", "Cookie": "http.cookies",
    "HTMLParser": "html.parser", "Queue": "queue", "SimpleHTTPServer": "http.server",
    "SocketServer": "socketserver", "StringIO": "io",
    "Tkinter": "tkinter", "__builtin__": "builtins", "cPickle": "pickle", "cStringIO": "io", "commands": "subprocess",
    "cookielib": "http.cookiejar", "copy_reg": "copyreg", "exceptions": "builtins", "httplib": "http.client",
    "tkFileDialog": "tkinter.filedialog", "tkMessageBox": "tkinter.messagebox", "urllib2": "urllib.request",
    "urlparse": "urllib.parse", "xmlrpclib": "xmlrpc.client",
}  # fmt: skip
_ATTRIBUTES = {
    "has_key": "`key in d`", "iteritems": "items()", "iterkeys": "keys()", "itervalues": "values()",
    "viewitems": "items()", "viewkeys": "keys()", "viewvalues": "values()", "maxint": "sys.maxsize",
    "getcwdu": "os.getcwd()", "izip": "zip", "imap": "map", "ifilter": "filter", "izip_longest": "zip_longest",
    "letters": "string.ascii_letters", "lowercase": "string.ascii_lowercase", "uppercase": "string.ascii_uppercase",
    "maketrans": "str.maketrans", "urlretrieve": "urllib.request.urlretrieve", "urlopen": "urllib.request.urlopen",
    "urlencode": "urllib.parse.urlencode", "quote": "urllib.parse.quote", "unquote": "urllib.parse.unquote",
    "setdefaultencoding": "nothing: Python 3 is UTF-8", "func_name": "__name__", "im_func": "__func__",
    "im_self": "__self__", "exc_clear": "nothing", "next": "next(iterator)",
}  # fmt: skip


def explain_syntax(source: str, error: SyntaxError) -> PythonTwoError | None:
    """The error to report for ``source``, or None where it is not Python 2 but broken.

    Args:
        source: The text of the file.
        error: What ``compile`` raised for it.

    Example:
        >>> try:
        ...     compile("print 'hello'", "old.py", "exec")
        ... except SyntaxError as error:
        ...     print(explain_syntax("print 'hello'", error).lineno)
        1
    """
    number = error.lineno or 0
    lines = source.splitlines()
    line = lines[number - 1] if 0 < number <= len(lines) else (error.text or "")
    construct = next((what for pattern, what in _MESSAGES if re.search(pattern, error.msg or "")), None)
    if construct is None and not isinstance(error, IndentationError):
        construct = next((what for pattern, what in _CONSTRUCTS if re.search(pattern, _code(line))), None)
    if construct is None:
        return None
    return PythonTwoError(
        f"{error.filename}, line {number}, is Python 2: {construct}\n    {line.strip()}\nThis is Python 3",
        next_step=_NEXT_STEP,
        filename=error.filename,
        lineno=number,
    )


def _code(line: str) -> str:
    """``line`` without its comment and with the text of its strings blanked out."""
    line = re.sub(r"""(['"])(?:\\.|(?!\1).)*\1""", lambda m: m.group(1) * 2, line)
    return line.partition("#")[0]


def hint(error: BaseException) -> str | None:
    """Return the hint below a traceback of ``error`` whose cause is Python 2: a name, or a module's syntax."""
    if isinstance(error, SyntaxError):  # of a module that the program imports
        two = explain_syntax("".join(linecache.getlines(error.filename or "")), error)
        return None if two is None else str(two)
    if isinstance(error, NameError):
        name, table, kind = getattr(error, "name", None), _NAMES, "the function or type"
    elif isinstance(error, TypeError) and 'Did you mean "print(' in str(error):
        return f"This looks like Python 2: `print >>file, text` is print(text, file=file) in Python 3. {_NEXT_STEP}"
    elif isinstance(error, ModuleNotFoundError):
        name, table, kind = error.name, MODULES, "the module"
    elif isinstance(error, AttributeError):
        name, table, kind = getattr(error, "name", None), _ATTRIBUTES, "the attribute"
        if name == "next" and "iterator" not in str(error) and "generator" not in str(error):
            return None
        owner = getattr(error, "obj", None)
        if not (type(owner).__module__ == "builtins" or str(owner).startswith("<module")):
            return None  # an attribute of the program's own
    else:
        return None
    if name is None or name not in table:
        return None
    return f"This looks like Python 2: {kind} {name} is {table[name]} in Python 3. {_NEXT_STEP}"
