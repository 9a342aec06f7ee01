"""The lines of TOML texts, and what is refused before it is parsed."""

from __future__ import annotations

import sys

import pytest

from tf1sessions.scripts.toml_lines import TOO_DEEP, TOO_LONG, TOO_MANY_PARTS, TomlLines, TooMuch

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = '''# a comment = 1
title = "a # [b]"   # [c]
[defaults]
args = [
  "x = 1",  # not a key
  """
[[job]]
""",
]
env."A.B" = "1"

[[job]]
'script' = 'a\\'
settings = {threads = 1, retries = [1, 2]}
[job.grid]
rate = [0.1,
  0.2]
[[job]]
script = """"quoted""\\""""
name = \'\'\'
[job]\'\'\'
'''


def test_lines_of_keys() -> None:
    tomllib.loads(TEXT)
    lines = TomlLines(TEXT)
    for line, *path in (
        (2, "title"),
        (3, "defaults"),
        (4, "defaults", "args"),
        (10, "defaults", "env", "A.B"),
        (10, "defaults", "env", "other"),  # what is nearest around it
        (12, "job"),
        (12, "job", 1),
        (13, "job", 1, "script"),
        (14, "job", 1, "settings", "threads"),
        (16, "job", 1, "grid", "rate"),
        (18, "job", 2),
        (19, "job", 2, "script"),
        (20, "job", 2, "name"),
        (1, "nothing"),
    ):
        assert lines.of(*path) == line, path  # type: ignore[arg-type]
    assert lines.last == 21
    assert [TomlLines(text).last for text in ("", "x", "x\n", "x\ny")] == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\nx = " + "[" * (TOO_DEEP + 1), 2),
        ("x = [\n" + "{a = [" * TOO_DEEP, 2),
        ("\n\n" + "a." * TOO_MANY_PARTS + "a = 1", 3),
        ("[" + "a." * TOO_MANY_PARTS + "a]", 1),
        ("x = {\n" + " a ." * (TOO_MANY_PARTS + 1), 2),
        ("x = 0x" + "f" * TOO_LONG, 1),
        ("x = [1,\n" + "9" * (TOO_LONG + 1) + "]", 2),
    ],
)
def test_too_much(text: str, line: int) -> None:
    with pytest.raises(TooMuch) as caught:
        TomlLines(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * TOO_DEEP + "]" * TOO_DEEP,
        "a." * (TOO_MANY_PARTS - 1) + "a = 1",
        'x = "' + "[" * 100 + "." * 100 + "9" * 2000 + '"',
        "x = '''" + "[\n" * 100 + "." * 100 + "'''",
        "# " + "[" * 100 + "." * 100 + "9" * 2000,
        "x = [" + "1.5, " * 100 + "]",
        'x = """a\\"""' + "[" * 100 + '"""',
        "\n".join(f"[a{number}.b]\nc.d = 1.5" for number in range(100)),
    ],
)
def test_near_misses(text: str) -> None:
    TomlLines(text)
    tomllib.loads(text)
