"""Programs of TensorFlow 1 with queues, for the step inputs: each prints what its queues give."""

from __future__ import annotations

import textwrap

#: The end of each program: batches until the end, ten at most.
_RUN = """
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    try:
        for _ in range(10):
            print(sess.run(batch))
    except tf.errors.OutOfRangeError:
        print("the end")
    finally:
        coord.request_stop()
        coord.join(threads)
"""


def _program(text: str, run: str = _RUN) -> str:
    return "import numpy as np\nimport tensorflow as tf\n\n" + textwrap.dedent(text).strip("\n") + "\n" + run


PROGRAMS = {
    "lines of two files in batches": _program(
        """
        queue = tf.train.string_input_producer(["a.csv", "b.csv"], num_epochs=2, shuffle=False)
        reader = tf.TextLineReader()
        key, line = reader.read(queue)
        left, right = tf.decode_csv(line, [[0.0], [0]])
        batch = tf.train.batch([left * 2, right], 3)
        """
    ),
    "the tensors by name, behind others": _program(
        """
        numbers, = tf.train.slice_input_producer([[1, 2, 3, 4]], num_epochs=1, shuffle=False)
        batch = tf.train.batch(batch_size=2, tensors=[numbers * 10])
        """
    ),
    "a smaller last batch": _program(
        """
        names = ["a.csv", "b.csv"]
        queue = tf.train.string_input_producer(names, 1, seed=3)
        _, line = tf.TextLineReader(skip_header_lines=1).read(queue)
        batch = tf.train.batch([line], batch_size=4, num_threads=2, allow_smaller_final_batch=True)
        """
    ),
    "a function that reads": _program(
        '''
        SCALE = 0.5


        def read(filename_queue, scale):
            """A row of the file."""
            reader = tf.TextLineReader()
            _, value = reader.read(filename_queue)
            row = tf.stack(tf.decode_csv(value, [[0.0], [0.0]]))
            return row * scale, tf.size(row)


        with tf.name_scope("input"):
            files = tf.train.string_input_producer(["a.csv"])
            row, size = read(files, SCALE)
            row = row - 1.0
            batch = tf.train.shuffle_batch([row, size], batch_size=2, capacity=10, min_after_dequeue=3)
        '''
    ),
    "a function that makes the queue": _program(
        """
        def read_and_decode(name, epochs):
            queue = tf.train.string_input_producer([name], num_epochs=epochs)
            reader = tf.TextLineReader()
            _, value = reader.read(queue)
            # Two numbers.
            a, b = tf.decode_csv(value, [[0.0], [0.0]])
            return a, b


        first, second = read_and_decode("a.csv", 3)
        total = first + second
        first, total = tf.train.batch([first, total], 2)
        batch = [first, total * 2]
        """
    ),
    "slices of arrays": _program(
        """
        images = np.arange(12.0).reshape(6, 2)
        labels = list(range(6))
        queue = tf.train.slice_input_producer([images, labels], num_epochs=2, shuffle=False)
        image = tf.cast(queue[0], tf.float32)
        label = tf.one_hot(queue[1], 6)
        image_batch, label_batch = tf.train.batch([image, label], batch_size=4)
        batch = image_batch, label_batch
        """
    ),
    "slices with names, as they are": _program(
        """
        x, y = tf.train.slice_input_producer([np.arange(5), np.arange(5.0)], shuffle=False)
        x, y = tf.train.shuffle_batch([x, y], 3, 50, 10, num_threads=4)
        batch = {"x": x, "y": y}
        """
    ),
    "all slices at once": _program(
        """
        tensors = [tf.constant([1, 2, 3]), tf.constant(["a", "b", "c"])]
        queues = tf.train.slice_input_producer(tensors, num_epochs=2, shuffle=True, seed=1)
        batch = tf.train.batch(queues, 2)
        """
    ),
    "shuffled or not": _program(
        """
        def inputs(is_training, size=2):
            queue = tf.train.slice_input_producer([np.arange(6)], num_epochs=1, shuffle=is_training)
            number = queue[0] * 10
            if is_training:
                numbers = tf.train.shuffle_batch([number], size, capacity=20, min_after_dequeue=4)
            else:
                numbers = tf.train.batch([number], size)
            return tf.reshape(numbers, [size, 1])


        batch = inputs(True), inputs(False)
        """
    ),
    "a function that is given an element": _program(
        """
        def batches_of(image, label, least, size, shuffle):
            # In threads.
            if shuffle:
                images, labels = tf.train.shuffle_batch(
                    [image, label], batch_size=size, num_threads=4, capacity=least + 10, min_after_dequeue=least)
            else:
                images, labels = tf.train.batch([image, label], batch_size=size)
            return images, tf.reshape(labels, [size])


        def inputs(shuffle):
            queue = tf.train.slice_input_producer([np.arange(6.0), np.arange(6)], num_epochs=2, shuffle=shuffle)
            value = tf.cast(queue[0], tf.float32)
            return batches_of(value * 2, queue[1], 3, size=2, shuffle=shuffle)


        batch = inputs(True) + inputs(False)
        """
    ),
    "a function that reads and makes batches": _program(
        """
        def read_and_decode(filename_queue, size):
            'Batches of rows.'
            reader = tf.TextLineReader()
            _, line = reader.read(filename_queue)
            row = tf.decode_csv(line, [[0.0], [0.0]])
            left, right = tf.train.batch([row[0], row[1]], size)
            return left, right - 1


        filename_queue = tf.train.string_input_producer(["a.csv", "b.csv"], num_epochs=2, shuffle=False)
        batch = read_and_decode(filename_queue, 2)
        """
    ),
    "whole files and their names": _program(
        """
        queue = tf.train.string_input_producer(tf.train.match_filenames_once("*.csv"), 1, False)
        reader = tf.WholeFileReader()
        name, text = reader.read(queue)
        batch = tf.train.batch([name, tf.strings.length(text)], 1)
        """
    ),
    "names that are matched before": _program(
        """
        files = tf.train.match_filenames_once("?.csv")
        queue = tf.train.string_input_producer(files, num_epochs=1, shuffle=False)
        _, line = tf.TextLineReader().read(queue)
        batch = tf.train.batch([line], 3)
        """
    ),
    "records of fixed length": _program(
        """
        LENGTH = 3
        queue = tf.train.string_input_producer(["fixed.bin"], num_epochs=1)
        reader = tf.FixedLengthRecordReader(LENGTH, header_bytes=1)
        value = reader.read(queue)[1]
        record = tf.decode_raw(value, tf.uint8)
        label = tf.cast(record[0], tf.int32)
        record.set_shape([LENGTH])
        batch = tf.train.batch([record[1:], label], 2)
        """
    ),
    "examples, padded": _program(
        """
        queue = tf.train.string_input_producer(["examples.tfrecord"], num_epochs=1)
        _, serialized = tf.TFRecordReader().read(queue)
        features = tf.parse_single_example(serialized, {"n": tf.VarLenFeature(tf.int64)})
        numbers = tf.sparse.to_dense(features["n"])
        batch = tf.train.batch([numbers], 2, dynamic_pad=True)
        """
    ),
    "many at once": _program(
        """
        queue = tf.train.slice_input_producer([np.arange(8).reshape(4, 2)], num_epochs=1, shuffle=False)
        batch = tf.train.batch([queue[0]], 3, enqueue_many=True)
        """
    ),
    "random numbers in an element": _program(
        """
        queue = tf.train.slice_input_producer([np.zeros([4, 3], np.float32)], num_epochs=1)
        noisy = queue[0] + tf.random_uniform([3])
        batch = tf.train.batch([noisy], 2)
        """
    ),
}

