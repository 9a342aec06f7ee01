"""``tf1sessions serve``: models behind the interfaces of TensorFlow Serving and KServe.

TensorFlow is imported when the command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

import click

from tf1sessions.cli.programs import FiniteRange
from tf1sessions.errors import UsageError
from tf1sessions.pools.resource_limits import check_address_space
from tf1sessions.texts import PrintableFormatter, printable

if TYPE_CHECKING:
    from tf1sessions.serving.settings import ModelSettings

__all__ = ["serve"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("models", metavar="MODEL… [NAME=PATH…]", nargs=-1)
@click.option("--config", metavar="FILE", help="A TOML file with a table [models.NAME] for each model.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8501, show_default=True, help="For HTTP; 0: a free one.")
@click.option("--grpc-port", type=click.IntRange(0, 65535), help="For TensorFlow Serving's gRPC. Default: no gRPC.")
@click.option("--token-file", metavar="FILE", help="Clients must show the token in it: Authorization: Bearer TOKEN.")
@click.option("--tls-cert", metavar="FILE", help="A certificate in PEM; needs --tls-key.")
@click.option("--tls-key", metavar="FILE", help="Its key.")
@click.option(
    "--max-body",
    type=click.IntRange(1),
    default=64,
    show_default=True,
    metavar="MB",
    help="The largest body of a request.",
)
@click.option(
    "--max-decoded",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    metavar="MB",
    help="The largest size of a request's arrays, and of an answer's.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(1),
    default=65_536,
    show_default=True,
    metavar="N",
    help="The most rows of a request.",
)
@click.option(
    "--max-waiting",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Requests of a model that run or wait; more get status 429.",
)
@click.option(
    "--deadline",
    type=FiniteRange(0.001, 1e6),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="The time limit for the answer to a request.",
)
@click.option(
    "--poll",
    type=FiniteRange(0, 1e6),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often new versions are looked for; 0: never.",
)
@click.option(
    "--drain",
    type=FiniteRange(0, 1e6),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long requests may go on after SIGTERM, or after their version was replaced.",
)
@click.option("--memory-mb", type=FiniteRange(1), metavar="MB", help="How much of the GPU's memory is taken.")
@click.option(
    "--lanes",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Split the GPU; a model's `lane` in the configuration says which part it gets.",
)
@click.option("--allow-op", "allow_ops", multiple=True, metavar="OP", help="Models may run it, though it is risky.")
@click.option("--no-access-log", is_flag=True, help="Print no line for each request.")
def serve(
    models: tuple[str, ...],
    config: str | None,
    host: str,
    port: int,
    grpc_port: int | None,
    token_file: str | None,
    tls_cert: str | None,
    tls_key: str | None,
    max_body: int,
    max_decoded: int,
    max_rows: int,
    max_waiting: int,
    deadline: float,
    poll: float,
    drain: float,
    memory_mb: float | None,
    lanes: int,
    allow_ops: tuple[str, ...],
    no_access_log: bool,
) -> None:
    """Serve models that TensorFlow 1 wrote, as TensorFlow Serving does.

    A MODEL is anything that `tf1sessions inspect` takes, or a folder with numbered folders, one for each version; a new
    version is taken up, and the old one goes when its requests have ended. NAME=PATH says what clients call it. The
    interfaces are TensorFlow Serving's REST API and gRPC, and KServe's v2; a page is at /, metrics are at /metrics.

    \b
    Examples:
        tf1sessions serve frozen.pb
        tf1sessions serve half=exports/half_plus_two --port 8501 --grpc-port 8500
        curl -d '{"instances": [1.0, 2.0]}' http://localhost:8501/v1/models/half:predict
    """
    check_address_space()
    from tf1sessions.serving.server import Server, ServerSettings, read_token
    from tf1sessions.serving.settings import Limits

    found = _models(models, config, allow_ops)
    if (tls_cert is None) != (tls_key is None):
        raise UsageError("one of --tls-cert and --tls-key is missing", where="serve", next_step="Give both.")
    settings = ServerSettings(
        host=host,
        port=port,
        grpc_port=grpc_port,
        token=None if token_file is None else read_token(token_file),
        tls=(tls_cert, tls_key) if tls_cert is not None and tls_key is not None else None,
        poll_secs=poll,
        drain_secs=drain,
        lanes=lanes,
        memory_mb=memory_mb,
    )
    limits = Limits(max_body << 20, max_decoded << 20, max_rows, max_waiting, deadline)
    server = Server(found, settings, limits)
    _log_to_terminal(access=not no_access_log)
    if host not in _LOOPBACK and settings.token is None:
        click.echo(f"Warning: whoever reaches {printable(host)} may ask, as there is no --token-file.", err=True)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # what TensorFlow says of the machine when the server imports it

    def started() -> None:
        scheme = "https" if settings.tls else "http"
        click.echo(f"Serving {', '.join(each.name for each in found)} at {scheme}://{_shown(host)}:{server.port}")
        if server.grpc_port is not None:
            click.echo(f"gRPC at {_shown(host)}:{server.grpc_port}")
        sys.stdout.flush()

    server.run(started, signals=True, own_process=True)
    click.echo("Stopped.")
    if unfinished := server.unfinished():  # Python would wait for them at its end
        click.echo(f"{len(unfinished)} requests could not be ended, and were given up.", err=True)
        sys.stdout.flush()
        os._exit(0)


def _models(given: tuple[str, ...], config: str | None, allow_ops: tuple[str, ...]) -> tuple[ModelSettings, ...]:
    import dataclasses

    from tf1sessions.serving.settings import ModelSettings, models_from, name_of, read_models

    found = [] if config is None else list(read_models(config))
    for each in given:
        name, separator, path = each.partition("=")
        named = bool(separator) and not os.path.exists(each)
        found.append(ModelSettings(name, path) if named else ModelSettings(name_of(each), each))
    if not found:
        raise UsageError("no model is given", where="serve", next_step="tf1sessions serve MODEL, or NAME=PATH.")
    models = [dataclasses.replace(each, allow_ops=(*each.allow_ops, *allow_ops)) for each in found]
    return models_from(models)


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _log_to_terminal(*, access: bool) -> None:
    """Write the server's notes to stderr, a line each; requests too, if they are to."""
    handler = logging.StreamHandler()
    handler.setFormatter(PrintableFormatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("tf1sessions.serving")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logging.getLogger("tf1sessions.serving.access").disabled = not access
