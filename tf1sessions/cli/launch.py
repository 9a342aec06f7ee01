"""``tf1sessions launch``: options -> a cluster's tasks -> :class:`~tf1sessions.cluster.launching.Launch` -> lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tf1sessions.cli.programs import (
    CONTEXT_SETTINGS,
    ProgramsCommand,
    check_programs,
    only_one,
    seconds_option,
    setting_option,
)
from tf1sessions.texts import quoted

if TYPE_CHECKING:
    from tf1sessions.cli.progress import Printer
    from tf1sessions.cluster.horovod_launch import HorovodSettings
    from tf1sessions.cluster.launching import LaunchSettings
    from tf1sessions.scripts.jobs import Job

__all__ = ["launch"]


@click.command(cls=ProgramsCommand, context_settings=CONTEXT_SETTINGS)
@click.argument("scripts", nargs=-1, metavar="SCRIPT")
@click.option("-m", "module", metavar="MODULE", help="Run a module, as python -m does.")
@click.option("--ps", type=click.IntRange(0, 1000), default=1, metavar="N", help="Parameter servers. Default: 1.")
@click.option("--workers", type=click.IntRange(0, 1000), default=2, metavar="N", help="Workers. Default: 2.")
@click.option(
    "--chief", is_flag=True, help="A chief besides the workers, as Estimators expect. Default: worker 0 is the chief."
)
@click.option("--evaluator", is_flag=True, help="A task that evaluates checkpoints, for train_and_evaluate.")
@click.option(
    "--tf2",
    is_flag=True,
    help="The program is TensorFlow 2, a ported one for example, with MultiWorkerMirroredStrategy, or, with --ps and "
    "--chief, ParameterServerStrategy. It runs by plain Python. Default of --ps with it: 0.",
)
@click.option(
    "--horovod",
    "ranks",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Start N ranks of a program that uses Horovod, in place of parameter servers and workers.",
)
@click.option(
    "--flag",
    "flags",
    multiple=True,
    metavar="ROLE=NAME",
    help="The program's flag for job_name, task_index, ps_hosts, worker_hosts or chief_hosts, where its name is not "
    "found; with an empty NAME it has none.",
)
@click.option(
    "--restart",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Start a task again that failed or was killed; N times at most. Default: 0.",
)
@click.option(
    "--first-port", type=click.IntRange(1, 65535), metavar="PORT", help="Ports from this one on. Default: free ones."
)
@click.option(
    "--insecure-bind",
    "address",
    metavar="ADDRESS",
    help="Let the servers listen on all interfaces, and find each other at this address of the machine. Whoever "
    "reaches them can run anything in them. Default: on the loopback interface alone.",
)
@seconds_option(
    "--start-limit",
    default=300.0,
    help="End the cluster when a task has built no server after so long; with --horovod, when a rank has not called "
    "hvd.init(). Default: 300.",
)
@seconds_option(
    "--stall-limit",
    default=600.0,
    help="With --horovod, how long a rank may wait for a tensor of the others. Default: 600.",
)
@seconds_option(
    "--evaluator-limit", default=120.0, help="Time for the evaluator when the training is done. Default: 120."
)
@click.option(
    "--print",
    "form",
    type=click.Choice(["commands", "slurm", "kubernetes"]),
    help="Start nothing; print what starts the cluster on several machines: command lines, a Slurm batch script, or "
    "objects for Kubernetes.",
)
@click.option(
    "--hosts",
    metavar="LIST",
    help="With --print commands: the tasks' machines, HOST or HOST:PORT with commas between; parameter servers first, "
    "then the chief and the workers.",
)
@click.option("--out", metavar="DIR", help="The run folder. Default: a new one in runs/, named by date and time.")
@setting_option(
    "--time-limit", type=float, metavar="SECS", help="End a task that takes longer, and with it the cluster."
)
@seconds_option(
    "--grace", default=5.0, help="Time for a task to clean up when it is ended, before it is killed. Default: 5."
)
@setting_option(
    "--threads",
    type=int,
    metavar="N",
    help="Threads in each of TensorFlow's two pools, for each task's server. Default: cores / tasks.",
)
@setting_option(
    "--memory-fraction",
    type=float,
    metavar="F",
    help="Share of a GPU's memory for each task's server, above 0, at most 1. Default: equal parts of what is free.",
)
@setting_option(
    "--gpus",
    "visible_devices",
    metavar="LIST",
    help='GPUs that chief, workers and evaluator may use, as in CUDA_VISIBLE_DEVICES: "0,1". '
    "Parameter servers use none.",
)
@click.option("--warnings", is_flag=True, help="Leave TensorFlow's deprecation warnings in what tasks write.")
@click.option("--json", "as_json", is_flag=True, help="Print only the summary on stdout, as JSON.")
@click.pass_context
def launch(
    ctx: click.Context, /, scripts: tuple[str, ...], module: str | None, form: str | None, as_json: bool, **options: Any
) -> None:
    """Run a distributed TensorFlow 1 program unmodified as a cluster on this machine, one process for each task.

    Each task gets a free port, TF_CONFIG, and those of the flags --job_name, --task_index, --ps_hosts and
    --worker_hosts, or the like, that the program defines. When the workers are done, the parameter servers are ended.
    The first task that fails ends the others. Logs and jobs.json are as with tf1sessions run.

    \b
    Examples:
        tf1sessions launch --ps 1 --workers 2 train.py -- --batch_size 32
        tf1sessions launch --ps 1 --workers 1 --chief --evaluator estimator.py
        tf1sessions launch --ps 0 --workers 2 train.py -- {job_name} {task_index}
        tf1sessions launch --horovod 4 train.py
        tf1sessions launch --workers 4 --print slurm train.py > train.sbatch
    """
    from tf1sessions.cluster.horovod_launch import HorovodLaunch
    from tf1sessions.cluster.launching import Launch
    from tf1sessions.errors import ScriptUsageError

    ranks = _check_form(ctx, options)
    job, hosts = _job(scripts, module, ctx.obj), options.pop("hosts")
    for option in ("out", "address"):
        if options[option] == "":
            where = "--out" if option == "out" else "--insecure-bind"
            raise ScriptUsageError("the name is empty", where=where, next_step="Give one, or leave it out.")
    if hosts is not None and form != "commands":
        raise ScriptUsageError(
            "--hosts is for --print commands", next_step="Leave it out: the tasks start on this machine."
        )
    printer = _printer(as_json)
    launching: Launch | HorovodLaunch
    if ranks is not None:
        launching = HorovodLaunch(job, _horovod_settings(ranks, **options), printer.on_event)
    else:
        settings = _settings(**options)
        if form is not None:
            _print(form, job, settings, hosts)
            return
        launching = Launch(job, settings, printer.on_event)
    if options["address"] is not None:
        click.echo(
            "warning: --insecure-bind: TensorFlow's servers have no authentication. Whoever reaches their ports can "
            "run anything as this user.",
            err=True,
        )
    with printer, launching.running.heeding_signals():
        summary = launching.run()
    printer.finish(summary)
    ctx.exit(summary.exit_code or int(launching.is_not_distributed))


# Options that are settings of each task or rank.
_SHARED = ("time_limit", "threads", "memory_fraction", "visible_devices")
# Options of launch that are about parameter servers and workers.
_ROLES = ("ps", "workers", "chief", "evaluator")
_OF_TASKS = (*_ROLES, "tf2", "flags", "restart", "address", "evaluator_limit", "form", "hosts")


def _check_form(ctx: click.Context, options: dict[str, Any]) -> int | None:
    """The number of ranks, None without --horovod; options of the other form are refused, and taken out."""
    from tf1sessions.errors import ScriptUsageError

    ranks: int | None = options.pop("ranks")
    others = ("stall_limit",) if ranks is None else _OF_TASKS
    for option in ctx.command.params:
        given = ctx.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        if option.name in others and given:
            why = "is not for ranks of Horovod" if ranks is not None else "is for ranks of Horovod"
            raise ScriptUsageError(
                f"{option.opts[0]} {why}",
                next_step="Leave it out, or give --horovod N." if ranks is None else "Leave it out, or --horovod.",
            )
    if ranks is None:
        options.pop("stall_limit")
    if options["tf2"] and ctx.get_parameter_source("ps") is not click.core.ParameterSource.COMMANDLINE:
        options["ps"] = 0
    return ranks


def _horovod_settings(
    ranks: int,
    start_limit: float,
    stall_limit: float,
    first_port: int | None,
    out: str | None,
    grace: float,
    warnings: bool,
    **options: Any,
) -> HorovodSettings:
    from tf1sessions.cluster.horovod_launch import HorovodSettings
    from tf1sessions.scripts.jobs import JobSettings
    from tf1sessions.scripts.runner import RunSettings

    return HorovodSettings(
        size=ranks,
        port=first_port,
        start_limit_secs=start_limit,
        stall_limit_secs=stall_limit,
        job=JobSettings(**{name: options[name] for name in _SHARED}),
        run=RunSettings(out=out, deprecations=warnings, grace_secs=grace),
    )


def _job(scripts: Sequence[str], module: str | None, args: tuple[str, ...]) -> Job:
    from tf1sessions.errors import ScriptUsageError
    from tf1sessions.scripts.jobs import Job

    check_programs("launch", scripts, module)
    only_one("launch", scripts)
    if not scripts and module is None:
        raise click.UsageError("Nothing to run: name a SCRIPT, or a module with -m.")
    if scripts and not scripts[0].endswith(".py"):
        raise ScriptUsageError(f"launch takes a script or a module, not {quoted(scripts[0])}")
    return Job(script=None if module else scripts[0], module=module, args=args)


def _settings(
    start_limit: float, evaluator_limit: float, out: str | None, grace: float, warnings: bool, **options: Any
) -> LaunchSettings:
    from tf1sessions.cluster.launching import LaunchSettings
    from tf1sessions.scripts.jobs import JobSettings
    from tf1sessions.scripts.runner import RunSettings

    return LaunchSettings(
        start_limit_secs=start_limit,
        evaluator_limit_secs=evaluator_limit,
        job=JobSettings(**{name: options.pop(name) for name in _SHARED}),
        run=RunSettings(out=out, deprecations=warnings, grace_secs=grace),
        **options,
    )


def _print(form: str, job: Job, settings: LaunchSettings, hosts: str | None) -> None:
    """Print what starts the cluster on several machines."""
    from tf1sessions.cluster import recipes
    from tf1sessions.cluster.launching import program_flags
    from tf1sessions.cluster.tasks import Cluster
    from tf1sessions.scripts.jobs import check_job

    check_job(job)
    found = program_flags(job, settings)
    count = Cluster.size(settings.ps, settings.workers, settings.chief)
    names = hosts.split(",") if hosts is not None else [f"HOST{number}" for number in range(1, count + 1)]
    shape = (settings.ps, settings.workers, settings.chief, settings.evaluator)
    cluster = Cluster.at(recipes.addresses(names, count), *shape)
    for line in recipes.FORMS[form](recipes.Recipe(job, cluster, found, settings.tf2, settings.start_limit_secs)):
        click.echo(line)


def _printer(as_json: bool) -> Printer:
    from tf1sessions.cli.progress import JsonPrinter, Printer

    if as_json:
        return JsonPrinter(of_cluster=True)
    if not sys.stdout.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        return Printer(of_cluster=True)
    from tf1sessions.cli.live import LivePrinter

    return LivePrinter(of_cluster=True)
