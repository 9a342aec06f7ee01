"""The page at ``/``: models, their signatures, live figures, and a form to try one."""

from __future__ import annotations

import functools
import importlib.resources
import json
from typing import Any

from tf1sessions.serving.served_model import ServedModel, spec_shape
from tf1sessions.serving.service import Service

__all__ = ["HEADERS", "figures", "html"]

#: The page runs its own script alone, and no other page shows it in a frame.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
}


@functools.cache
def html() -> bytes:
    """The page, which asks for :func:`figures` itself."""
    return importlib.resources.files("tf1sessions.serving").joinpath("page.html").read_bytes()


def figures(service: Service) -> bytes:
    """Return the page's figures, as JSON."""
    repository = service.repository
    models = []
    for name in repository.names:
        versions = [each for each in repository.loaded() if each.name == name]
        models.append(
            {
                "name": name,
                "note": repository.note(name),
                "statuses": [
                    {"version": each.version, "state": each.state, "error": each.error_message}
                    for each in repository.statuses(name)
                ],
                "versions": [_version(each) for each in versions],
                **service.metrics.figures(name),
            }
        )
    return json.dumps({"models": models, "ready": repository.ready}).encode("utf-8")


def _version(served: ServedModel) -> dict[str, Any]:
    statistics = served.statistics()
    signatures = {}
    for name, signature in served.model.signatures.items():
        batches = statistics.get(name)
        signatures[name] = {
            "inputs": {key: [spec.dtype.name, spec_shape(spec)] for key, spec in signature.inputs.items()},
            "outputs": {key: [spec.dtype.name, spec_shape(spec)] for key, spec in signature.outputs.items()},
            "method": served.method_name(name).rpartition("/")[2],
            "batching": served.unbatched.get(name, ""),
            "waiting": batches.waiting if batches else 0,
            "mean_rows": round(batches.rows / batches.batches, 2) if batches and batches.batches else 0,
        }
    return {
        "version": served.version,
        "path": served.path,
        "kind": served.model.kind,
        "bytes": served.memory_bytes(),
        "active": served.active,
        "default": served.model.signature.name,
        "signatures": signatures,
    }
