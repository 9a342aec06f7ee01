"""ModelRepository: the models of a server, their versions on disk, and which of them are loaded.

::

    folder ──▶ versions.py: what is there ──▶ look(), in a thread, now and then: load the new, swap, retire the old
                                                                      │
    request ──▶ using(name, version) ──▶ the version that is loaded ◀─┘   counted until it ends, so that a version is
                                                                          closed after its last request

A version is loaded beside the old one, which answers until the new one can; one version is loaded at a time. One that
does not load leaves the old one in place, and is tried again when its files change, and now and then: what failed may
have been the machine's, which had no memory or descriptors left.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import ClosedError, ModelFileError, Tf1SessionsError
from tf1sessions.serving.answers import NotFound
from tf1sessions.serving.served_model import ServedModel
from tf1sessions.serving.settings import Limits, ModelSettings
from tf1sessions.serving.versions import Found, replaced, versions_on_disk

__all__ = ["ModelRepository", "VersionStatus"]

logger = logging.getLogger("tf1sessions.serving")

_RETRY_SECS = 60.0  # until what did not load is tried again, as in TensorFlow Serving; twice as long each time,
_MOST_RETRY_SECS = 3600.0  # up to this


@dataclass
class VersionStatus:
    """A version, as TensorFlow Serving's model status has it.

    Attributes:
        version: Its number.
        state: ``"LOADING"``, ``"AVAILABLE"``, ``"UNLOADING"`` or ``"END"``.
        error_code: ``"OK"``, or ``"UNKNOWN"`` when it could not be loaded.
        error_message: Why.
        stamp: Of its files, when that was so.
        tries: How often these files did not load.
        retry_at: When they are tried again, on the monotonic clock.
    """

    version: int
    state: str
    error_code: str = "OK"
    error_message: str = ""
    stamp: tuple[Any, ...] = ()
    tries: int = 0
    retry_at: float = 0.0

    def keeps_failing(self, stamp: tuple[Any, ...]) -> bool:
        """Return whether files with this stamp did not load, and shall not yet be tried again."""
        return self.error_code != "OK" and self.stamp == stamp and time.monotonic() < self.retry_at


class _Host:
    """A model, whatever its versions. Changed by the thread that looks; read by all."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self.loaded: dict[int, ServedModel] = {}
        self.statuses: dict[int, VersionStatus] = {}
        self.known: dict[tuple[Any, ...], int] = {}  # of versions_on_disk()
        self.seen: dict[int, tuple[Any, ...]] = {}  # at the last look
        self.stamps: dict[int, tuple[Any, ...]] = {}  # of what was loaded
        self.note = ""  # what is wrong with the folder


