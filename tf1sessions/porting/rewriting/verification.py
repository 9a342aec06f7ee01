"""Runs a program before and after each step of a port, and keeps the steps after which it computes the same.

::

    the files after a step ──▶ a copy of the tree ──▶ the program, recorded ──▶ a trace
    two traces ──▶ trace_comparison.py: equal within verify's tolerances? ──▶ the step is kept, or the port ends there

Nothing is written where the sources are. The original and what ``py3`` makes of it run as under ``tf1sessions run``,
with today's seeds; what ``v1`` and ``clean`` make of it is run by plain Python (plain_run.py). What has no seed gets
one, so that two runs can be compared. A recording of an older machine may take the place of the original.

With the step ``inputs``, queues and data sets keep their order in all runs (ordered_inputs.py).
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import ScriptUsageError
from ...files import remove_folder, temporary_folder
from ...scripts.jobs import Job, JobSettings
from ...source import files as source_files
from ...source.python2 import explain_syntax
from ...texts import counted
from ..diagnosis.diagnose import diagnose
from ..replaying import Replay, record, recording, replay
from ..session_matching import as_one_session
from ..trace_comparison import ComparedTraces, TraceComparison
from ..traces import Trace, read
from . import native_run, printed, saved_checkpoints
from .interrupts import HeldInterrupts
from .native.refusals import DROPPED_PRINT
from .rewrite import StepPort
from .writing import add_neighbours, add_surroundings, beside, copy_tree, in_copy, over_all

__all__ = ["StepVerification", "VerifiedProgram", "verify_steps"]

#: Not copied: nothing of the program, and large.
_LEFT_OUT = frozenset([".git", ".hg", ".svn", "__pycache__", "node_modules"])
#: The steps after which plain Python runs a program.
_PLAIN = frozenset(["v1", "clean", "inputs", "functions", "native"])
#: What a recording gives to a program that is run by plain Python: its own seeds follow from today's counts.
_GIVEN = ("seeds", "variables")
#: The number of differences of checkpoints in a report. Arbitrary.
_MOST_LINES = 5
#: Finds this package as it is found here, and not a file of the program that has the name of a module. It ends with
#: the process that has started it, even where that is killed.
_PLAIN_RUN = """
import os, sys
sys.path[:] = [entry for entry in sys.path if entry]
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
    if os.getppid() != int(sys.argv[3]):
        sys.exit(1)
