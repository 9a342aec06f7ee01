"""Modules and functions that Python, setuptools and the package "future" had, and pickles of Python 2."""

from __future__ import annotations

CODE = r"""
    import sys
    import tf1sessions.scripts
    tf1sessions.scripts.install()
    import configparser, io, locale, os, pickle, _pickle
    import xml.etree.cElementTree as ET
    from future.standard_library import install_aliases
    install_aliases()
    from future.moves.urllib import request
    from future.moves.urllib.parse import quote
    from past.builtins import xrange
    from tf1sessions.scripts import stdlib_compat

    def fails(call):
        try:
            return call()
        except Exception as error:
            return type(error).__name__

    # pickle.dumps({"a": "\xff"}) of Python 2, and the same of ASCII alone
    of_python_2, ascii_only = b"(dp0\nS'a'\np1\nS'\\xff'\np2\ns.", b"(dp0\nS'a'\np1\nS'b'\np2\ns."
    with open("data.pkl", "wb") as file:
        file.write(b"xy" + of_python_2)
    with open("data.pkl", "rb") as file:
        file.read(2)
        from_file = pickle.load(file)
    os.makedirs("site-packages")
    with open("site-packages/reader.py", "w") as file:
        file.write("import pickle\ndef read(file): return pickle.load(file)\n")
    sys.path.insert(0, "site-packages")
    import reader
    class Pipe(io.BytesIO):
        def tell(self): raise OSError("a pipe")
    resources = stdlib_compat._GONE["pkg_resources"]()
    report(
        text=[ET.fromstring("<a><b/></a>").find("b").tag, locale.format("%d", 1234), quote("a b"), len(xrange(3)),
              callable(request.urlopen)],
        parser=[issubclass(configparser.SafeConfigParser, configparser.ConfigParser),
                callable(configparser.ConfigParser().readfp)],
        pickles=[from_file, pickle.load(io.BytesIO(of_python_2)), pickle.load(io.BytesIO(ascii_only)),
                 list(pickle.load(io.BytesIO(of_python_2), encoding="bytes"))[0].decode(),
                 fails(lambda: pickle.load(io.BytesIO(of_python_2), encoding="ascii")),
                 fails(lambda: pickle.load(Pipe(of_python_2))), fails(lambda: reader.read(io.BytesIO(of_python_2))),
                 fails(lambda: pickle.load(io.BytesIO(b"")))],
        function=[pickle.load is _pickle.load, pickle.loads(pickle.dumps(pickle.load)) is pickle.load],
        resources=[resources["get_distribution"]("numpy").version != "", resources["parse_version"]("1.10")
                   > resources["parse_version"]("1.9"), resources["resource_exists"]("json", "decoder.py"),
                   fails(lambda: resources["get_distribution"]("no-such-distribution")),
                   b"JSON" in resources["resource_string"]("json", "__init__.py")],
        loaded=[name for name in ("numpy", "tensorflow") if name in sys.modules],
    )
"""


def test_what_python_had(run_python):
    found = run_python(CODE, fresh=True).results
    assert found["text"] == ["b", "1234", "a%20b", 3, True] and found["parser"] == [True, True]
    latin = {"a": "\xff"}
    assert found["pickles"] == [
        latin, latin, {"a": "b"}, "a", "UnicodeDecodeError", "UnicodeDecodeError", "UnicodeDecodeError", "EOFError",
    ]  # fmt: skip
    assert found["function"] == [True, True]
    assert found["resources"] == [True, True, True, "PackageNotFoundError", True]
    assert found["loaded"] == []
