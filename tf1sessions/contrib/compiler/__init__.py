"""``tf.contrib.compiler``: XLA.

Files::

    jit.py   jit.experimental_jit_scope
    xla.py   xla.compile
"""

from . import jit, xla

__all__ = ["jit", "xla"]
