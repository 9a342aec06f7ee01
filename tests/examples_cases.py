"""The example programs, the text that TensorFlow 1.15.5 printed for them, and
how much a run elsewhere may differ from it.

This file must stay readable by Python 3.7: ``golden/make/make_examples.py`` uses
the same table there.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent
EXAMPLES = TESTS.parent / "examples"
GOLDENS = TESTS / "golden" / "data" / "examples"


@dataclass(frozen=True)
class Case:
    """One run of an example, and what its standard output must look like."""

    name: str
    script: str
    args: tuple[str, ...]
    rtol: float
    atol: float
    why: str

    @property
    def path(self) -> Path:
        return EXAMPLES / self.script

    @property
    def golden(self) -> Path:
        return GOLDENS / (self.name + ".txt")

    def differences(self, text: str) -> list[str]:
        """What in `text` is not as TensorFlow 1.15.5 printed it."""
        return compare(self.golden.read_text(encoding="utf-8"), text, self.rtol, self.atol)


# The absolute part of a tolerance is a little more than one unit of the last
# digit printed: two values that differ in their tenth digit may be rounded to
# neighbours.  Every program was also run on 1.15.5 with one input changed by a
# millionth (while_loop_orbits: by 1e-13), without flags, and printed the same
# text (gan_digits: but for five last digits), so that the rounding of other
# kernels is not magnified either.  On today's TensorFlow all print the same
# text, to the last digit, with one thread and with two, and where oneDNN was
# asked to use no AVX-512.
CASES = [
    Case("digits_cnn", "digits_cnn.py", (), 1e-5, 1.5e-3,
         "softmax, elu and the order of sums in the gradients; 3 decimals at worst"),
    Case("digits_cnn_flags", "digits_cnn.py",
         ("--steps=100", "--batch_size=32", "--dropout=0.5", "--logdir=logs"), 1e-5, 1.5e-3,
         "as digits_cnn; flags, and a log directory relative to the working directory"),
    Case("char_rnn", "char_rnn.py", (), 1e-5, 1.5e-3,
         "tanh, exp and log over 360 steps of Adam; costs to 3 decimals; the sampled text is exact"),
    Case("csv_queue_regression", "csv_queue_regression.py", (), 1e-5, 1.5e-4,
         "linear model, sums in another order; weights to 4 decimals"),
    Case("iris_dataset_iterator", "iris_dataset_iterator.py", (), 1e-5, 1.5e-4,
         "tanh and softmax over 600 steps; losses to 4 decimals"),
    Case("while_loop_orbits", "while_loop_orbits.py", (), 1e-5, 1.5e-5,
         "64-bit throughout; only the last digit of sin, cos and sqrt can differ"),
    Case("batchnorm_mlp", "batchnorm_mlp.py", (), 1e-5, 1.5e-4,
         "batch moments and softmax over 540 steps; losses to 4 decimals"),
    Case("monitored_session", "monitored_session.py", (), 1e-5, 1.5e-4,
         "softmax over 600 steps; losses to 4 decimals"),
    Case("monitored_session_flags", "monitored_session.py",
         ("--checkpoint_dir=ckpt", "--first_stop=60", "--last_step=150", "--batch_size", "40"),
         1e-5, 1.5e-4,
         "as monitored_session; checkpoints in a directory relative to the working directory"),
    Case("gan_digits", "gan_digits.py", (), 1e-5, 2.5e-3,
         "two networks against each other magnify rounding somewhat; 3 decimals"),
    Case("two_queues", "two_queues.py", (), 1e-6, 1.5e-3,
         "64-bit sums, in whatever order the threads are; 3 decimals"),
    Case("string_queue", "string_queue.py", (), 1e-6, 1e-6,
         "counts, and what Python makes of them"),
]  # fmt: skip

# Programs on this library's own interface, which print what the example of the same name prints.
PIPELINES = sorted((EXAMPLES / "pipelines").glob("*.py"))

_NUMBER = re.compile(
    r"""(?<![\w.])            # not inside a word, a version or another number
        (?:(?<![\w.)\]])[-+])?
        (?:\d+\.\d+|\.\d+|\d+)
        (?:[eE][-+]?\d+)?
        (?!\w)""",
    re.VERBOSE,
)


def _split(line: str) -> tuple[list[str], list[str]]:
    """The words around the numbers of a line, and the numbers as written.

    Next to a number any amount of blanks counts as one: formats pad.
    """
    numbers = _NUMBER.findall(line)
    words = _NUMBER.split(line)
    for i, word in enumerate(words):
        if i > 0:
            word = re.sub(r"^[ \t]+", " ", word)
        if i < len(words) - 1:
            word = re.sub(r"[ \t]+$", " ", word)
        words[i] = word
    return words, numbers


def _is_count(number: str) -> bool:
    return number.lstrip("+-").isdigit()


def compare(golden_text: str, text: str, rtol: float, atol: float) -> list[str]:
    """The differences between two printed texts, line by line; none: `[]`.

    The words between the numbers must be equal.  A number b in place of a
    must satisfy ``|a - b| <= atol + rtol * |a|``; where one of the two is
    written as a whole number (a count, a step), both must be equal.
    ``nan`` and ``inf`` are words.
    """
    found: list[str] = []
    lines = itertools.zip_longest(golden_text.splitlines(), text.splitlines())
    for n, (want, got) in enumerate(lines, 1):
        if got is None:
            found.append(f"line {n}: missing: {want!r}")
            continue
        if want is None:
            found.append(f"line {n}: unexpected: {got!r}")
            continue
        want_words, want_numbers = _split(want)
        got_words, got_numbers = _split(got)
        if want_words != got_words:
            found.append(f"line {n}: expected {want!r}, got {got!r}")
            continue
        for a, b in zip(want_numbers, got_numbers, strict=True):
            x, y = float(a), float(b)
            if _is_count(a) or _is_count(b):
                if x != y:
                    found.append(f"line {n}: expected {a}, got {b} (whole number) in {got!r}")
            # Differences of printed decimals are not exact in binary.
            elif not abs(x - y) <= (atol + rtol * abs(x)) * (1 + 1e-9):
                found.append(
                    f"line {n}: expected {a}, got {b} "
                    f"(off by {abs(x - y):.3g}, allowed {atol + rtol * abs(x):.3g}) in {got!r}"
                )
    return found
