"""``tf.contrib.opt``: more optimizers, wrappers around optimizers, and SciPy's.

Each is a ``tf.train.Optimizer`` unless its docstring says otherwise, and works on ref and on resource variables.
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
