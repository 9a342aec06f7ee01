"""Texts as sequences of their words' numbers, all of one length."""

from __future__ import annotations

import itertools
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ....runtime import tf1 as tf
from .categorical_vocabulary import CategoricalVocabulary

__all__ = ["TOKENIZER_RE", "ByteProcessor", "VocabularyProcessor", "tokenizer"]

#: Words: capitals, capitalised parts of a word, or anything of letters, digits, "_", "-" and "'".
TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Yields the words of each text.

    Example:
        >>> list(tokenizer(["it's a HTMLParser"]))
        [["it's", 'a', 'HTML', 'Parser']]
    """
    for text in iterator:
        yield TOKENIZER_RE.findall(text)


class ByteProcessor:
    """Maps texts to their bytes in UTF-8.

    Args:
        max_document_length: How many bytes; what is shorter is filled with 0.
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> ByteProcessor:
        """Does nothing: bytes need not be learned."""
        return self

    def fit_transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """:meth:`transform`."""
        return self.transform(x)

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """Yields the text of each sequence; "" for what is no UTF-8."""
        for data in x:
            document = np.trim_zeros(np.asarray(data).astype(np.uint8), trim="b").tobytes()
            try:
                yield document.decode("utf-8")
            except UnicodeDecodeError:
                yield ""

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """Yields the bytes of each text: uint8 [max_document_length]."""
        for text in x:
            data = text.encode("utf-8") if isinstance(text, str) else bytes(text)
            row = np.zeros(self.max_document_length, np.uint8)
            data = data[: self.max_document_length]
            row[: len(data)] = np.frombuffer(data, np.uint8)
            yield row


class VocabularyProcessor:
    """Maps texts to the numbers of their words. Not thread-safe.

    The names of its attributes are those of 1.15.5, whose files :meth:`restore` reads in a script.

    Args:
        max_document_length: How many words; longer texts are cut, shorter ones filled with 0.
        min_frequency: Words that do not come more often than that have the number 0.
        vocabulary: The vocabulary to begin with.
        tokenizer_fn: A function of an iterable of texts that yields their words; :func:`tokenizer` without it.

    Example:
        >>> processor = VocabularyProcessor(3)
        >>> [row.tolist() for row in processor.fit_transform(["a b", "b c d e"])]
        [[1, 2, 0], [2, 3, 4]]
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[list[str]]] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = CategoricalVocabulary() if vocabulary is None else vocabulary
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Learns the words of the texts, and returns this object."""
        del unused_y
        for word in itertools.chain.from_iterable(self._tokenizer(raw_documents)):
            self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: Any = None) -> Iterator[Any]:
        """:meth:`fit` and then :meth:`transform`; an iterator of texts is read for both."""
        if iter(raw_documents) is raw_documents:
            raw_documents = list(raw_documents)
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Any]:
        """Yields the numbers of each text's words: int64 [max_document_length]."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for place, token in enumerate(tokens[: self.max_document_length]):
                row[place] = self.vocabulary_.get(token)
            yield row

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """Yields the words of each sequence of numbers, with blanks between."""
        for item in documents:
            yield " ".join(self.vocabulary_.reverse(class_id) for class_id in item)

    def save(self, filename: str) -> None:
        """Pickles this object into the file."""
        with tf.gfile.Open(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """The object that :meth:`save` wrote. Unpickling runs what the file says: it has to be trusted."""
        with tf.gfile.Open(filename, "rb") as file:
            found: VocabularyProcessor = pickle.loads(file.read())
        return found
