"""Reads a TOML job file: many jobs with arguments, environment, settings and a grid of parameters.

::

    [defaults]                      # optional; any key of a job but script, module, name and grid
    args = ["--data=digits.npz"]    # comes before a job's own
    env = {SEED = "1"}              # a job's own variables are added
    settings = {time_limit = 600}   # a job's own settings are added

    [[job]]
    script = "train.py"             # or module = "package.train"; relative to the job file
    args = ["--epochs=3"]
    cwd = "work"                    # relative to the job file; by default the folder you start the run in
    repeat = 2                      # each combination twice; {repeat} is 0, then 1
    [job.grid]                      # every combination is a job of its own
    rate = [0.1, 0.01]              # "--rate=0.1" at the end of args, unless {rate} stands in args or env
    units = [32, 64]

Flow: TOML, whose lines are noted -> each table checked key by key -> defaults merged -> grid and repeat counted, then
multiplied out -> :class:`Job`.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from errno import EFBIG
from pathlib import Path
from typing import Any, NoReturn

from tf1sessions import files
from tf1sessions.errors import JobFileError
from tf1sessions.scripts.jobs import MAX_JOBS, MAX_TEXT, Job, JobSettings, check_setting
from tf1sessions.scripts.toml_lines import TomlLines, TooMuch
from tf1sessions.texts import brief

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["MAX_BYTES", "MAX_CHARACTERS", "MAX_NAME", "read_job_file"]

_COMMON = ("args", "env", "cwd", "settings", "repeat")
_JOB = ("script", "module", "name", *_COMMON, "grid")
_HOLE = re.compile(r"\{([^{}]+)\}")

#: How long a file may be, so that reading it takes less than a second; how long the arguments and variables of all its
#: jobs may be, together; how long the name of a job may be, which is a column of a table. Arbitrary.
MAX_BYTES, MAX_CHARACTERS, MAX_NAME = 500_000, 10_000_000, 200


def read_job_file(path: str | os.PathLike[str]) -> tuple[Job, ...]:
    """Returns the jobs of a TOML job file, in its order.

    What is too much is refused at once: a file of more than :data:`MAX_BYTES`, more than
    :data:`~tf1sessions.scripts.jobs.MAX_JOBS` jobs, jobs whose arguments and variables have more than
    :data:`MAX_CHARACTERS` together, deep nesting.

    Args:
        path: The file.

    Raises:
        JobFileError: The file cannot be read, is not TOML, or has a wrong key, type or value; the message names
            the file, the line, the key and the value.
    """
    return _Reader(Path(path)).jobs()


class _Reader:
    """One reading of one file; ``fail`` knows what to name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.base = path.absolute().parent
        self.number = 0  # of the [[job]] that is read
        self.characters = 0
        self.lines = TomlLines("")

    def fail(self, key: str, problem: str, next_step: str | None = None) -> NoReturn:
        """Raises the error for a key: ``"job 2: settings.threads"``, ``"defaults.args[3]"``, or a top-level one."""
        job = re.match(r"job \d+(?:: |$)", key)
        inner = key[job.end() :] if job else key
        path = [part.partition("[")[0] for part in inner.split(".") if part]
        line = self.lines.of(*(("job", self.number) if job else ()), *path)
        raise JobFileError(f"{_cut(key, 100)}: {problem}", where=self.place(line), next_step=next_step)

    def place(self, line: int) -> str:
        return f"line {line} of the job file {self.path}"

    def jobs(self) -> tuple[Job, ...]:
        table = self.read()
        self.known_keys("", table, ("defaults", "job"))
        defaults = self.table("defaults", table.get("defaults", {}))
        self.known_keys("defaults.", defaults, _COMMON)
        entries = table.get("job", [])
        if not isinstance(entries, list) or not entries:
            self.fail("job", "there is none", next_step='Add [[job]] with script = "train.py".')
        jobs: list[Job] = []
        for self.number, entry in enumerate(entries, 1):
            where = f"job {self.number}"
            jobs += self.expand(f"{where}: ", self.table(where, entry), defaults, MAX_JOBS - len(jobs))
        return tuple(jobs)

    def read(self) -> dict[str, Any]:
        """The file's table, of a file and a text that are small enough for the parser."""
        try:
            data = files.read_whole(self.path, MAX_BYTES)
        except OSError as error:
            next_step = "Let grid and repeat make the jobs, or give several files." if error.errno == EFBIG else None
            raise JobFileError(
                f"cannot read the job file {str(self.path)!r}: {error.strerror}", next_step=next_step
            ) from None
        except ValueError:  # of a zero byte
            raise JobFileError(f"cannot read the job file {str(self.path)!r}: no file has such a name") from None
        try:
            text = data.decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise JobFileError(f"not a TOML file: {error}", where=self.place(line)) from None
        try:
            self.lines = TomlLines(text)
            table: dict[str, Any] = tomllib.loads(text)
        except TooMuch as error:
            raise JobFileError(str(error), where=self.place(error.line)) from None
        except ValueError as error:  # TOMLDecodeError, and what Python says of a number or a date
            at = re.search(r"at line (\d+)", str(error))
            line = int(at[1]) if at else self.lines.last
            raise JobFileError(f"not a TOML file: {error}", where=self.place(line)) from None
        return table

    def expand(self, where: str, entry: Mapping[str, Any], defaults: Mapping[str, Any], room: int) -> Iterator[Job]:
        """The jobs of one [[job]], ``room`` at most."""
        self.known_keys(where, entry, _JOB)
        if ("script" in entry) == ("module" in entry):
            self.fail(where.rstrip(": "), "it needs either a script or a module", next_step='Add script = "train.py".')
        args = self.texts("defaults.args", defaults.get("args", [])) + self.texts(where + "args", entry.get("args", []))
        env = self.variables("defaults.env", defaults.get("env", {})) | self.variables(
            where + "env", entry.get("env", {})
        )
        settings = self.settings(where + "settings.", entry.get("settings", {})).over(
            self.settings("defaults.settings.", defaults.get("settings", {}))
        )
        cwd = self.text(_where("cwd", where, entry), entry.get("cwd", defaults.get("cwd", "")))
        repeat_key = _where("repeat", where, entry)
        repeat = entry.get("repeat", defaults.get("repeat", 1))
        if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
            self.fail(repeat_key, f"{brief(repeat)} is not a whole number of 1 or more")
        grid = self.grid(where + "grid", entry.get("grid", {}))
        script = self.text(where + "script", entry["script"]) if "script" in entry else None
        module = self.text(where + "module", entry["module"]) if "module" in entry else None
        if not (script or module):
            self.fail(where + ("script" if script is not None else "module"), "it is empty")
        name = self.text(where + "name", entry.get("name", ""), MAX_NAME)
        named = Counter(hole for text in (*args, *env.values()) for hole in _HOLE.findall(text))
        self.refuse_too_much(where, repeat_key, repeat, grid, [*args, *env, *env.values()], named, room)
        plain = Job(
            script=script,
            module=module,
            name=name,
            cwd=str(self.base / cwd) if cwd else "",
            path=str(self.base / script) if script else "",
        )
        for values in itertools.product(*grid.values()):
            point = dict(zip(grid, values, strict=True))
            for turn in range(repeat):
                holes = point | {"repeat": str(turn)}
                rest = [f"--{key}={value}" for key, value in point.items() if key not in named]
                parts = [f"{key}={value}" for key, value in point.items()] + ([f"#{turn}"] if repeat > 1 else [])
                yield Job(
                    script=script,
                    module=module,
                    args=(*(_fill(arg, holes) for arg in args), *rest),
                    env={key: _fill(value, holes) for key, value in env.items()},
                    cwd=plain.cwd,
                    name=_cut(" ".join([plain.name, *parts]), MAX_NAME),
                    settings=settings,
                    path=plain.path,
                )

    def refuse_too_much(
        self,
        where: str,
        repeat_key: str,
        repeat: int,
        grid: Mapping[str, Sequence[str]],
        texts: Sequence[str],
        named: Mapping[str, int],
        room: int,
    ) -> None:
        """Refuses more jobs than there is room for, or more text, before one of them is made.

        Args:
            where: Of the [[job]].
            repeat_key, repeat, grid: What multiplies it.
            texts: Of its arguments and variables, as they stand in the file.
            named: How often each ``{name}`` stands in them.
            room: For how many jobs there is room.
        """
        if repeat > room:
            self.fail(repeat_key, f"there is no room for {brief(repeat)} jobs more: a run may have {MAX_JOBS:,}")
        count = repeat
        for key, values in grid.items():
            count *= len(values)
            if count > room:
                self.fail(f"{where}grid.{key}", f"these are {count:,} jobs so far, and a run may have {MAX_JOBS:,}")
        size = sum(len(text) + 20 for text in texts)  # and what Python needs for each
        for key, values in grid.items():
            longest = max(map(len, values))
            size += longest * named.get(key, 0) if key in named else len(key) + longest + 20
        self.characters += size * count
        if self.characters > MAX_CHARACTERS:
            self.fail(
                where.rstrip(": "),
                f"with its jobs the arguments and variables have more than {MAX_CHARACTERS:,} characters",
                next_step="Let the jobs read what is long from files.",
            )

    def known_keys(self, where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in table:
            if key not in known:
                self.fail(f"{where}{key}", f"there is no such key; known: {', '.join(known)}")

    def table(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.fail(key, f"{brief(value)} is not a table")
        return value

    def text(self, key: str, value: Any, longest: int = MAX_TEXT) -> str:
        if not isinstance(value, str):
            self.fail(key, f"{brief(value)} is not a text")
        self.refuse_nul(key, value)
        if len(value) > longest:
            self.fail(key, f"{brief(value)} has {len(value):,} characters, more than {longest:,}")
        return value

    def plain(self, key: str, value: Any) -> str:
        """A text, number or boolean as a program reads it from its command line."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return str(value)
        if not isinstance(value, str):
            self.fail(key, f"{brief(value)} is not a text, number or boolean")
        self.refuse_nul(key, value)
        return value

    def refuse_nul(self, key: str, value: str) -> None:
        if "\0" in value:
            self.fail(key, f"{brief(value)} has a NUL character in it, which no argument, variable or name can have")

    def texts(self, key: str, value: Any, example: str = '["--epochs=3", "--verbose"]') -> list[str]:
        if not isinstance(value, list):
            self.fail(key, f"{brief(value)} is not a list", next_step=f"Write it as {example}.")
        return [self.plain(f"{key}[{index}]", item) for index, item in enumerate(value)]

    def variables(self, key: str, value: Any) -> dict[str, str]:
        for name in self.table(key, value):
            if not name or "=" in name or "\0" in name:
                self.fail(f"{key}.{name}", "this cannot be the name of an environment variable")
        return {name: self.plain(f"{key}.{name}", item) for name, item in value.items()}

    def settings(self, where: str, value: Any) -> JobSettings:
        checked = {}
        for key, item in self.table(where.rstrip("."), value).items():
            try:
                checked[key] = check_setting(key, item)
            except ValueError as error:
                self.fail(where + key, str(error))
        return JobSettings(**checked)

    def grid(self, key: str, value: Any) -> dict[str, list[str]]:
        grid = {
            name: self.texts(f"{key}.{name}", items, "[0.1, 0.01]") for name, items in self.table(key, value).items()
        }
        for name, items in grid.items():
            if not items:
                self.fail(f"{key}.{name}", "it has no values", next_step="Give it at least one, or remove it.")
            if name == "repeat":
                self.fail(f"{key}.repeat", "this name is taken by the number of the repetition")
            if "\0" in name:
                self.fail(f"{key}.{name}", "no argument can have this name")
        return grid


def _where(key: str, where: str, entry: Mapping[str, Any]) -> str:
    """The key of a job, or that of the defaults which stands in for it."""
    return where + key if key in entry else f"defaults.{key}"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _fill(text: str, holes: Mapping[str, str]) -> str:
    """``text`` with ``{key}`` replaced for the keys of ``holes``; other braces stay."""
    return _HOLE.sub(lambda found: holes.get(found[1], found[0]), text)
