"""``tf.contrib.opt``: more optimizers, wrappers around optimizers, and SciPy's.

Each is a ``tf.train.Optimizer`` unless its docstring says otherwise, and works on ref and on resource variables.

Files::

    adam_optimizers.py        Nadam, AdaMax, lazy Adam, Adam with a global step
    averaging_optimizers.py   workers that average their variables
    base.py                   one rule for ref and for resource variables
    drop_stale_gradient_optimizer.py  drops old gradients
    external_optimizer.py     SciPy's optimizers
    ggt.py                    GGT
    lars_optimizer.py         LARS
    matrix_functions.py       roots of matrices
    moving_average_optimizer.py  averages of variables, and their saver
    multitask_optimizer_wrapper.py  leaves zero gradients out
    reg_adagrad_optimizer.py  Adagrad for regularizers
    shampoo.py                Shampoo
    sign_decay.py             decays for AddSign and PowerSign
    sign_optimizers.py        AddSign and PowerSign
    variable_clipping_optimizer.py  clips variables
    weight_decay_optimizers.py  AdamW and its kin
"""

from .adam_optimizers import (
    AdaMaxOptimizer,
    AdamGSOptimizer,
    LazyAdamGSOptimizer,
    LazyAdamOptimizer,
    NadamOptimizer,
)
from .averaging_optimizers import (
    AGNCustomGetter,
    AGNOptimizer,
    ElasticAverageCustomGetter,
    ElasticAverageOptimizer,
    ModelAverageCustomGetter,
    ModelAverageOptimizer,
)
from .drop_stale_gradient_optimizer import DropStaleGradientOptimizer
from .external_optimizer import ExternalOptimizerInterface, ScipyOptimizerInterface
from .ggt import GGTOptimizer
from .lars_optimizer import LARSOptimizer
from .moving_average_optimizer import MovingAverageOptimizer
from .multitask_optimizer_wrapper import MultitaskOptimizerWrapper, clip_gradients_by_global_norm
from .reg_adagrad_optimizer import RegAdagradOptimizer
from .shampoo import ShampooOptimizer
from .sign_optimizers import AddSignOptimizer, PowerSignOptimizer
from .variable_clipping_optimizer import VariableClippingOptimizer
from .weight_decay_optimizers import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)

__all__ = [
    "AGNCustomGetter",
    "AGNOptimizer",
    "AdaMaxOptimizer",
    "AdamGSOptimizer",
    "AdamWOptimizer",
    "AddSignOptimizer",
    "DecoupledWeightDecayExtension",
    "DropStaleGradientOptimizer",
    "ElasticAverageCustomGetter",
    "ElasticAverageOptimizer",
    "ExternalOptimizerInterface",
    "GGTOptimizer",
    "LARSOptimizer",
    "LazyAdamGSOptimizer",
    "LazyAdamOptimizer",
    "ModelAverageCustomGetter",
    "ModelAverageOptimizer",
    "MomentumWOptimizer",
    "MovingAverageOptimizer",
    "MultitaskOptimizerWrapper",
    "NadamOptimizer",
    "PowerSignOptimizer",
    "RegAdagradOptimizer",
    "ScipyOptimizerInterface",
    "ShampooOptimizer",
    "VariableClippingOptimizer",
    "clip_gradients_by_global_norm",
    "extend_with_decoupled_weight_decay",
]
