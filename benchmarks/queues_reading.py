"""The sides of the reading benchmark: files of CSV or of TFRecords, parsed, batched by 128, and each batch reduced.

A side is a function ``(files, form)`` that returns the digest of what it read: rows, sum of the labels, sum of all
features. All values are chosen so that the sums are exact in whatever order they are taken. :func:`write_files` makes
the files and says what their digests are.
"""

from __future__ import annotations

import csv
import functools
import itertools
import queue
import threading

import numpy as np

import tf1sessions as t1

tf = t1.tf1

BATCH, BLOCK, COLUMNS, CAPACITY = 128, 512, 20, 4096
DEFAULTS = [[0]] + [[0.0]] * COLUMNS
FEATURES = {"label": tf.FixedLenFeature([], tf.int64), "features": tf.FixedLenFeature([COLUMNS], tf.float32)}


# -- the files --------------------------------------------------------------------------------------------------------


def write_files(folder, form, megabytes, count):
    """Writes ``count`` files, ``megabytes`` in all, and returns ``{path: digest}``."""
    width = len(csv_rows(*draw(1, 0))[0]) if form == "csv" else len(next(iter(records(*draw(1, 0))))) + 16
    rows = int(megabytes * 2**20 / count / width) | 1  # odd, so that no batch ends where a file does
    found = {}
    for number in range(count):
        path = f"{folder}/{number}.{form}"
        labels, values = draw(rows, number)
        if form == "csv":
            csv_rows(labels, values).tofile(path)
        else:
            with tf.io.TFRecordWriter(path) as writer:
                for record in records(labels, values):
                    writer.write(record)
        found[path] = np.array([rows, labels.sum(), values.sum() / 32.0])
    return found


def draw(rows, seed):
    """Labels below 10, shape [rows], and features times 32, shape [rows, COLUMNS]."""
    random = np.random.RandomState(seed)
    return random.randint(0, 10, rows), random.randint(0, 32, [rows, COLUMNS])


def csv_rows(labels, values):
    """The bytes of each line: ``7,0.53125,…``, shape [rows, bytes]."""
    words = np.frombuffer("".join(f"{value / 32:.5f}," for value in range(32)).encode(), np.uint8).reshape(32, 8)
    starts = np.stack([labels.astype(np.uint8) + ord("0"), np.full(len(labels), ord(","), np.uint8)], 1)
    lines = np.concatenate([starts, words[values].reshape(len(labels), -1)], 1)
    lines[:, -1] = ord("\n")
    return lines


def records(labels, values):
    """Serialised ``tf.train.Example`` of each row: one is made by protobuf, the others by replacing its numbers."""
    marks = np.arange(1, COLUMNS + 1, dtype="<f4") / 3
    example = tf.train.Example()
    example.features.feature["features"].float_list.value.extend(marks)
    example.features.feature["label"].int64_list.value.append(1)
    pattern = example.SerializeToString()
    place, label = pattern.index(marks.tobytes()), pattern.index(b"\x1a\x03\x0a\x01\x01") + 4  # Int64List of one
    found = np.tile(np.frombuffer(pattern, np.uint8), (len(labels), 1))
    found[:, place : place + 4 * COLUMNS] = (values / 32).astype("<f4").view(np.uint8)
    found[:, label] = labels
    return (row.tobytes() for row in found)


# -- what all sides do with a batch -----------------------------------------------------------------------------------


def digest(labels, features):
    """What is computed of a batch, ``labels`` of shape [N] and ``features`` of shape [N, COLUMNS]."""
    parts = [tf.size(labels), tf.reduce_sum(labels), tf.reduce_sum(features)]
    return tf.stack([tf.cast(part, tf.float64) for part in parts])


def parse(text, form):
    """Labels and features of lines or of serialised Examples: one, or any number of them."""
    if form == "csv":
        label, *features = tf.decode_csv(text, DEFAULTS)
        return tf.cast(label, tf.int64), tf.stack(features, -1)
    one = text.shape.rank == 0
    found = (tf.parse_single_example if one else tf.parse_example)(text, FEATURES)
    return found["label"], found["features"]


