"""Write layers_utils.json.gz: what functions of ``tensorflow.python.layers.utils`` gave for many arguments.

Run it with genuine TensorFlow 1.15.5: ``python make_layers_utils.py``. A case is [function, arguments, the result as
text or "Error: its message"].
"""

import gzip
import itertools
import json
import os

from folders import DATA
from tensorflow.python.layers import utils

CASES = [
    *(("convert_data_format", (name, rank)) for name in ("channels_last", "channels_first") for rank in range(2, 7)),
    ("convert_data_format", ("NHWC", 4)),
    ("normalize_tuple", (3, 2, "strides")),
    ("normalize_tuple", ("ab", 2, "strides")),
    ("normalize_tuple", (None, 2, "size")),
    ("normalize_data_format", ("Channels_First",)),
    ("normalize_data_format", ("NHWC",)),
    ("normalize_padding", ("SAME",)),
    ("normalize_padding", ("full",)),
    ("normalize_padding", ("causal",)),
    *(("constant_value", (value,)) for value in (0, 1, True, 2, "x")),
    *(
        (name, (length, size, padding, stride))
        for name in ("conv_output_length", "conv_input_length", "deconv_output_length")
        for length, size in itertools.product((None, 7, 10), (1, 3))
        for padding, stride in itertools.product(("same", "valid", "full"), (1, 2))
    ),
    ("conv_output_length", (10, 3, "valid", 1, 2)),
]


def result(name, arguments):
    """What the function returns, or its error, as text."""
    try:
        return repr(getattr(utils, name)(*arguments))
    except (TypeError, ValueError) as error:
        return "%s: %s" % (type(error).__name__, error)


def main():
    """Write the table."""
    table = [[name, arguments, result(name, arguments)] for name, arguments in CASES]
    with open(os.path.join(DATA, "layers_utils.json.gz"), "wb") as raw:
        with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
            file.write(json.dumps(table).encode())


if __name__ == "__main__":
    main()