class ModelRepository:
    """Loads models and their versions, and gives them to requests.

    Args:
        models: The models.
        limits: On requests.
        config_of: Model -> the configuration of its session; None for TensorFlow's own.
        poll_secs: How often the folders are looked at; 0 for never.
        drain_secs: How long a version that is replaced waits for its requests.
        collect: Frees what versions leave behind; called some time after one was loaded or closed.

    Thread-safety: everything is safe from any thread.
    """

    def __init__(
        self,
        models: Sequence[ModelSettings],
        limits: Limits | None = None,
        *,
        config_of: Callable[[ModelSettings], Any] = lambda settings: None,
        poll_secs: float = 2.0,
        drain_secs: float = 30.0,
        collect: Callable[[], object] = gc.collect,
    ) -> None:
        self.limits = limits or Limits()
        self._hosts = {settings.name: _Host(settings) for settings in models}
        self._config_of = config_of
        self._poll_secs = poll_secs
        self._drain_secs = drain_secs
        self._looking = threading.Lock()  # one thread at a time looks and loads
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None
        self._retiring: list[threading.Thread] = []
        self._collect = collect
        self._changed = False  # a version was loaded, or was closed and its memory is not yet free

    # -- the beginning and the end

    def start(self) -> None:
        """Load every model, and look after their folders from now on.

        Raises:
            Tf1SessionsError, OSError: A model cannot be loaded. Nothing stays loaded.
        """
        try:
            for host in self._hosts.values():
                self._look(host, first=True)
        except BaseException:
            self.close(0.0)
            raise
        self._changed = False
        if self._poll_secs > 0:
            self._watcher = threading.Thread(target=self._watch, name="tf1sessions-versions", daemon=True)
            self._watcher.start()

    def close(self, drain_secs: float | None = None) -> None:
        """Retire all models. Closing again does nothing."""
        self._stop.set()
        if self._watcher is not None and self._watcher is not threading.current_thread():
            self._watcher.join()
        with self._looking:
            until = time.monotonic() + (self._drain_secs if drain_secs is None else drain_secs)
            for host in self._hosts.values():
                for served in list(host.loaded.values()):
                    served.retire(max(0.0, until - time.monotonic()))
                host.loaded = {}
        for thread in self._retiring:
            thread.join()

    def __enter__(self) -> ModelRepository:
        self.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    # -- for requests

    @property
    def names(self) -> list[str]:
        """The models' names."""
        return list(self._hosts)

    def __contains__(self, name: str) -> bool:
        return name in self._hosts

    @contextlib.contextmanager
    def using(self, name: str, version: int | None = None) -> Iterator[ServedModel]:
        """A version for one request; it stays loaded until the block ends.

        Raises:
            NotFound: There is no such model or version.
            Overloaded: Too many requests of it wait.
        """
        served = self.enter(name, version)
        try:
            yield served
        finally:
            served.leave()

    def enter(self, name: str, version: int | None = None) -> ServedModel:
        """As :meth:`using`; the caller calls ``leave()`` of what it gets."""
        while True:
            served = self.find(name, version)
            if served.enter():
                return served
            if self._stop.is_set():
                raise ClosedError("the server stops", where=f"model {name!r}", next_step="Ask another server.")

    def find(self, name: str, version: int | None = None) -> ServedModel:
        """The version of that number, or the highest that is loaded.

        Raises:
            NotFound: There is no such model or version.
        """
        host = self._hosts.get(name)
        loaded = host.loaded if host is not None else {}
        if version is None and loaded:
            return loaded[max(loaded)]
        if version is not None and version in loaded:
            return loaded[version]
        asked = f"Latest({name})" if version is None else f"Specific({name}, {version})"
        raise NotFound(f"Servable not found for request: {asked}")

    def statuses(self, name: str, version: int | None = None) -> list[VersionStatus]:
        """The states of a model's versions, the highest first.

        Raises:
            NotFound: There is no such model or version.
        """
        host = self._hosts.get(name)
        if host is None or (version is not None and version not in host.statuses):
            which = f"Could not find any versions of model {name}"
            raise NotFound(which if version is None else f"Could not find version {version} of model {name}")
        found = [host.statuses[number] for number in sorted(host.statuses, reverse=True)]
        return [each for each in found if version is None or each.version == version]

    def note(self, name: str) -> str:
        """The fault of a model's folder; empty when there is none."""
        return self._hosts[name].note

    def loaded(self) -> list[ServedModel]:
        """All versions that are loaded."""
        return [served for host in self._hosts.values() for _, served in sorted(host.loaded.items())]

    @property
    def ready(self) -> bool:
        """Whether each model has a version that answers, and the server does not stop."""
        return not self._stop.is_set() and all(host.loaded for host in self._hosts.values())

    # -- versions

    def look(self) -> None:
        """Look at all folders now, and take up what has changed. Never raises for a model."""
        for host in self._hosts.values():
            if not self._stop.is_set():
                self._look(host)

    def _watch(self) -> None:
        while not self._stop.wait(self._poll_secs):
            if self._changed:
                self._changed = False
                self._collect()  # a graph is full of cycles, and its reader of the checkpoint has a file open
            try:
                self.look()
            except Exception:  # no model may end the others' watching
                logger.exception("the folders of the models could not be looked at")

    def _look(self, host: _Host, first: bool = False) -> None:
        with self._looking:
            try:
                found = versions_on_disk(host.settings.path, host.settings.versions, host.known)
            except OSError as error:
                if first:
                    raise ModelFileError(
                        f"there is no model: {error.strerror or error}",
                        where=host.settings.path,
                        next_step="Give a model, or a folder with numbered folders.",
                        path=host.settings.path,
                    ) from error
                self._note(host, f"{host.settings.path} cannot be read: {error}. What is loaded stays.")
                return
            if not found:
                self._note(host, f"{host.settings.path} has no numbered folders any more. What is loaded stays.")
                return
            changed = [str(each.version) for each in found if each.stamp != host.stamps.get(each.version, each.stamp)]
            text = "the files of version {} are others than those that were loaded. Give them a new number"
            self._note(host, text.format(", ".join(changed)) if changed else "")
            for each in self._to_load(host, found, first):
                self._load(host, each, first)
            for number in replaced(host.loaded.keys(), {each.version for each in found}):
                self._retire(host, number)

    def _note(self, host: _Host, note: str) -> None:
        if note and note != host.note:
            logger.warning("model %s: %s", host.settings.name, note)
        host.note = note

    def _to_load(self, host: _Host, found: Sequence[Found], first: bool) -> list[Found]:
        """Return the versions to load: whose files are new, and have not changed since the last look."""
        before, host.seen = host.seen, {each.version: each.stamp for each in found}
        wanted = []
        for each in found:
            if each.version in host.loaded:  # a number stands for one thing
                continue
            status = host.statuses.get(each.version)
            if status is not None and status.keeps_failing(each.stamp):
                continue
            if first or before.get(each.version) == each.stamp:
                wanted.append(each)
        return wanted

    def _load(self, host: _Host, found: Found, first: bool) -> None:
        settings = host.settings
        version = found.version
        before, host.statuses[version] = host.statuses.get(version), VersionStatus(version, "LOADING")
        started = time.monotonic()
        try:
            served = ServedModel(settings, version, found.path, self.limits, self._config_of(settings))
        except Exception as error:
            kind = type(error).__name__
            message = str(error) if isinstance(error, Tf1SessionsError) else f"{kind}: {error}"
            tries = 1 + (before.tries if before is not None and before.stamp == found.stamp else 0)
            retry_at = time.monotonic() + min(_RETRY_SECS * 2 ** min(tries - 1, 10), _MOST_RETRY_SECS)
            host.statuses[version] = VersionStatus(version, "END", "UNKNOWN", message, found.stamp, tries, retry_at)
            if first and found.only:
                raise
            logger.error("model %s, version %d does not load: %s", settings.name, version, message)
            return
        host.loaded = {**host.loaded, version: served}
        host.stamps[version] = found.stamp
        self._changed = True
        host.statuses[version] = VersionStatus(version, "AVAILABLE")
        logger.info(
            "model %s, version %d is loaded from %s in %.1f s",
            *(settings.name, version, found.path, time.monotonic() - started),
        )

    def _retire(self, host: _Host, version: int) -> None:
        """Take a version out of the way of new requests, and close it in a thread when its own have ended."""
        served = host.loaded[version]
        host.loaded = {number: each for number, each in host.loaded.items() if number != version}
        host.statuses[version] = VersionStatus(version, "UNLOADING")

        def drain() -> None:
            if not served.retire(self._drain_secs):
                logger.warning("model %s, version %d was unloaded before its requests had ended", served.name, version)
            if version not in host.loaded:
                host.statuses[version] = VersionStatus(version, "END")
            logger.info("model %s, version %d is unloaded", served.name, version)
            self._changed = True

        self._retiring = [each for each in self._retiring if each.is_alive()]
        thread = threading.Thread(target=drain, name="tf1sessions-unload", daemon=True)
        self._retiring.append(thread)
        thread.start()
