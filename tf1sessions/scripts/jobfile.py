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

Flow: TOML -> each table checked key by key -> defaults merged -> grid and repeat multiplied out -> :class:`Job`.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from tf1sessions.errors import JobFileError
from tf1sessions.scripts.jobs import Job, JobSettings, check_setting

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["read_job_file"]

_COMMON = ("args", "env", "cwd", "settings", "repeat")
_JOB = ("script", "module", "name", *_COMMON, "grid")


def read_job_file(path: str | os.PathLike[str]) -> tuple[Job, ...]:
    """The jobs of a TOML job file, in its order.

    Args:
        path: The file.

    Raises:
        JobFileError: The file cannot be read, is not TOML, or has a wrong key, type or value; the message names
            the file, the key and the value.
    """
    return _Reader(Path(path)).jobs()


class _Reader:
    """One reading of one file; ``fail`` knows what to name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.base = path.absolute().parent

    def fail(self, key: str, problem: str, next_step: str | None = None) -> NoReturn:
        raise JobFileError(f"{key}: {problem}", where=f"job file {self.path}", next_step=next_step)

    def jobs(self) -> tuple[Job, ...]:
        try:
            table = tomllib.loads(self.path.read_bytes().decode("utf-8"))
        except OSError as error:
            raise JobFileError(f"cannot read the job file {str(self.path)!r}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise JobFileError(f"not a TOML file: {error}", where=f"job file {self.path}") from None
        self.known_keys("", table, ("defaults", "job"))
        defaults = self.table("defaults", table.get("defaults", {}))
        self.known_keys("defaults.", defaults, _COMMON)
        entries = table.get("job", [])
        if not isinstance(entries, list) or not entries:
            self.fail("job", "there is none", next_step='Add [[job]] with script = "train.py".')
        return tuple(
            job
            for number, entry in enumerate(entries, 1)
            for job in self.expand(f"job {number}: ", self.table(f"job {number}", entry), defaults)
        )

    def expand(self, where: str, entry: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[Job]:
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
        cwd_key = where + "cwd" if "cwd" in entry else "defaults.cwd"
        cwd = self.text(cwd_key, entry.get("cwd", defaults.get("cwd", "")))
        repeat_key = where + "repeat" if "repeat" in entry else "defaults.repeat"
        repeat = entry.get("repeat", defaults.get("repeat", 1))
        if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
            self.fail(repeat_key, f"{repeat!r} is not a whole number of 1 or more")
        grid = self.grid(where + "grid", entry.get("grid", {}))
        script = self.text(where + "script", entry["script"]) if "script" in entry else None
        module = self.text(where + "module", entry["module"]) if "module" in entry else None
        if not (script or module):
            self.fail(where + ("script" if script is not None else "module"), "it is empty")
        name = self.text(where + "name", entry.get("name", ""))
        plain = Job(
            script=script,
            module=module,
            name=name,
            cwd=str(self.base / cwd) if cwd else "",
            path=str(self.base / script) if script else "",
        )
        jobs = []
        for values in itertools.product(*grid.values()):
            point = dict(zip(grid, values, strict=True))
            for turn in range(repeat):
                holes = point | {"repeat": str(turn)}
                rest = [f"--{key}={value}" for key, value in point.items() if not _mentions(key, args, env)]
                parts = [f"{key}={value}" for key, value in point.items()] + ([f"#{turn}"] if repeat > 1 else [])
                jobs.append(
                    Job(
                        script=script,
                        module=module,
                        args=(*(_fill(arg, holes) for arg in args), *rest),
                        env={key: _fill(value, holes) for key, value in env.items()},
                        cwd=plain.cwd,
                        name=" ".join([plain.name, *parts]),
                        settings=settings,
                        path=plain.path,
                    )
                )
        return jobs

    def known_keys(self, where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in table:
            if key not in known:
                self.fail(f"{where}{key}", f"there is no such key; known: {', '.join(known)}")

    def table(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.fail(key, f"{value!r} is not a table")
        return value

    def text(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or "\0" in value:
            self.fail(key, f"{value!r} is not a text")
        return value

    def plain(self, key: str, value: Any) -> str:
        """A text, number or boolean as a program reads it from its command line."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return str(value)
        if not isinstance(value, str) or "\0" in value:
            self.fail(key, f"{value!r} is not a text, number or boolean")
        return value

    def texts(self, key: str, value: Any) -> list[str]:
        if not isinstance(value, list):
            self.fail(key, f"{value!r} is not a list", next_step='Write it as ["--epochs=3", "--verbose"].')
        return [self.plain(f"{key}[{index}]", item) for index, item in enumerate(value)]

    def variables(self, key: str, value: Any) -> dict[str, str]:
        return {name: self.plain(f"{key}.{name}", item) for name, item in self.table(key, value).items()}

    def settings(self, where: str, value: Any) -> JobSettings:
        checked = {}
        for key, item in self.table(where.rstrip("."), value).items():
            try:
                checked[key] = check_setting(key, item)
            except ValueError as error:
                self.fail(where + key, str(error))
        return JobSettings(**checked)

    def grid(self, key: str, value: Any) -> dict[str, list[str]]:
        grid = {name: self.texts(f"{key}.{name}", items) for name, items in self.table(key, value).items()}
        for name, items in grid.items():
            if not items:
                self.fail(f"{key}.{name}", "it has no values", next_step="Give it at least one, or remove it.")
            if name == "repeat":
                self.fail(f"{key}.repeat", "this name is taken by the number of the repetition")
        return grid


def _fill(text: str, holes: Mapping[str, str]) -> str:
    """``text`` with ``{key}`` replaced for the keys of ``holes``; other braces stay."""
    return re.sub(r"\{([^{}]+)\}", lambda found: holes.get(found[1], found[0]), text)


def _mentions(key: str, args: Sequence[str], env: Mapping[str, str]) -> bool:
    return any("{" + key + "}" in text for text in (*args, *env.values()))
