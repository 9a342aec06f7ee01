"""``tf.contrib.slim.nets``: image networks with the variables of their published checkpoints.

A network is a function of images, [B, H, W, 3], that returns the logits and a dict of its end points: tensors by name.
It is built within its arg scope: ``with slim.arg_scope(vgg.vgg_arg_scope()): vgg.vgg_16(images)``.

Those of 1.15's ``contrib.slim.nets``::

    alexnet.py         alexnet_v2
    inception.py       the three below in one module
    inception_v1.py    inception_v1, GoogLeNet
    inception_v2.py    inception_v2, with batch normalization
    inception_v3.py    inception_v3
    overfeat.py        overfeat
    resnet_utils.py    blocks of residual units, with atrous convolution
    resnet_v1.py       resnet_v1_50 and its kin
    resnet_v2.py       resnet_v2_50 and its kin: the activation comes first
    vgg.py             vgg_a, vgg_16, vgg_19

And those that came with TensorFlow's models, as ``nets``::

    inception_resnet_v2.py   inception_resnet_v2
    inception_utils.py       the arg scope of the next and of the one above
    inception_v4.py          inception_v4
    mobilenet_v1.py          mobilenet_v1
    mobilenet_v2.py          mobilenet

What they share::

    parts.py           stems and mixed blocks as tables
    heads.py           classifiers at the end
"""

from . import (
    alexnet,
    inception,
    inception_resnet_v2,
    inception_utils,
    inception_v1,
    inception_v2,
    inception_v3,
    inception_v4,
    mobilenet_v1,
    mobilenet_v2,
    overfeat,
    resnet_utils,
    resnet_v1,
    resnet_v2,
    vgg,
)

__all__ = [
    "alexnet",
    "inception",
    "inception_resnet_v2",
    "inception_utils",
    "inception_v1",
    "inception_v2",
    "inception_v3",
    "inception_v4",
    "mobilenet_v1",
    "mobilenet_v2",
    "overfeat",
    "resnet_utils",
    "resnet_v1",
    "resnet_v2",
    "vgg",
]
