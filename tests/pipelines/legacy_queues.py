"""Runs the cases of tests/golden/cases/queues_*.py on today's TensorFlow, and compares them with TensorFlow 1.15.5.

Runs in a process of its own, ``python legacy_queues.py WAY...``, and prints a line of JSON for each way: case -> what
differs. The ways:

* ``library``: in a GraphSession of a TensorFlow 2 program, with TensorFlow's own coordinator;
* ``coordinator``: with version 1's behaviour, and our Coordinator in place of TensorFlow's;
* ``adopted``: in a GraphSession, the queue runners adopted by a QueuePipeline; only cases that let it start them;
* ``adopted v1``: the same with version 1's behaviour.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
sys.path.insert(0, str(GOLDEN / "cases"))

import queues_record as record  # noqa: E402  (after the path)

#: Those that one process can run, one after the other.
WAYS = (("library", "adopted"), ("coordinator", "adopted v1"))


def trial_of(way: str, t1: Any) -> type[record.Trial]:
    """The kind of trial that runs a case in this way."""
    tf = t1.tf1
    from tf1sessions.errors import StageError
    from tf1sessions.pipelines.coordinator import Coordinator
    from tf1sessions.pipelines.pipeline import QueuePipeline

    config = t1.SessionConfig.from_proto(record.config(tf))

    class Library(record.Trial):  # type: ignore[misc]
        def __enter__(self) -> Library:
            self.owner = self._stack.enter_context(t1.GraphSession(config))
            self.session = self.owner.session  # what TensorFlow's queue runners take
            return self

        def new_session(self) -> Any:
            return self._stack.enter_context(contextlib.closing(t1.Session(graph=self.owner.graph)))

    class OurCoordinator(Library):
        def coordinator(self, **settings: Any) -> Any:
            return Coordinator(**settings)

    class Adopted(Library):
        @contextlib.contextmanager
        def running(
            self, functions: Sequence[Callable[[Any], None]] = (), queues: Sequence[Any] = ()
        ) -> Iterator[record.Ended]:
            ended = record.Ended()
            before = threading.enumerate()
            try:
                with QueuePipeline(self.owner, join_secs=record.DEADLINE_SECS) as pipe:
                    if runners := tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
                        pipe.adopt(runners)
                    for queue in queues:
                        pipe.queue(queue)
                    for function in functions:
                        pipe.adopt(threading.Thread(target=function, args=(pipe.coordinator,)))
                    pipe.start()
                    yield ended
                    if functions:
                        pipe.coordinator.request_stop()
            except StageError as error:
                ended.raised = record.described(error.__cause__)
            ended.threads = [
                thread
                for thread in threading.enumerate()
                if thread not in before and thread.name != "tf1sessions-watchdog"  # that of all sessions
            ]

    return {"library": Library, "coordinator": OurCoordinator}.get(way, Adopted)


def differences(way: str) -> dict[str, dict[str, Any]]:
    """Case -> what was noted -> what it was on 1.15.5, and what it is now."""
    import tf1sessions as t1

    if way in ("coordinator", "adopted v1"):
        t1.enable_v1_behavior()
    t1.tf1.logging.set_verbosity(t1.tf1.logging.FATAL)
    for module in ("queues_cases", "queues_runner_cases", "queues_input_cases"):
        importlib.import_module(module)
    golden = record.load(GOLDEN / "data" / "queues.json.gz")
    cases = {name: case for name, case in record.CASES.items() if "adopted" not in way or name in record.ADOPTED}
    found: dict[str, dict[str, Any]] = {
        name: {"case": ["recorded", "not there, or the reverse"]} for name in record.CASES.keys() ^ golden.keys()
    }
    trial = trial_of(way, t1)
    for name in cases.keys() & golden.keys():
        try:
            new = json.loads(json.dumps(record.record(trial(t1.tf1), cases[name])))
        except Exception as error:  # noqa: BLE001 - one case, and not the others
            new = {"failed": repr(error)}
        differ = {
            key: [golden[name].get(key), new.get(key)]
            for key in sorted(golden[name].keys() | new.keys())
            if golden[name].get(key) != new.get(key)
        }
        if differ:
            found[name] = differ
    return found


if __name__ == "__main__":
    for way in sys.argv[1:]:
        print(json.dumps(differences(way), sort_keys=True))
