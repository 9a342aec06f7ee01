"""``tf.contrib.seq2seq``: decoders in a loop, with attention and with beam search.

``dynamic_decode`` asks a ``Decoder`` for one step at a time::

    decoder                Decoder, dynamic_decode
    basic_decoder          BasicDecoder: a cell, and a helper that samples and makes the next inputs
    helper                 the helpers: for training, for inference, your own
    attention_wrapper      AttentionWrapper: a cell that attends to a memory through an AttentionMechanism
    beam_search_decoder    BeamSearchDecoder, tile_batch
    beam_search_ops        gather_tree
    loss                   sequence_loss

Shapes: B examples in the batch, T steps, L steps of the memory, K beams, V symbols.

Files::

    attention_mechanisms.py  what a cell asks for the alignments with a memory
    attention_wrapper.py     a cell that attends to a memory
    basic_decoder.py         a cell and a helper
    beam_search_decoder.py   the best sequences
    beam_search_ops.py       gather_tree
    decoder.py               dynamic_decode
    helper.py                what samples and makes the next inputs
    loss.py                  sequence_loss
"""

from .attention_wrapper import (
    AttentionMechanism,
    AttentionWrapper,
    AttentionWrapperState,
    BahdanauAttention,
    BahdanauMonotonicAttention,
    LuongAttention,
    LuongMonotonicAttention,
    hardmax,
    monotonic_attention,
    safe_cumprod,
)
from .basic_decoder import BasicDecoder, BasicDecoderOutput
from .beam_search_decoder import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    tile_batch,
)
from .beam_search_ops import gather_tree
from .decoder import Decoder, dynamic_decode
from .helper import (
    CustomHelper,
    GreedyEmbeddingHelper,
    Helper,
    InferenceHelper,
    SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    TrainingHelper,
)
from .loss import sequence_loss

__all__ = [
    "AttentionMechanism",
    "AttentionWrapper",
    "AttentionWrapperState",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "BasicDecoder",
    "BasicDecoderOutput",
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "CustomHelper",
    "Decoder",
    "FinalBeamSearchDecoderOutput",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "LuongAttention",
    "LuongMonotonicAttention",
    "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
    "dynamic_decode",
    "gather_tree",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
    "sequence_loss",
    "tile_batch",
]
