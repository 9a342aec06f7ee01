"""``tf1sessions run``: options -> jobs -> :class:`~tf1sessions.scripts.runner.Run` -> what the user sees.

What a run needs is imported when it begins, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tf1sessions.cli.programs import (
    CONTEXT_SETTINGS,
    FiniteRange,
    ProgramsCommand,
    check_programs,
    seconds_option,
    setting_option,
)
from tf1sessions.texts import printable, quoted

if TYPE_CHECKING:
    from tf1sessions.cli.progress import Printer
    from tf1sessions.scripts.jobs import Job
    from tf1sessions.scripts.requirements import Unmet

__all__ = ["run"]


@click.command(cls=ProgramsCommand, context_settings=CONTEXT_SETTINGS)
@click.argument("scripts", nargs=-1, metavar="SCRIPT...")
@click.option("-m", "module", metavar="MODULE", help="Run a module, as python -m does.")
@click.option(
    "-j",
    "parallel",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="How many jobs at once. Default: what the cores and the free memory allow.",
)
@click.option(
    "--ray",
    metavar="ADDRESS",
    help="Run the jobs on the Ray cluster at HOST:PORT, or auto for this machine's. The folder of a job goes along; "
    "logs and jobs.json are here.",
)
@click.option(
    "--ray-cpus",
    type=FiniteRange(min=0.0, min_open=True),
    default=1.0,
    metavar="N",
    help="CPUs of the cluster for each job. Default: 1.",
)
@click.option(
    "--ray-gpus",
    type=FiniteRange(min=0.0),
    default=0.0,
    metavar="N",
    help="GPUs of the cluster for each job; 0.25 is a quarter of one's memory. Default: 0.",
)
@click.option("--out", metavar="DIR", help="The run folder. Default: a new one in runs/, named by date and time.")
@click.option(
    "--resume",
    metavar="RUN",
    help="Continue the run in this folder: what is done in it is not run again. Its jobs need not be named.",
)
@setting_option("--time-limit", type=float, metavar="SECS", help="End a job's attempt that takes longer.")
@setting_option(
    "--retries",
    type=int,
    metavar="N",
    help="Start a job again when it failed, was killed or ran out of time; N times at most. Default: 0.",
)
@click.option(
    "--keep-going/--fail-fast",
    default=True,
    help="When a job has failed, go on with the others (default), or end the run.",
)
@seconds_option(
    "--grace",
    default=5.0,
    help="Time for a job to clean up after Ctrl-C or its time limit, before it is killed. Default: 5; a single script "
    "in a terminal has as long as it takes after Ctrl-C, and a second Ctrl-C kills it.",
)
@setting_option(
    "--queue-grace",
    type=float,
    metavar="SECS",
    help="End threads that hang in queues for so long after the program's end or its stop request, and name them. "
    "0: wait for them, as TensorFlow 1 does. Default: 10.",
)
@setting_option(
    "--threads",
    type=int,
    metavar="N",
    help="Threads in each of TensorFlow's two pools, for each job. Default: cores / jobs at once.",
)
@setting_option(
    "--memory-fraction",
    type=float,
    metavar="F",
    help="Share of a GPU's memory for each job, above 0, at most 1. Default: equal parts of what is free.",
)
@setting_option(
    "--memory-limit-mb",
    type=int,
    metavar="MB",
    help="A hard limit for each job in MiB of a GPU's memory, in place of a share.",
)
@setting_option(
    "--gpus",
    "--visible-devices",
    "visible_devices",
    metavar="LIST",
    help='GPUs that the jobs may use, as in CUDA_VISIBLE_DEVICES: "0,1"; "" or "-1" for none.',
)
@setting_option(
    "--fast-kernels",
    is_flag=True,
    default=None,
    help="Use oneDNN's kernels: often faster, but the last bits are not TensorFlow 1's.",
)
@setting_option(
    "--seeds",
    type=click.Choice(["tf1", "tf2", "report"]),
    help="How random operations without a seed get one in a graph with a seed: tf1, as TensorFlow 1 counted "
    "operations (the default), or tf2. report: as tf1, and a list at a job's end: which seeds are exact, and from "
    "which call on that is not known.",
)
@click.option(
    "--warnings",
    is_flag=True,
    help="Leave TensorFlow's deprecation warnings in what jobs write. Default: in a file beside the log, counted.",
)
@click.option(
    "--requirements",
    metavar="FILE",
    help="First list the lines of this requirements.txt that are not met here, and what is used instead. Installs "
    "nothing.",
)
@click.option("--dry-run", is_flag=True, help="Show the jobs, run nothing.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print only the summary on stdout, as JSON; what jobs write is in their logs.",
)
@click.pass_context
def run(
    ctx: click.Context,
    /,
    scripts: tuple[str, ...],
    module: str | None,
    parallel: int | None,
    out: str | None,
    resume: str | None,
    keep_going: bool,
    grace: float,
    warnings: bool,
    requirements: str | None,
    dry_run: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Run TensorFlow 1 scripts, notebooks or a module unmodified, several at once, each in a process of its own.

    "import tensorflow" in them gives TensorFlow 1. Each job's output goes to a log in the run folder, beside jobs.json
    with every job's state, exit code, time and memory. A single job also reads and writes the terminal as under python,
    and gives its own exit code. Otherwise it is 0 if all jobs succeeded, 1 if one did not, 2 for wrong usage.

    \b
    Examples:
        tf1sessions run train.py
        tf1sessions run cnn.py rnn.py -j 2 -- --epochs 3 --data digits.npz
        tf1sessions run -m my_package.train -- --epochs 3
        tf1sessions run search.toml -j 8 --time-limit 3600
        tf1sessions run --resume runs/2026-01-31_12-00-00

    \b
    A job file (search.toml) that runs each combination twice, four jobs in all:
        [defaults]
        settings = {time_limit = 600, retries = 1}
        [[job]]
        script = "train.py"             # or module = "my_package.train"
        args = ["--out=model_{rate}"]
        env = {SEED = "{repeat}"}
        repeat = 2
        [job.grid]
        rate = [0.1, 0.01]              # --rate=0.1, where {rate} is not used
    """
    from tf1sessions.errors import ScriptUsageError
    from tf1sessions.scripts.jobs import JobSettings

    ray = [settings.pop(name) for name in ("ray", "ray_cpus", "ray_gpus")]
    _check_folders(out, resume)
    jobs = _jobs(scripts, module, ctx.obj)
    if not jobs and resume is None:
        raise click.UsageError("Nothing to run: name a script, a job file, or a module with -m.")
    if not jobs and ctx.obj:
        raise ScriptUsageError(
            f"-- {' '.join(map(quoted, ctx.obj))} with --resume {quoted(str(resume))}, and no script that would get it",
            next_step="A run goes on with the arguments that it began with: leave these out, or start a new run.",
        )
    unmet = None if requirements is None else _unmet(requirements)
    if dry_run:
        _show_jobs(jobs, resume, JobSettings(**settings), as_json)
        return
    room, of_server = _cluster(*ray)
    above = JobSettings(**settings)
    with ExitStack() as stack:
        if not of_server and resume is None:
            from tf1sessions.scripts.servers import EarlyServer

            early = EarlyServer(bool(above.over(jobs[0].settings).fast_kernels))
            of_server = {"server": stack.enter_context(early)}
        from tf1sessions.scripts.runner import Run, RunSettings  # while the server starts

        printer = _printer(as_json, single=len(jobs) == 1, unmet=unmet)
        limits: dict[str, Any] = {"parallel": parallel or room, "fail_fast": not keep_going, "grace_secs": grace}
        is_default = ctx.get_parameter_source("grace") is ParameterSource.DEFAULT
        limits["patient"] = is_default and len(jobs) == 1 and not as_json and os.isatty(0)
        where: dict[str, Any] = {"out": out, "resume": resume, "stdio": None if as_json else (0, 1, 2)}
        how = RunSettings(job=above, deprecations=warnings, **limits, **where, **of_server)
        running = Run(jobs or None, how, printer.on_event)
        with printer, running.heeding_signals(), redirect_stdout(sys.stderr):  # where Ray prints, as of a lost node
            summary = running.run()
    printer.finish(summary)
    ctx.exit(summary.exit_code)


