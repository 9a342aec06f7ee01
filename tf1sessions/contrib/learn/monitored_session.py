"""``tf.contrib.learn.python.learn.monitored_session``: sessions with hooks, as ``tf.train`` has them."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["ChiefSessionCreator", "MonitoredSession", "Scaffold", "SessionCreator", "WorkerSessionCreator"]

ChiefSessionCreator: Any = tf.train.ChiefSessionCreator
MonitoredSession: Any = tf.train.MonitoredSession
MonitoredTrainingSession: Any = tf.train.MonitoredTrainingSession
Scaffold: Any = tf.train.Scaffold
SessionCreator: Any = tf.train.SessionCreator
SingularMonitoredSession: Any = tf.train.SingularMonitoredSession
WorkerSessionCreator: Any = tf.train.WorkerSessionCreator