def reader(form):
    return tf.TextLineReader() if form == "csv" else tf.TFRecordReader()


# -- by hand: queue runners -------------------------------------------------------------------------------------------


def run_to_the_end(session, batch):
    """The loop that the documentation of queue runners gives."""
    session.run(tf.local_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    total = np.zeros(3)
    try:
        while not coordinator.should_stop():
            total += session.run(batch)
    except tf.errors.OutOfRangeError:
        coordinator.request_stop()
    coordinator.join(threads)
    return total


def hand_runners(files, form):
    """A reader, a parser of one line or record, tf.train.batch with two threads: as the guide to reading has it."""
    with tf.Graph().as_default(), tf.Session() as session:
        names = tf.train.string_input_producer(files, num_epochs=1, shuffle=False)
        _, text = reader(form).read(names)
        batch = tf.train.batch(
            parse(text, form), BATCH, num_threads=2, capacity=CAPACITY, allow_smaller_final_batch=True
        )
        return run_to_the_end(session, digest(*batch))


def hand_runners_in_blocks(files, form):
    """The same in blocks: 512 read at a time, a parser of many, enqueue_many."""
    with tf.Graph().as_default(), tf.Session() as session:
        names = tf.train.string_input_producer(files, num_epochs=1, shuffle=False)
        _, texts = reader(form).read_up_to(names, BLOCK)
        batch = tf.train.batch(
            parse(texts, form),
            BATCH,
            num_threads=2,
            capacity=CAPACITY,
            enqueue_many=True,
            allow_smaller_final_batch=True,
        )
        return run_to_the_end(session, digest(*batch))


# -- by hand: Python reads --------------------------------------------------------------------------------------------


def texts_of(files, form):
    """Lines of CSV, or serialised records."""
    for path in files:
        if form == "csv":
            with open(path, "rb") as file:
                yield from (line.rstrip(b"\n") for line in file)
        else:
            yield from tf.io.tf_record_iterator(path)


def blocks_of(rows):
    """Lists of 128."""
    rows = iter(rows)
    while block := list(itertools.islice(rows, BATCH)):
        yield block


def numbers_of(files):
    """Labels and features of 128 lines, parsed by Python and NumPy."""
    for block in blocks_of(csv.reader(line.decode() for line in texts_of(files, "csv"))):
        table = np.array(block, np.float32)
        yield table[:, 0].astype(np.int64), table[:, 1:]


def fed(form, by_python):
    """A function of files that yields what is fed, placeholders for it, and the digest of them.

    What is fed are numbers (``by_python``), or texts that the graph parses.
    """
    if by_python:
        feeds = [tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None, COLUMNS])]
        return numbers_of, feeds, digest(*feeds)
    texts = tf.placeholder(tf.string, [None])
    return lambda files: ((block,) for block in blocks_of(texts_of(files, form))), [texts], digest(*parse(texts, form))


def hand_feed_dict(files, form, by_python=False):
    """The main thread reads a batch, feeds it, reads the next."""
    with tf.Graph().as_default(), tf.Session() as session:
        read, feeds, batch = fed(form, by_python)
        total = np.zeros(3)
        for values in read(files):
            total += session.run(batch, dict(zip(feeds, values, strict=True)))
    return total


