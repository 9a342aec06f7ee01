"""``tf.contrib`` as TensorFlow 1.15 had it, on today's TensorFlow.

A file or package here has the name of the module of ``tf.contrib`` that it replaces, and that module's public names:
``from tf1sessions import contrib`` and then ``contrib.layers.batch_norm(...)``. Scripts of ``tf1sessions run`` get the
same code as ``tf.contrib`` and ``import tensorflow.contrib``. Variables have the names, shapes, dtypes and collections
that they have in 1.15.5, so that its checkpoints load. Everything is for graph mode, and importing a module changes
nothing.

The modules of 1.15 that are not rebuilt are there, too, with no names in them; a name that is read from them, or that
a rebuilt module lacks, is an error that says what to use in its place (source/replacements.py).

A module is imported when it is used first; importing this package imports no TensorFlow.

Files::

    _mnist.py            MNIST in batches
    _named.py            names for functions that others make
    _tpu_only.py         names of what only a TPU can do
    _wrapped_optimizer.py  what optimizers around another optimizer have in common
    autograph.py         contrib.autograph
    boosted_trees/       contrib.boosted_trees: losses
    checkpoint.py        contrib.checkpoint
    cluster_resolver.py  contrib.cluster_resolver
    compiler/            contrib.compiler
    copy_graph.py        contrib.copy_graph
    crf.py               contrib.crf
    cudnn_rnn/           contrib.cudnn_rnn
    data.py              contrib.data
    distributions/       contrib.distributions
    distribute.py        contrib.distribute
    eager/               contrib.eager
    factorization/       contrib.factorization
    estimator/           contrib.estimator
    feature_column.py    contrib.feature_column: sequences
    framework/           contrib.framework
    graph_editor/        contrib.graph_editor
    image.py             contrib.image
    keras.py             contrib.keras
    layers/              contrib.layers
    learn/               contrib.learn
    legacy_seq2seq.py    contrib.legacy_seq2seq
    lookup.py            contrib.lookup
    losses/              contrib.losses
    memory_stats.py      contrib.memory_stats
    metrics/             contrib.metrics
    nccl.py              contrib.nccl
    nn.py                contrib.nn
    opt/                 contrib.opt
    periodic_resample.py contrib.periodic_resample
    quantize/            contrib.quantize
    recurrent.py         contrib.recurrent
    resampler.py         contrib.resampler
    rnn/                 contrib.rnn
    seq2seq/             contrib.seq2seq
    signal.py            contrib.signal
    slim/                contrib.slim
    predictor.py         contrib.predictor
    util/                contrib.util
    tensor_forest/       contrib.tensor_forest
    tpu/                 contrib.tpu
    staging.py           contrib.staging
    stateless.py         contrib.stateless
    summary.py           contrib.summary
    tensorboard/         contrib.tensorboard
    tfprof/              contrib.tfprof
    timeseries/          contrib.timeseries
    training/            contrib.training
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import FrameType, ModuleType
from typing import Any

from ..errors import MissingSymbolError
from ..source import contrib_addresses, replacements

_MODULES = frozenset(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))

__all__ = sorted(_MODULES)


class _Package(ModuleType):
    """This package. A module of it that is imported, in whichever way, explains the names that it lacks."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in _MODULES and isinstance(value, ModuleType):
            _explain_missing(value, f"tf.contrib.{name}")


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in contrib_addresses.INNER:
        raise _missing("tf.contrib", name)
    module = ModuleType(f"{__name__}.{name}", f"``tf.contrib.{name}``, which is not rebuilt: it has no names.")
    _explain_missing(module, f"tf.contrib.{name}")
    globals()[name] = module
    return module


def _explain_missing(module: ModuleType, symbol: str) -> None:
    """Let a name that ``module`` and the public modules in it lack raise with its replacement."""
    own = vars(module).get("__getattr__")
    if getattr(own, "explains", False):
        return

    def getattr_(attribute: str) -> Any:
        if own is not None:
            try:
                return own(attribute)
            except MissingSymbolError as error:
                said = getattr(error, "symbol", f"{symbol}.{attribute}")
                raise _error(said, attribute, error.next_step, sys._getframe(1)) from error.__cause__
            except AttributeError:
                pass  # said better below
        raise _missing(symbol, attribute)

    getattr_.explains = True  # type: ignore[attr-defined]
    vars(module)["__getattr__"] = getattr_
    for name, value in list(vars(module).items()):
        inside = isinstance(value, ModuleType) and value.__name__ == f"{module.__name__}.{name}"
        if inside and not name.startswith("_"):
            _explain_missing(value, f"{symbol}.{name}")


def _missing(module: str, name: str) -> AttributeError:
    """The error for reading ``name`` from ``module``, in the line that called our caller."""
    if name.startswith("__"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    line = sys._getframe(2)
    symbol = replacements.as_written(f"{module}.{name}", line)
    return _error(symbol, name, f"{replacements.find(symbol)}.", line)


def _error(symbol: str, name: str, next_step: str | None, line: FrameType) -> MissingSymbolError:
    return MissingSymbolError(
        f"{symbol} is not available",
        where=f"{line.f_code.co_filename}:{line.f_lineno}",
        next_step=next_step,
        name=name,
        symbol=symbol,
    )


def __dir__() -> list[str]:
    return sorted({*_MODULES, *contrib_addresses.INNER})