def _jobs(scripts: Sequence[str], module: str | None, args: tuple[str, ...]) -> list[Job]:
    """The jobs of the command line, in its order; a job file stands for its jobs."""
    from tf1sessions.errors import ScriptUsageError
    from tf1sessions.scripts.jobs import MAX_JOBS, Job, check_job

    check_programs("run", scripts, module)
    if module is not None:
        return [Job(module=module, args=args)]
    jobs: list[Job] = []
    for script in scripts:
        if script.endswith(".toml"):
            from tf1sessions.scripts.jobfile import read_job_file

            jobs += [replace(job, args=job.args + args) for job in read_job_file(script)]
        else:
            jobs.append(Job(script=script, args=args))
    if len(jobs) > MAX_JOBS:
        raise ScriptUsageError(
            f"these are {len(jobs):,} jobs, and a run may have {MAX_JOBS:,}", next_step="Make several runs of them."
        )
    for job in jobs:
        check_job(job)
    return jobs


def _check_folders(out: str | None, resume: str | None) -> None:
    from tf1sessions.errors import ScriptUsageError

    for option, folder in (("--out", out), ("--resume", resume)):
        if folder == "":
            raise ScriptUsageError("the folder has no name", where=option, next_step="Name one, or leave it out.")
    if resume is not None and out is not None:
        raise ScriptUsageError(
            f"--out {quoted(out)} with --resume {quoted(resume)}", next_step="A run is resumed in its own folder."
        )


