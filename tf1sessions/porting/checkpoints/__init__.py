"""Checkpoints of TensorFlow 1 for objects of TensorFlow 2, and back.

::

    read() ──▶ names and shapes ──▶ matching.py, planning.py ──▶ a Plan, which accounts for every variable of both sides
                                                                  │
                     restore(): values into objects  ◀── a row ──▶  save_named(): values of objects into a checkpoint

Files::

    reading.py     values by name
    writing.py     a checkpoint written whole or not at all
    renaming.py    names that a user gives
    conversion.py  a bare checkpoint in the other form
    objects.py     the variables of objects by name
    names.py       what the names of variables say
    layouts.py     how values lie in layers
    assignment.py  the best pairing, and whether it is the only one
    matching.py    which variable is which
    optimizers.py  slots and formulas
    settings.py    what the graph beside a checkpoint says about them
    plans.py       the plan as a record
    planning.py    the plan: what is done with each variable, and how that is found
    naming.py      names for what is saved
    transfer.py    values from here to there
"""

from tf1sessions.porting.checkpoints.conversion import ConvertedCheckpoint, convert
from tf1sessions.porting.checkpoints.plans import Plan
from tf1sessions.porting.checkpoints.reading import NamedValues, Spec, read
from tf1sessions.porting.checkpoints.transfer import plan, restore, save_named
from tf1sessions.porting.checkpoints.writing import CheckpointWriter

__all__ = [
    "CheckpointWriter",
    "ConvertedCheckpoint",
    "NamedValues",
    "Plan",
    "Spec",
    "convert",
    "plan",
    "read",
    "restore",
    "save_named",
]