sys.path.append(sys.argv[2])
import json
from tf1sessions.porting.rewriting.{module} import main
sys.exit(main(json.loads(sys.argv[1])))
"""


@dataclasses.dataclass(frozen=True)
class StepVerification:
    """The findings about one step.

    Attributes:
        step: Its name.
        is_kept: Whether the program computes the same after it, or cannot be run before it and runs after it.
        outcome: ``"equal"``, ``"different"``, ``"failed"`` (the program does not end well after it), ``"not compared"``
            (it does not before it, or does not compute the same twice), or ``"unchanged"`` (the step changes no file).
        text: The same in a sentence, with the first difference and its line.
        comparison: What was compared, where both runs ended well.
    """

    step: str
    is_kept: bool
    outcome: str
    text: str
    comparison: TraceComparison | None = None

    def as_dict(self) -> dict[str, Any]:
        found = {"step": self.step, "kept": self.is_kept, "outcome": self.outcome, "text": self.text}
        return found | {"comparison": None if self.comparison is None else self.comparison.as_dict()}


@dataclasses.dataclass(frozen=True)
class VerifiedProgram:
    """The program that is run: a script of the tree, its arguments, and the folder that it is run in.

    Attributes:
        script: Its path.
        folder: The folder; the copy's, where it is in the tree.
        arguments: What follows the script.
    """

    script: Path
    folder: Path
    arguments: tuple[str, ...] = ()

    @classmethod
    def parsed(cls, command: str, roots: Sequence[Path]) -> VerifiedProgram:
        """Read ``"train.py --steps 10"``: the script is seen from the current folder, or from the only root.

        Raises:
            ScriptUsageError: There is no such script among the sources, or it is none that plain Python runs.
        """
        try:
            name, *arguments = shlex.split(command) or [""]
        except ValueError as error:
            raise ScriptUsageError(f"{command!r} is no command: {error}", where="--verify") from error
        for folder in [Path(), *(root for root in roots if len(roots) == 1 and os.path.isdir(root))]:
            script = folder / name
            if os.path.isfile(script) and script.suffix != ".ipynb" and _is_in(script, roots):
                return cls(script.absolute(), folder.absolute(), tuple(arguments))
        raise ScriptUsageError(
            f"there is no script {name!r} among the sources",
            where="--verify",
            next_step='Give the path of one of them and its arguments: --verify "train.py --steps 10".',
        )


def _is_in(path: Path, roots: Sequence[Path]) -> bool:
    return any(path.absolute().is_relative_to(root.absolute()) for root in roots)


def verify_steps(
    steps: Sequence[StepPort],
    roots: Sequence[Path],
    program: VerifiedProgram,
    *,
    trace: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
) -> list[StepVerification]:
    """Run a program before and after each step, until one does not keep what it computes.

    Args:
        steps: From :func:`~tf1sessions.porting.rewriting.rewrite.port`.
        roots: The files and folders that were ported.
        program: What is run. What it prints goes to stderr.
        trace: A recording of it on an older machine, which every step is held against.
        time_limit: Seconds that one run may take.

    Returns:
        What was found about each step, up to the first that is not kept.

    Raises:
        UsageError: The trace cannot be read, or the tree not be copied.
        WorkerStartError: TensorFlow could not be loaded.

    Thread-safety: may be called from any thread. Where the main thread is interrupted, the program is ended first.
    """
    with contextlib.ExitStack() as stack:
        roots = [root.absolute() for root in roots]
        folder = Path(stack.enter_context(temporary_folder("tf1sessions-port-")))
        reference = None if trace is None else stack.enter_context(read(trace))
        runs = _StepRuns(steps, roots, program, folder, reference, time_limit)
        stack.callback(runs.close)
        found: list[StepVerification] = []
        for number in range(len(steps)):
            found.append(runs.verified(number))
            if not found[-1].is_kept:
                break
        return found


@dataclasses.dataclass(frozen=True)
class _RunEnd:
    """The end of a run: with a trace and a folder of checkpoints, or the reason why none could be compared."""

    trace: Trace | None
    why: str = ""
    checkpoints: Path | None = None


@dataclasses.dataclass(frozen=True)
class _Printed:
    """The output of a run, its end (``why`` it did not end well), and values of variables: the last, and the first."""

    why: str
    printed: str = ""
    last: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    changes: Sequence[Mapping[str, Any]] = ()


class _StepRuns:
    """The runs of a program with the files after each step; each is made once."""

    def __init__(
        self,
        steps: Sequence[StepPort],
        roots: Sequence[Path],
        program: VerifiedProgram,
        folder: Path,
        reference: Trace | None,
        time_limit: float | None,
    ) -> None:
        self._steps = steps
        self._roots = roots
        self._program = program
        self._folder = folder
        self._reference = reference
        self._time_limit = time_limit
        self._done: dict[int, _RunEnd] = {}
        self._in_order = any(step.step == "inputs" for step in steps)
        # One name for all copies: it is in the paths that a program prints, feeds and saves.
        self._tree = folder / "copy" / "tree"
        self._tree.parent.mkdir()
        if not any(root.is_dir() for root in roots) and len(tops := beside(roots)) == 1:
            self._tree = folder / "copy" / (tops[0].name or "tree")
            add_surroundings(tops[0], self._tree)

    def close(self) -> None:
        for each in self._done.values():
            if each.trace is not None:
                each.trace.close()

    def verified(self, number: int) -> StepVerification:
        """Hold the program after a step against the one before it, or against the recording."""
        step = self._steps[number].step
        if not any(file.is_changed for file in self._steps[number].files):
            return StepVerification(step, True, "unchanged", "no file has changed")
        before = _RunEnd(self._reference) if self._reference is not None else self._run(number)
        if before.trace is None and step != "py3":
            return StepVerification(step, False, "not compared", f"before it the program {before.why}")
        if step == "native" and before.trace is not None:
            if not self._changes_script(number):
                return StepVerification(step, True, "unchanged", "the program that is run has not changed")
            return self._native(number)
        after = self._run(number + 1)
        if after.trace is None:
            return StepVerification(step, False, "failed", f"after it the program {after.why}")
        if before.trace is None:
            return StepVerification(
                step, True, "not compared", f"before it the program {before.why}; after it, it ends well"
            )
        left, right = before.trace, after.trace
        if step == "functions":
            left, right = as_one_session(left), as_one_session(right)
        found = _compared(step, left, right, "tf2" if self._reference is None else "tf1")
        if not found.is_kept and self._reference is None:
            return self._unless_it_is_chance(found, before.trace, number)
        if found.is_kept and before.checkpoints is not None and after.checkpoints is not None:
            return _with_checkpoints(found, before.checkpoints, after.checkpoints)
        return found

    def _changes_script(self, number: int) -> bool:
        """Whether a step changes the script that is run; step ``native`` changes only programs of one file."""
        script = self._program.script.resolve()
        return any(file.is_changed and file.before.path.resolve() == script for file in self._steps[number].files)

    def _native(self, number: int) -> StepVerification:
        """Hold what the program of step ``native`` prints, and its variables, against the one before it."""
        initial = self._folder / "initial.npz"
        ends = [self._with_values(number + after, initial, is_native=bool(after)) for after in (0, 1)]
        for when, end in zip(("before", "after"), ends, strict=True):
            if end.why:
                return StepVerification("native", False, "failed", f"{when} it the program {end.why}")
        before, after = ends
        found = _compared_ends(before, after)
        grown: set[str] = set()
        if found.differing:
            nudged = self._with_values(number, initial, is_native=False, is_nudged=True)
            first = native_run.read_values(initial)
            values = (before.last, after.last, nudged.last)
            equal, proven = printed.equal_changes(first, before.changes, after.changes)
            grown = printed.grown_rounding(found.differing, first, *values, proven)
            found = _compared_ends(before, after, grown)
            if found.differing:
                says = printed.rounding_says(found.differing[0], *values, equal)
                found = dataclasses.replace(found, difference="; ".join(filter(None, (found.difference, says))))
        if found.difference:
            return StepVerification("native", False, "different", found.difference)
        if not found.numbers and not found.variables:
            return StepVerification("native", False, "not compared", "it prints no number and trains no variable")
        what = f"{counted(found.lines, 'printed line')} and {counted(found.variables, 'variable')}"
        but = f", but for {counted(found.set_aside, 'line')} with names of variables" if found.set_aside else ""
        if grown:
            but += f", and {counted(len(grown), 'more variable')} within what rounding does in so many steps"
        return StepVerification("native", True, "equal", f"{what} are equal within {printed.RELATIVE:.1%}{but}")

    def _with_values(self, stage: int, initial: Path, *, is_native: bool, is_nudged: bool = False) -> _Printed:
        """Run the program before or after step ``native``, which draw the same numbers."""
        folder = self._tree
        folder.mkdir()
        last, changes, text = (self._folder / name for name in ("last.npz", "changes.npz", "printed.txt"))
        try:
            job = self._job(folder, stage)
            if not is_native:
                self._leave_out_prints(stage, Path(job.path))
            wanted = {"script": job.shown, "arguments": list(job.args), "is_native": is_native, "is_nudged": is_nudged}
            wanted |= {"initial": os.fspath(initial), "last": os.fspath(last), "changes": os.fspath(changes)}
            wanted |= {"in_order": self._in_order}
            exit_code = _run_plain("native_run", wanted, job.cwd, job.env, self._time_limit, text)
        finally:
            remove_folder(folder)
        if exit_code is None:
            return _Printed(f"took longer than {self._time_limit:g} seconds")
        if exit_code:
            return _Printed(f"ended with exit code {exit_code}")
        values = native_run.read_values(last), native_run.read_changes(changes)
        return _Printed("", text.read_text("utf-8", "replace"), *values)

    def _leave_out_prints(self, stage: int, copy: Path) -> None:
        """Leave out of a copy of the program before step ``native`` what the step leaves out."""
        script = self._program.script.resolve()
        file = next(each for each in self._steps[stage].files if each.before.path.resolve() == script)
        dropped = {note.place.line for note in file.notes if note.what == DROPPED_PRINT}
        lines = file.before.text.splitlines()
        for node in ast.walk(ast.parse(file.before.text)):
            if isinstance(node, ast.Expr) and node.lineno in dropped:
                lead = lines[node.lineno - 1][: node.col_offset]
                own = range(node.lineno - 1, node.end_lineno or node.lineno)
                for number in own:
                    lines[number] = f"{lead}pass" if number == own[0] else ""
        if dropped:
            copy.write_bytes(dataclasses.replace(file.before, text="\n".join(lines) + "\n").encode())

    def _unless_it_is_chance(self, found: StepVerification, before: Trace, stage: int) -> StepVerification:
        """Return the findings, unless the program before the step does not compute the same twice either."""
        again = self._run_anew(stage, "again")
        if again.trace is None:
            return found
        with again.trace as trace:
            twice = _compared(found.step, before, trace, "tf2")
        if twice.is_kept:
            return found
        text = f"before it the program does not compute the same twice: {twice.text}"
        if not self._is_copied(self._program.folder):
            text += f" (it runs in {self._program.folder}, where it may find what another run wrote: start in its own)"
        return StepVerification(found.step, False, "not compared", text)

    def _is_copied(self, folder: Path) -> bool:
        return _is_in(folder, [*self._roots, *beside(self._roots)])

    def _run(self, stage: int) -> _RunEnd:
        """Run the program with the files after the first ``stage`` steps."""
        if stage not in self._done:
            self._done[stage] = self._run_anew(stage, str(stage))
        return self._done[stage]

    def _run_anew(self, stage: int, name: str) -> _RunEnd:
        self._tree.mkdir()
        try:
            return self._run_in(self._tree, stage, name)
        finally:
            remove_folder(self._tree)

    def _run_in(self, folder: Path, stage: int, name: str) -> _RunEnd:
        job = self._job(folder, stage)
        if two := _python_two(Path(job.path)):
            return _RunEnd(None, f"is Python 2, which does not run here ({two})")
        is_plain = any(step.step in _PLAIN for step in self._steps[:stage])
        out = self._folder / f"{name}.npz"
        there = saved_checkpoints.prefixes(folder)
        ended = self._plain(job, out) if is_plain else self._as_run(job, out)
        checkpoints = self._folder / f"{name}-checkpoints"
        saved_checkpoints.moved(folder, there, checkpoints)
        return dataclasses.replace(ended, checkpoints=checkpoints)

    def _job(self, folder: Path, stage: int) -> Job:
        """The program with the files after so many steps, copied to a folder."""
        copy_tree(self._roots, over_all(self._steps[:stage]), folder, _is_left_out)
        add_neighbours(self._roots, folder, _is_left_out)
        script = in_copy(self._roots, folder, self._program.script)
        here = self._program.folder
        where = in_copy(self._roots, folder, here) if self._is_copied(here) else here
        return Job(
            script=os.path.relpath(script, where),
            args=self._program.arguments,
            env={"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0")},
            cwd=os.fspath(where),
            path=os.fspath(script),
            settings=JobSettings(seeds="tf2" if self._reference is None else "tf1"),
        )

    def _as_run(self, job: Job, out: Path) -> _RunEnd:
        stdio = (None, 2, 2)
        try:
            if self._reference is None:
                done = record(job, out=out, in_order=self._in_order, time_limit=self._time_limit, stdio=stdio)
            else:
                done = replay(self._reference, job, out=out, time_limit=self._time_limit, stdio=stdio)
        except ScriptUsageError as error:
            return _RunEnd(None, f"could not be recorded: {error}")
        return _ended(done)

    def _plain(self, job: Job, out: Path) -> _RunEnd:
        given = _GIVEN if self._reference is not None else ()
        trace = None if self._reference is None else self._reference.path
        options = None if self._reference is None else self._reference.options
        about = (out, job.shown, job.args, job.path)
        wanted = recording(*about, options=options, trace=trace, given=given, in_order=self._in_order)
        wanted |= {"script": job.shown, "arguments": list(job.args)}
        exit_code = _run_plain("plain_run", wanted, job.cwd, job.env, self._time_limit)
        if exit_code is None:
            return _RunEnd(None, f"took longer than {self._time_limit:g} seconds")
        if not out.exists():
            return _RunEnd(None, f"ended with exit code {exit_code}, and ran no session")
        return _ended(Replay(exit_code, read(out)))


def _compared_ends(before: _Printed, after: _Printed, left_out: Collection[str] = ()) -> printed.PrintedComparison:
    """Compare what two runs printed, and the last values of their variables, some of these left out."""
    names = [each + end for each in {*before.last, *after.last} for end in ("", ":0")]
    last = {name: value for name, value in before.last.items() if name not in left_out}
    return printed.compared(before.printed, after.printed, last, after.last, names)


def _ended(done: Replay) -> _RunEnd:
    if done.exit_code:
        done.trace.close()
        return _RunEnd(None, f"ended with exit code {done.exit_code}")
    return _RunEnd(done.trace)


def _is_left_out(path: str) -> bool:
    return os.path.basename(path) in _LEFT_OUT or source_files.is_environment(path)


def _python_two(script: Path) -> str:
    """Return what makes a script Python 2; empty for any other."""
    text = script.read_bytes().decode("utf-8", "replace")
    try:
        compile(text, os.fspath(script), "exec", dont_inherit=True)
    except SyntaxError as error:
        two = explain_syntax(text, error)
        return "" if two is None else str(two).partition("is Python 2: ")[2].partition("\n")[0]
    except ValueError:
        return ""
    return ""


def _run_plain(
    module: str,
    wanted: Mapping[str, Any],
    folder: str,
    env: Mapping[str, str],
    time_limit: float | None,
    output: Path | None = None,
) -> int | None:
    """Run plain_run.py or native_run.py in a process of its own, which ends with all that it started.

    Args:
        module: Which of them.
        wanted: What its main() is given.
        folder, env, time_limit: Of the process.
        output: Where what it prints is kept; it goes to stderr in any case.

    Returns:
        The exit code; None when the time was over.
    """
    package = os.fspath(Path(__file__).parents[3])
    command = [sys.executable, "-c", _PLAIN_RUN.format(module=module), json.dumps(wanted), package, str(os.getpid())]
    environment = {"TF_ENABLE_ONEDNN_OPTS": "0", **os.environ, **env}
    process: subprocess.Popen[bytes] | None = None
    ended = threading.Event()
    stack = contextlib.ExitStack()
    stdout: Any = 2 if output is None else stack.enter_context(open(output, "wb"))
    try:
        with HeldInterrupts():  # a process that is started is known
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, start_new_session=True
            )
            threading.Thread(target=_wait, args=(process.pid, ended), daemon=True).start()
        is_over = not ended.wait(time_limit)
    finally:
        if process is not None:
            with HeldInterrupts():  # of a user who presses Ctrl-C twice
                os.killpg(process.pid, signal.SIGKILL)
                ended.wait()
                process.wait()
        stack.close()
        if output is not None:
            sys.stderr.write(output.read_text("utf-8", "replace"))
    return None if is_over else process.returncode


def _wait(pid: int, ended: threading.Event) -> None:
    """Wait for a child, which keeps its number until it is waited for again: its group can still be ended."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    ended.set()


