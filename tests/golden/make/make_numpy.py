"""Write numpy.json.gz: what the small programs of numpy_cases.txt print under NumPy 1.18.

Run it with genuine TensorFlow 1.15.5's environment (NumPy 1.18.5): ``python make_numpy.py OUT.gz``. A program is the
lines below a line ``== NAME``; it knows ``np``. Its outcome is what it prints, and the error's type in which it ends.
tests/scripts/test_numpy.py runs the same programs, by the same functions, under today's NumPy.
"""

import contextlib
import gzip
import io
import json
import os
import sys
import warnings

from folders import CASES

PROGRAMS = os.path.join(CASES, "numpy_cases.txt")


def cases():
    """The programs by their names."""
    with open(PROGRAMS) as file:
        parts = ("\n" + file.read()).split("\n== ")[1:]
    return dict(part.split("\n", 1) for part in parts)


def outcome(name, code, np):
    """What a program prints, and the type of its error in a line of its own."""
    printed = io.StringIO()
    options = np.get_printoptions()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(code, name.replace(" ", "_") + ".py", "exec"), {"np": np})
        except Exception as error:
            printed.write("! " + type(error).__name__)
        finally:
            np.set_printoptions(**options)
            np.seterr(all="warn")
            if hasattr(np, "set_string_function"):
                np.set_string_function(None, repr=False)
    return printed.getvalue()


def outcomes(np):
    """The outcomes of all programs by their names."""
    return {name: outcome(name, code, np) for name, code in cases().items()}


if __name__ == "__main__":
    import numpy

    assert numpy.__version__.startswith("1.18."), numpy.__version__
    text = json.dumps(outcomes(numpy), indent=0, sort_keys=True)
    with open(sys.argv[1], "wb") as out, gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed:
        packed.write(text.encode())
