"""Checkpoints of TensorFlow 1 for objects of TensorFlow 2, and back.

``reading.py`` values by name · ``writing.py`` a checkpoint written whole or not at all · ``renaming.py`` names that a
user gives · ``conversion.py`` a bare checkpoint in the other form
"""

from tf1sessions.porting.checkpoints.conversion import ConvertedCheckpoint, convert
from tf1sessions.porting.checkpoints.reading import NamedValues, Spec, read

__all__ = ["ConvertedCheckpoint", "NamedValues", "Spec", "convert", "read"]
