"""``tf.contrib.learn.preprocessing``: texts and categories as numbers.

::

    categorical.py             columns of categories
    categorical_vocabulary.py  the numbers of categories
    text.py                    texts as sequences of words' numbers
"""

from .categorical import CategoricalProcessor
from .categorical_vocabulary import CategoricalVocabulary
from .text import TOKENIZER_RE, ByteProcessor, VocabularyProcessor, tokenizer

__all__ = [
    "TOKENIZER_RE",
    "ByteProcessor",
    "CategoricalProcessor",
    "CategoricalVocabulary",
    "VocabularyProcessor",
    "tokenizer",
]