def _compared(step: str, before: Trace, after: Trace, seeds: str) -> StepVerification:
    held = ComparedTraces(before, after)
    result = dataclasses.replace(held.result, diagnosis=diagnose(held, None, seeds))
    if result.equal:
        values = sum(tensor.compared for tensor in result.tensors)
        how = "to the bit" if result.same else "within the tolerances"
        return StepVerification(
            step, True, "equal", f"{result.calls:,} calls and {values:,} values are equal {how}", result
        )
    if chance := _chance_alone(held, result):
        values = sum(tensor.compared for tensor in result.tensors if tensor.equal)
        text = f"{result.calls:,} calls and {values:,} values are equal, but for {chance}"
        return StepVerification(step, True, "equal", text, result)
    return StepVerification(step, False, "different", "; ".join(_first_difference(held, result)), result)


def _chance_alone(held: ComparedTraces, result: TraceComparison) -> str:
    """Return what differs by chance, where nothing else differs; else nothing.

    A call that fetches a variable and changes it, in no order, gives its value before the change or after it. The
    variable itself has been compared, and is equal.
    """
    races = {name: read for kind in held.alignment.left.kinds for name, read in kind.races.items() if name}
    differing = [tensor for tensor in result.tensors if not tensor.equal]
    fetched = all(tensor.role in ("fetch", "extra") and tensor.name in races for tensor in differing)
    if result.unmatched or not fetched or len(differing) == len(result.tensors):
        return ""
    read = dict.fromkeys(name for tensor in differing for name in races[tensor.name])
    names = ", ".join(tensor.name for tensor in differing)
    return f"{names}: before or after the same call changes {', '.join(read)} is chance"


