"""``tf.contrib.signal``: what ``tf.signal`` has under the same names."""

from __future__ import annotations

from typing import Any

from ..runtime import tf1 as _tf

__all__ = [
    "frame",
    "hamming_window",
    "hann_window",
    "inverse_stft",
    "inverse_stft_window_fn",
    "linear_to_mel_weight_matrix",
    "mfccs_from_log_mel_spectrograms",
    "overlap_and_add",
    "stft",
]

frame: Any = _tf.signal.frame
hamming_window: Any = _tf.signal.hamming_window
hann_window: Any = _tf.signal.hann_window
inverse_stft: Any = _tf.signal.inverse_stft
inverse_stft_window_fn: Any = _tf.signal.inverse_stft_window_fn
linear_to_mel_weight_matrix: Any = _tf.signal.linear_to_mel_weight_matrix
mfccs_from_log_mel_spectrograms: Any = _tf.signal.mfccs_from_log_mel_spectrograms
overlap_and_add: Any = _tf.signal.overlap_and_add
stft: Any = _tf.signal.stft
