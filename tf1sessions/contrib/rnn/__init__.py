"""``tf.contrib.rnn``: recurrent cells and what wraps, stacks and unrolls them.

Files::

    conv_cells.py         cells whose products are convolutions
    core_rnn_cell.py      what cells share; projections and embeddings around them
    fused_rnn_cell.py     RNNs over whole sequences
    grid_cells.py         cells over time and frequency
    gru_ops.py            GRU cells of one op
    independent_cells.py  cells whose units see only their own state
    lstm_ops.py           LSTM cells of one op
    rnn.py                bidirectional RNNs in layers
    rnn_cell.py           the other cells
"""

from .core_rnn_cell import (
    BasicLSTMCell,
    BasicRNNCell,
    CompiledWrapper,
    DeviceWrapper,
    DropoutWrapper,
    EmbeddingWrapper,
    GRUCell,
    InputProjectionWrapper,
    LayerRNNCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    OutputProjectionWrapper,
    ResidualWrapper,
    RNNCell,
)
from .fused_rnn_cell import FusedRNNCell, FusedRNNCellAdaptor, TimeReversedFusedRNN
from .grid_cells import BidirectionalGridLSTMCell, GridLSTMCell
from .gru_ops import GRUBlockCell, GRUBlockCellV2
from .lstm_ops import LSTMBlockCell, LSTMBlockFusedCell, LSTMBlockWrapper
from .rnn import (
    best_effort_input_batch_size,
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
    transpose_batch_time,
)
from .rnn_cell import (
    AttentionCellWrapper,
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
    CoupledInputForgetGateLSTMCell,
    GLSTMCell,
    HighwayWrapper,
    IndRNNCell,
    IndyGRUCell,
    IndyLSTMCell,
    IntersectionRNNCell,
    LayerNormBasicLSTMCell,
    NASCell,
    PhasedLSTMCell,
    SRUCell,
    TimeFreqLSTMCell,
    UGRNNCell,
)

__all__ = [
    "AttentionCellWrapper",
    "BasicLSTMCell",
    "BasicRNNCell",
    "BidirectionalGridLSTMCell",
    "CompiledWrapper",
    "Conv1DLSTMCell",
    "Conv2DLSTMCell",
    "Conv3DLSTMCell",
    "ConvLSTMCell",
    "CoupledInputForgetGateLSTMCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "EmbeddingWrapper",
    "FusedRNNCell",
    "FusedRNNCellAdaptor",
    "GLSTMCell",
    "GRUBlockCell",
    "GRUBlockCellV2",
    "GRUCell",
    "GridLSTMCell",
    "HighwayWrapper",
    "IndRNNCell",
    "IndyGRUCell",
    "IndyLSTMCell",
    "InputProjectionWrapper",
    "IntersectionRNNCell",
    "LSTMBlockCell",
    "LSTMBlockFusedCell",
    "LSTMBlockWrapper",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerNormBasicLSTMCell",
    "LayerRNNCell",
    "MultiRNNCell",
    "NASCell",
    "OutputProjectionWrapper",
    "PhasedLSTMCell",
    "RNNCell",
    "ResidualWrapper",
    "SRUCell",
    "TimeFreqLSTMCell",
    "TimeReversedFusedRNN",
    "UGRNNCell",
    "best_effort_input_batch_size",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "transpose_batch_time",
]