def _with_checkpoints(found: StepVerification, before: Path, after: Path) -> StepVerification:
    """Add the differences of the checkpoints that the program wrote to the findings."""
    count = len(saved_checkpoints.prefixes(after))
    if lines := saved_checkpoints.differences(before, after):
        return dataclasses.replace(found, is_kept=False, outcome="different", text="; ".join(lines[:_MOST_LINES]))
    return dataclasses.replace(found, text=f"{found.text}, and {counted(count, 'checkpoint')}" if count else found.text)


def _first_difference(held: ComparedTraces, result: TraceComparison) -> Iterator[str]:
    """Yield what parts first, where the program computes it, and why."""
    first = result.first
    if first is None:
        yield from result.unmatched[:1] or ["no value could be compared"]
        return
    kind = held.alignment.kinds.get(first.call)
    line = result.diagnosis.about.get("line") if result.diagnosis is not None else None
    place = line or (kind.place[-1] if kind is not None and kind.place else None)
    where = f"{place}: " if place else ""
    yield f"{where}{first.tensor} parts first, at step {first.step} of {first.kind}"
    difference = first.difference
    if difference is not None and difference.worst is not None:
        yield f"{difference.left!r} before, {difference.right!r} after, at {list(difference.worst)}"
    if result.diagnosis is not None:
        yield result.diagnosis.text
