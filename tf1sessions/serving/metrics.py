"""Metrics: what a server has done, in plain numbers, and as text for Prometheus."""

from __future__ import annotations

import bisect
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf1sessions.serving.repository import ModelRepository

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Upper bounds of the latencies' buckets, in seconds. Arbitrary.
_BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Counts of requests by model, protocol and outcome, and their latencies.

    Thread-safety: safe to use from any number of threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # protects what stands below it
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: defaultdict[tuple[str, str], float] = defaultdict(float)

    def note(self, model: str, protocol: str, status: int, seconds: float) -> None:
        """Count a request that has ended.

        Args:
            model: Its name; ``""`` when it named none that is served.
            protocol: ``"rest"``, ``"v2"``, ``"grpc"`` or ``"local"``.
            status: Of HTTP, whatever the protocol.
            seconds: From its arrival to its answer.
        """
        key = (model, protocol)
        with self._lock:
            self._requests[(model, protocol, status)] += 1
            self._buckets[key][bisect.bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[key] += seconds

    def requests(self) -> dict[tuple[str, str, int], int]:
        """(model, protocol, status) -> how many requests."""
        with self._lock:
            return dict(self._requests)

    def figures(self, model: str) -> dict[str, Any]:
        """The live figures of a model, for the page."""
        with self._lock:
            counts = {key: count for key, count in self._requests.items() if key[0] == model}
            seconds = sum(value for key, value in self._seconds.items() if key[0] == model)
        total = sum(counts.values())
        return {
            "requests": total,
            "errors": sum(count for (_, _, status), count in counts.items() if status >= 400),
            "mean_ms": round(1000 * seconds / total, 3) if total else 0.0,
        }

    def text(self, repository: ModelRepository) -> bytes:
        """All of it in Prometheus' format; needs the package ``prometheus_client``."""
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.registry import Collector

        metrics = self

        class _Collector(Collector):
            def collect(self) -> Iterable[Any]:
                yield from metrics._of_requests()
                yield from _of_models(repository)

        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Collector())
        return generate_latest(registry)

    def _of_requests(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        with self._lock:
            requests = dict(self._requests)
            buckets = {key: list(counts) for key, counts in self._buckets.items()}
            seconds = dict(self._seconds)
        counted = CounterMetricFamily(
            "tf1sessions_requests", "Requests that ended, by status.", labels=["model", "protocol", "status"]
        )
        errors = CounterMetricFamily("tf1sessions_errors", "Requests that failed.", labels=["model", "protocol"])
        failed: Counter[tuple[str, str]] = Counter()
        for (model, protocol, status), count in sorted(requests.items()):
            counted.add_metric([model, protocol, str(status)], count)
            failed[model, protocol] += count if status >= 400 else 0
        for key, count in sorted(failed.items()):
            errors.add_metric(list(key), count)
        latency = HistogramMetricFamily(
            "tf1sessions_request_seconds", "From arrival to answer.", labels=["model", "protocol"]
        )
        for key, counts in sorted(buckets.items()):
            latency.add_metric(list(key), _cumulated(_BOUNDS, counts), seconds[key])
        yield from (counted, errors, latency)


def _of_models(repository: ModelRepository) -> Iterator[Any]:
    from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily

    labels = ["model", "version"]
    memory = GaugeMetricFamily("tf1sessions_model_bytes", "Bytes of a version's weights.", labels=labels)
    active = GaugeMetricFamily("tf1sessions_active_requests", "Requests that run or wait.", labels=labels)
    signed = [*labels, "signature"]
    waiting = GaugeMetricFamily("tf1sessions_queue_depth", "Requests that wait for a batch.", labels=signed)
    sizes = HistogramMetricFamily("tf1sessions_batch_rows", "Rows of a run.", labels=signed)
    for served in repository.loaded():
        names = [served.name, str(served.version)]
        memory.add_metric(names, served.memory_bytes())
        active.add_metric(names, served.active)
        for signature, statistics in served.statistics().items():
            waiting.add_metric([*names, signature], statistics.waiting)
            counts = [0] * (len(_BATCHES) + 1)
            for rows, count in statistics.batch_sizes.items():
                counts[bisect.bisect_left(_BATCHES, rows)] += count
            sizes.add_metric([*names, signature], _cumulated(_BATCHES, counts), statistics.rows)
    yield from (memory, active, waiting, sizes)


def _cumulated(bounds: Iterable[float], counts: list[int]) -> list[tuple[str, float]]:
    """Buckets as Prometheus has them: each with all that are below its bound."""
    found, total = [], 0
    for bound, count in zip([*map(float, bounds), float("inf")], counts, strict=True):
        total += count
        found.append(("+Inf" if bound == float("inf") else str(bound), float(total)))
    return found
