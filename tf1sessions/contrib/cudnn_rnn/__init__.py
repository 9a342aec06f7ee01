"""``tf.contrib.cudnn_rnn``: the layers of cuDNN, computed by TensorFlow's own operations on every device.

Their one variable is ``opaque_kernel``, as in 1.15, and a saver of the graph also writes, and reads, the canonical
variables of the cells: a checkpoint of 1.15 loads, and cells of ``CudnnCompatible...`` load what the layers have saved.

Files::

    cudnn_rnn.py      layers over whole sequences
    cudnn_rnn_ops.py  the forms of their parameters, and the cells
"""

from .cudnn_rnn import CudnnGRU, CudnnLSTM, CudnnRNNRelu, CudnnRNNTanh
from .cudnn_rnn_ops import (
    CudnnCompatibleGRUCell,
    CudnnCompatibleLSTMCell,
    CudnnGRUSaveable,
    CudnnLSTMSaveable,
    CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh,
    CudnnRNNReluSaveable,
    CudnnRNNTanhSaveable,
)

__all__ = [
    "CudnnCompatibleGRUCell",
    "CudnnCompatibleLSTMCell",
    "CudnnGRU",
    "CudnnGRUSaveable",
    "CudnnLSTM",
    "CudnnLSTMSaveable",
    "CudnnParamsFormatConverterGRU",
    "CudnnParamsFormatConverterLSTM",
    "CudnnParamsFormatConverterRelu",
    "CudnnParamsFormatConverterTanh",
    "CudnnRNNRelu",
    "CudnnRNNReluSaveable",
    "CudnnRNNTanh",
    "CudnnRNNTanhSaveable",
]
