"""Upgrades of old graphs so that today's TensorFlow takes them: one table.

::

    upgrade(graph_def) ──▶ each row: find its nodes ──▶ (the first hit copies the graph) ──▶ change them ──▶ a note
    unknown_operations(graph_def) ──▶ what is left that this TensorFlow cannot run
    importing(import_graph_def)   ──▶ tries again without the recorded shapes that TensorFlow found inconsistent

Operations of TensorFlow's core are kept compatible by TensorFlow itself: of the 1,393 that 1.15.5 had, 33 are gone from
2.21 and none has lost an attribute. So the rows are about the rest: operations of `tf.contrib` and the few of the core
that are gone, or are there and no longer run; graphs that were rewritten for other hardware; attributes that newer
versions wrote; and graphs that were cut or frozen by tools that left loose ends. Every row sees the functions of a
graph too. Operations that are gone and have no row are in ``lost.py``.

Nothing here trusts the graph: a node that is not as its operation demands is left for TensorFlow to refuse.

Files::

    table.py         the table of upgrades, and what is done with it
    hardware.py      its rows about TPUs, TensorRT, MKL, devices
    operations.py    ... about operations that are gone or were otherwise
    loose_ends.py    ... about graphs that were cut or frozen by tools
    attributes.py    ... about attributes and versions
    compositions.py  operations that are gone, composed of others
    lost.py          those that nothing makes up for
    rewriting.py     a graph that is being rewritten
"""

from __future__ import annotations

from tf1sessions.models.upgrades.loose_ends import WAS
from tf1sessions.models.upgrades.rewriting import Upgrade
from tf1sessions.models.upgrades.table import UPGRADES, importing, unknown_operations, upgrade, without_output_shapes

__all__ = ["UPGRADES", "WAS", "Upgrade", "importing", "unknown_operations", "upgrade", "without_output_shapes"]
