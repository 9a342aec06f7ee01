"""``tf.contrib.slim.data``: data sets as files and a decoder, read by queues.

Data flow: ``parallel_reader`` has readers that put records of the files into one queue; ``DatasetDataProvider`` takes
one from it, which the data set's decoder turns into items; ``prefetch_queue`` holds batches of them.

::

    data_decoder.py            DataDecoder
    data_provider.py           DataProvider
    dataset.py                 Dataset
    dataset_data_provider.py   DatasetDataProvider
    parallel_reader.py         parallel_read and its kin
    prefetch_queue.py          prefetch_queue
    tfexample_decoder.py       TFExampleDecoder, and handlers that make an item of features
"""