def _cluster(address: str | None, cpus: float, gpus: float) -> tuple[int | None, dict[str, Any]]:
    """Return the number of jobs that a Ray cluster has room for, and a run's settings; nothing where none is wanted."""
    if address is None:
        return None, {}
    from tf1sessions.errors import ScriptUsageError
    from tf1sessions.scripts.ray_server import RayServer

    if not address:  # Ray would start a cluster of its own, on this machine
        raise ScriptUsageError(
            "the address is empty", where="--ray", next_step="Give HOST:PORT or auto, or leave it out."
        )
    server = RayServer(address, cpus, gpus)
    return server.room, {"server": server, "elsewhere": True}


def _unmet(path: str) -> list[Unmet]:
    """Say on stderr which requirements in a file are not met here, and return them."""
    from tf1sessions.scripts import requirements

    asked = requirements.read(path)
    unmet = requirements.compare(asked)
    for line in requirements.report(path, len(asked), unmet):
        click.echo(line, err=True)
    return unmet


def _printer(as_json: bool, single: bool, unmet: Sequence[Unmet] | None) -> Printer:
    """The printer for where stdout goes."""
    from tf1sessions.cli.progress import JsonPrinter, Printer

    if as_json:
        return JsonPrinter(None if unmet is None else {"requirements": [one.to_json() for one in unmet]})
    if single or not sys.stdout.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        return Printer()
    from tf1sessions.cli.live import LivePrinter

    return LivePrinter()


def _show_jobs(jobs: Sequence[Job], resume: str | None, settings: Any, as_json: bool) -> None:
    from tf1sessions.scripts.folder import JobRecord, plan_resume

    records = plan_resume(resume, jobs or None) if resume else [JobRecord.of(job, "") for job in jobs]
    todo = [record for record in records if record.state != "done"]
    merged = [settings.over(record.job().settings).given() for record in todo]
    if as_json:
        plans = [record.job().identity() | {"settings": under} for record, under in zip(todo, merged, strict=True)]
        click.echo(json.dumps(plans, indent=1))
        return
    here = os.getcwd()
    for number, (record, under) in enumerate(zip(todo, merged, strict=True), 1):
        command = ["-m", record.module] if record.module else [record.script or ""]
        variables = [f"{printable(key)}={quoted(value)}" for key, value in record.env.items()]
        line = " ".join([*variables, "python", *map(quoted, [*command, *record.args])])
        where = f"   (in {printable(record.cwd)})" if record.cwd != here else ""
        click.echo(f"{number:>3}  {line}{where}")
        for key, value in under.items():
            click.echo(f"       {key} = {printable(str(value))}")
    click.echo(
        f"{len(todo)} job{'s' * (len(todo) != 1)} to run"
        + (f", {len(records) - len(todo)} done already" if resume else "")
    )