def hand_queue(files, form, by_python=False):
    """Two threads read, each half of the files, into a queue.Queue; the main thread feeds."""
    with tf.Graph().as_default(), tf.Session() as session:
        read, feeds, batch = fed(form, by_python)
        ready = queue.Queue(CAPACITY // BATCH)
        ended = object()

        def fill(mine):
            for values in read(mine):
                ready.put(values)
            ready.put(ended)

        threads = [threading.Thread(target=fill, args=(files[number::2],)) for number in range(2)]
        for thread in threads:
            thread.start()
        total, left = np.zeros(3), len(threads)
        while left:
            values = ready.get()
            if values is ended:
                left -= 1
            else:
                total += session.run(batch, dict(zip(feeds, values, strict=True)))
        for thread in threads:
            thread.join()
    return total


# -- by hand: tf.data -------------------------------------------------------------------------------------------------


def hand_data(files, form):
    """Batches first, then parsed many at a time, by as many threads as tf.data finds good."""
    with tf.Graph().as_default(), tf.Session() as session:
        read = tf.data.TextLineDataset if form == "csv" else tf.data.TFRecordDataset
        rows = read(files).batch(BATCH)
        ready = rows.map(lambda texts: parse(texts, form), tf.data.experimental.AUTOTUNE).prefetch(CAPACITY // BATCH)
        batch = digest(*tf.data.make_one_shot_iterator(ready).get_next())
        total = np.zeros(3)
        try:
            while True:
                total += session.run(batch)
        except tf.errors.OutOfRangeError:
            return total


# -- QueuePipeline ----------------------------------------------------------------------------------------------------


def summed(pipe, batch, threads=1):
    """Makes the end of a pipeline, and returns the array that it adds digests to."""
    total = np.zeros(3)
    lock = threading.Lock()

    def add(found):
        with lock:
            np.add(total, found, out=total)

    pipe.work("sums", batch, threads=threads, each=add)
    return total


def pipeline_readers(files, form):
    """TensorFlow's readers: the same operations as in :func:`hand_runners_in_blocks`."""
    with t1.GraphSession() as gs, t1.QueuePipeline(gs) as pipe:
        names = pipe.queue("files", capacity=32, dtypes=[tf.string], shapes=[[]])
        rows = pipe.queue("rows", capacity=CAPACITY, dtypes=[tf.int64, tf.float32], shapes=[[], [COLUMNS]])
        pipe.source(names, files)
        _, texts = reader(form).read_up_to(names.queue, BLOCK)
        pipe.source(rows, rows.enqueue_many(parse(texts, form)), threads=2)
        total = summed(pipe, digest(*rows.dequeue_up_to(BATCH)))
    return total


def pipeline_stage(files, form):
    """Python reads, by a thread for each half of the files; a stage parses, a third reduces."""
    with t1.GraphSession() as gs, t1.QueuePipeline(gs) as pipe:
        texts = pipe.queue("texts", capacity=CAPACITY, dtypes=[tf.string], shapes=[[]])
        pipe.source(texts, lambda worker, workers: texts_of(files[worker::workers], form), threads=2)
        rows = pipe.stage("parse", lambda block: parse(block, form), inputs=texts, batch=BLOCK, capacity=CAPACITY)
        total = summed(pipe, digest(*rows.dequeue_up_to(BATCH)))
    return total


def pipeline_batches(files, form):
    """Python reads batches, by a thread for each half of the files; two consumers parse and reduce."""
    with t1.GraphSession() as gs, t1.QueuePipeline(gs) as pipe:
        texts = pipe.queue("texts", capacity=CAPACITY // BATCH, dtypes=[tf.string], shapes=[[None]], kind="padding")
        pipe.source(texts, lambda worker, workers: blocks_of(texts_of(files[worker::workers], form)), threads=2)
        total = summed(pipe, digest(*parse(texts.dequeue(), form)), threads=2)
    return total


ONE_BY_ONE = {hand_runners}


def sides(form, texts, parser):
    """What is compared for a form of file; the first is what the others are compared with."""
    found = {
        f"QueuePipeline, Python reads 128 {texts}, work parses": pipeline_batches,
        "QueuePipeline, TensorFlow's readers": pipeline_readers,
        f"QueuePipeline, Python reads {texts}, a stage parses": pipeline_stage,
        f"queue runners, one {texts[:-1]} at a time": hand_runners,
        "queue runners, blocks of 512": hand_runners_in_blocks,
        f"feed_dict, {parser}": hand_feed_dict,
        f"queue.Queue, two threads, feed_dict, {parser}": hand_queue,
        "tf.data, batched, then parsed by its threads": hand_data,
    }
    if form == "csv":
        found["feed_dict, csv and NumPy"] = functools.partial(hand_feed_dict, by_python=True)
        found["queue.Queue, two threads, feed_dict, csv and NumPy"] = functools.partial(hand_queue, by_python=True)
    return found


SIDES = {"csv": sides("csv", "lines", "decode_csv"), "tfrecord": sides("tfrecord", "records", "parse_example")}