#: Programs that stay, and why. What follows the first lines of each.
REFUSED = {
    "an element alone": (
        """
        queue = tf.train.string_input_producer(["a.csv"])
        _, line = tf.TextLineReader().read(queue)
        print(tf.Session().run(line))
        """,
        "An element is run by itself",
    ),
    "an element and a batch": (
        """
        queue = tf.train.slice_input_producer([[1, 2]])
        number = queue[0]
        numbers = tf.train.batch([number], 2)
        print(number, numbers)
        """,
        "An element is used besides in batches",
    ),
    "the keys of a reader": (
        """
        queue = tf.train.string_input_producer(["a.csv"])
        key, line = tf.TextLineReader().read(queue)
        lines = tf.train.batch([key, line], 2)
        """,
        "The keys that a reader gives are used",
    ),
    "a variable on the way": (
        """
        queue = tf.train.slice_input_producer([[1.0, 2.0]])
        scaled = queue[0] * tf.Variable(2.0)
        batch = tf.train.batch([scaled], 2)
        """,
        "tf.Variable is called between a queue and its batches",
    ),
    "a name with another value": (
        """
        size = 3
        queue = tf.train.slice_input_producer([[1.0, 2.0]])
        value = tf.fill([size], queue[0])
        size = tf.shape(value)[0]
        batch = tf.train.batch([value, size], 2)
        """,
        "size has another value before an element is computed",
    ),
    "an attribute": (
        """
        class Reader:
            def build(self):
                queue = tf.train.slice_input_producer([[1.0, 2.0]])
                self.value = queue[0]
                return tf.train.batch([self.value], 2)
        """,
        "An element is kept in an attribute or a list",
    ),
    "an attribute that is a queue": (
        """
        class Reader:
            def build(self):
                self.queue = tf.train.slice_input_producer([[1.0, 2.0]])
                return tf.train.batch(self.queue, 2)
        """,
        "A queue has no name of its own",
    ),
    "a queue read twice": (
        """
        queue = tf.train.string_input_producer(["a.csv"])
        reader = tf.TextLineReader()
        _, first = reader.read(queue)
        _, second = reader.read(queue)
        batch = tf.train.batch([first, second], 2)
        """,
        "A queue is read from in several places",
    ),
    "a function that does more with an element": (
        """
        def batches_of(image):
            size = tf.size(image)
            return tf.train.batch([image, size], 2)

        queue = tf.train.slice_input_producer([[1.0, 2.0]])
        batch = batches_of(queue[0])
        """,
        "batches_of() makes batches in a way that is not known",
    ),
    "a function that is given something else, too": (
        """
        def batches_of(image):
            return tf.train.batch([image], 2)

        queue = tf.train.slice_input_producer([[1.0, 2.0]])
        batch = batches_of(queue[0])
        other = batches_of(tf.constant(1.0))
        """,
        "batches_of() is given something else, too",
    ),
    "batches by length": (
        """
        from tensorflow.contrib.training import bucket_by_sequence_length

        queue = tf.train.slice_input_producer([[1, 2], [3, 4]])
        def load(path):
            return path
        value = tf.py_func(load, [queue[0]], tf.int32)
        _, batch = bucket_by_sequence_length(queue[1], [value], 2, [3])
        """,
        "tf1sessions.contrib.training.bucket_by_sequence_length is called between a queue and its batches",
    ),
    "shapes": (
        """
        queue = tf.train.slice_input_producer([[1.0, 2.0]])
        batch = tf.train.batch([queue[0]], 2, shapes=[()])
        """,
        "Batches are given the shapes of their elements",
    ),
    "no capacity": (
        """
        queue = tf.train.slice_input_producer([[1.0, 2.0]])
        batch = tf.train.shuffle_batch([queue[0]], 2, min_after_dequeue=1)
        """,
        "tf.compat.v1.train.shuffle_batch() does not get its capacity",
    ),
    "two queues of one name": (
        """
        names = tf.train.string_input_producer(["a.csv"])
        _, line = tf.TextLineReader().read(names)
        lines = tf.train.batch([line], 2)
        names = tf.train.string_input_producer(["b.csv"])
        _, line = tf.TextLineReader().read(names)
        others = tf.train.batch([line], 2)
        """,
        "A queue has the name of another one",
    ),
    "too much by order": (
        """
        queue = tf.train.slice_input_producer([[1.0, 2.0]], 1, False, 0, 32)
        batch = tf.train.batch([queue[0]], 2)
        """,
        "tf.compat.v1.train.slice_input_producer() gets 5 arguments by their order",
    ),
    "no names of files": (
        """
        queue = tf.train.string_input_producer(num_epochs=1)
        _, line = tf.TextLineReader().read(queue)
        batch = tf.train.batch([line], 2)
        """,
        "tf.compat.v1.train.string_input_producer() does not get its string_tensor",
    ),
}
