"""``tensorflow.examples.tutorials.mnist.input_data``: MNIST in batches, from files that are already there."""

from ..contrib._mnist import DataSet, Datasets, extract_images, extract_labels, read_data_sets

__all__ = ["DataSet", "Datasets", "extract_images", "extract_labels", "read_data_sets"]
