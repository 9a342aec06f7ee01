"""Monitored sessions of a LegacyGraph: with hooks, checkpoints and summaries, as ``tf.train`` has them.

TensorFlow's MonitoredSession takes anything that creates a session; here that is a LegacyGraph, which is initialized or
restored as a chief's session would be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.porting.legacy_graph import LegacyGraph, LegacySaver
from tf1sessions.runtime import tf

__all__ = ["LegacySessionCreator", "monitored_training_session"]

#: As MonitoredTrainingSession's documentation gives them: seconds between checkpoints, steps between summaries.
_CHECKPOINT_SECS, _SUMMARY_STEPS, _LOG_STEPS = 600, 100, 100
_DEFAULT = object()


class LegacySessionCreator(tf.train.SessionCreator):  # type: ignore[misc]
    """A ``tf.train.ChiefSessionCreator`` for the LegacyGraph that is entered: it takes the place of a session.

    Args:
        scaffold: As there. Its saver, if it has one, is a :class:`~tf1sessions.porting.LegacySaver`.
        master, config: Not looked at.
        checkpoint_dir: A folder whose newest checkpoint is restored, if it has one.
        checkpoint_filename_with_path: That checkpoint instead.

    Raises:
        UsageError: It is not made inside of ``with legacy:``.
    """

    def __init__(
        self,
        scaffold: Any = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        legacy = LegacyGraph.current()
        if legacy is None:
            raise UsageError(
                "there is no LegacyGraph here",
                where="LegacySessionCreator",
                next_step="Make it inside of `with legacy:`.",
            )
        self._legacy = legacy
        self.scaffold = scaffold or tf.train.Scaffold()
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint = checkpoint_filename_with_path

    def create_session(self) -> LegacyGraph:
        """Return the LegacyGraph, initialized or restored."""
        legacy = self._legacy
        self.scaffold = with_saver(self.scaffold)
        self.scaffold.finalize()
        path = self._checkpoint
        state = None if path or not self._checkpoint_dir else tf.train.get_checkpoint_state(self._checkpoint_dir)
        if state is not None:
            path = tf.train.latest_checkpoint(self._checkpoint_dir)
        legacy.reset()
        if path is not None:
            self.scaffold.saver.restore(legacy, path)
            if state is not None:  # they count in what it keeps
                self.scaffold.saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        else:
            legacy.run(self.scaffold.init_op, self.scaffold.init_feed_dict)
            if self.scaffold.init_fn is not None:
                self.scaffold.init_fn(legacy)
        legacy.run(self.scaffold.local_init_op)
        return legacy


def with_saver(scaffold: Any) -> Any:
    """Return a Scaffold with a saver for the variables of the LegacyGraph: the one that it has, or a new one."""
    if isinstance(scaffold.saver, LegacySaver):
        return scaffold
    return tf.train.Scaffold(saver=LegacySaver(), copy_from_scaffold=scaffold)


def monitored_training_session(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Any = None,
    hooks: Sequence[Any] | None = None,
    chief_only_hooks: Sequence[Any] | None = None,
    save_checkpoint_secs: Any = _DEFAULT,
    save_summaries_steps: Any = _DEFAULT,
    save_summaries_secs: Any = _DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = _LOG_STEPS,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = _DEFAULT,
    summary_dir: str | None = None,
    save_graph_def: bool = True,
) -> Any:
    """As ``tf.train.MonitoredTrainingSession``, for the LegacyGraph that is entered.

    Args:
        master, is_chief, config, max_wait_secs: Not looked at: there is one process, which is the chief.
        checkpoint_dir, scaffold, hooks, chief_only_hooks, stop_grace_period_secs, log_step_count_steps, summary_dir: As
            there.
        save_checkpoint_secs, save_checkpoint_steps: As there; every 600 seconds if neither is given.
        save_summaries_steps, save_summaries_secs: As there; every 100 steps if neither is given.
        save_graph_def: As there.

    Raises:
        UsageError: It is not called inside of ``with legacy:``.
    """
    creator = LegacySessionCreator(with_saver(scaffold or tf.train.Scaffold()), checkpoint_dir=checkpoint_dir)
    if save_checkpoint_secs is _DEFAULT:
        save_checkpoint_secs = _CHECKPOINT_SECS if save_checkpoint_steps is _DEFAULT else None
    if save_summaries_steps is _DEFAULT:
        save_summaries_steps = _SUMMARY_STEPS if save_summaries_secs is _DEFAULT else None
    save_checkpoint_steps, save_summaries_secs = (
        None if each is _DEFAULT else each for each in (save_checkpoint_steps, save_summaries_secs)
    )
    found = [*(chief_only_hooks or ())]
    folder = summary_dir or checkpoint_dir
    if folder:
        if log_step_count_steps and log_step_count_steps > 0:
            found.append(tf.train.StepCounterHook(output_dir=folder, every_n_steps=log_step_count_steps))
        if (save_summaries_steps or 0) > 0 or (save_summaries_secs or 0) > 0:
            found.append(
                tf.train.SummarySaverHook(
                    scaffold=creator.scaffold,
                    save_steps=save_summaries_steps,
                    save_secs=save_summaries_secs,
                    output_dir=folder,
                )
            )
    if checkpoint_dir and ((save_checkpoint_secs or 0) > 0 or (save_checkpoint_steps or 0) > 0):
        found.append(
            tf.train.CheckpointSaverHook(
                checkpoint_dir,
                save_secs=save_checkpoint_secs,
                save_steps=save_checkpoint_steps,
                scaffold=creator.scaffold,
                save_graph_def=save_graph_def,
            )
        )
    return tf.train.MonitoredSession(
        session_creator=creator, hooks=[*(hooks or ()), *found], stop_grace_period_secs=stop_grace_period_secs
    )
