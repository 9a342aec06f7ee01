"""``tf.contrib.tfprof``: what a graph and its runs are made of, as ``tf.profiler`` says it.

Files::

    model_analyzer.py   reports: parameters, operations, time and memory
    tfprof_logger.py    what the profiler reads beside the graph
    profile_context.py  ProfileContext: steps of a program that are traced
"""

from . import model_analyzer, tfprof_logger
from .profile_context import ProfileContext

__all__ = ["ProfileContext", "model_analyzer", "tfprof_logger"]
