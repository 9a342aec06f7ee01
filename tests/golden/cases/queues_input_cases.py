"""Input pipelines of TensorFlow 1: producers, batches, readers, and small programs of them. See queues_record.py."""

import struct

import numpy as np
from queues_record import adopted, case, dimensions, each, kind_of, outcome, plain, static

PRODUCERS = {
    "string": lambda tf, **settings: tf.train.string_input_producer(["a", "b", "c"], **settings),
    "range": lambda tf, **settings: tf.train.range_input_producer(4, **settings),
    "input": lambda tf, **settings: tf.train.input_producer(np.arange(6).reshape(3, 2), **settings),
}


def runners(tf):
    """The graph's queue runners, and what their threads run."""
    return [
        [
            made.name,
            [operation.name for operation in made.enqueue_ops],
            [kind.__name__ for kind in made.queue_closed_exception_types],
        ]
        for made in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    ]


def keys(tf):
    """What is in the collections of variables and summaries."""
    return [
        [getattr(item, "name", str(item)) for item in tf.get_collection(key)]
        for key in (tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.SUMMARIES)
    ]


@each(sorted(PRODUCERS), adopted)
def producer(tf, t, kind):
    """Two epochs, then the end."""
    queue = PRODUCERS[kind](tf, num_epochs=2, shuffle=False)
    t.note(
        queue=[type(queue).__name__, queue.name, [dimensions(shape) for shape in queue.shapes]],
        runners=runners(tf),
        keys=keys(tf),
    )
    t.drain(queue.dequeue())


@each(sorted(PRODUCERS), adopted)
def shuffled_producer(tf, t, kind):
    """A seed decides the order of each epoch."""
    queue = PRODUCERS[kind](tf, num_epochs=3, shuffle=True, seed=7, capacity=40)
    t.drain(queue.dequeue())


@each(sorted(PRODUCERS), adopted)
def endless_producer(tf, t, kind):
    """Without num_epochs there is no end, and no variable."""
    queue = PRODUCERS[kind](tf, shuffle=False, capacity=2, name="endless")
    t.note(runners=runners(tf), keys=keys(tf))
    t.drain(queue.dequeue(), runs=7, variables=False)


@adopted
def producer_without_variables(tf, t):
    """num_epochs without local_variables_initializer: what happens to whoever forgets it."""
    queue = tf.train.string_input_producer(["a", "b"], num_epochs=1)
    t.drain(queue.dequeue(), variables=False)


@adopted
def slices(tf, t):
    numbers, words = tf.train.slice_input_producer(
        [np.arange(4) * 10, ["a", "b", "c", "d"]], num_epochs=2, shuffle=False
    )
    t.note(runners=runners(tf), tensors=[[each.name, dimensions(each.shape)] for each in (numbers, words)])
    t.drain([numbers, words])


@adopted
def shuffled_slices(tf, t):
    t.drain(tf.train.slice_input_producer([np.arange(5), np.arange(5) * 2], num_epochs=2, seed=4, capacity=20))


@case
def wrong_producers(tf, t):
    train = tf.train
    t.note(
        none=outcome(lambda: train.string_input_producer([]).name),
        scalar=outcome(lambda: train.input_producer(3).name),
        unknown=outcome(lambda: train.input_producer(tf.placeholder(tf.int32)).name),
        no_epochs=outcome(lambda: train.string_input_producer(["a"], num_epochs=0).name),
        slices=outcome(lambda: train.slice_input_producer([])),
        limit=outcome(lambda: train.limit_epochs(tf.constant(1), num_epochs=-1)),
        no_limit=outcome(lambda: train.limit_epochs(tf.constant(1, name="one")).name),
    )


@adopted
def empty_producer(tf, t):
    """A list of files that turns out to be empty."""
    files = tf.train.match_filenames_once(t.path("none-*"))
    t.drain(tf.train.string_input_producer(files, num_epochs=1).dequeue())


@case
def limited(tf, t):
    """limit_epochs: so many runs of a tensor."""
    t.session.run(tf.global_variables_initializer())
    t.drain(tf.train.limit_epochs(tf.constant([1, 2]), num_epochs=3))
    t.note(keys=keys(tf))


def numbered(tf, count=10, epochs=1):
    """0, 1, ..., each with a word and a pair."""
    number = tf.train.range_input_producer(count, num_epochs=epochs, shuffle=False, capacity=4).dequeue()
    return [number, tf.as_string(number), tf.stack([number, number * 10])]


@each((False, True), adopted)
def batch(tf, t, smaller):
    made = tf.train.batch(numbered(tf), 4, capacity=5, allow_smaller_final_batch=smaller)
    t.note(runners=runners(tf), tensors=static(made), keys=keys(tf))
    t.drain(made)


@adopted
def batch_of_dict(tf, t):
    number, word, _ = numbered(tf, 6)
    made = tf.train.batch({"number": number, "word": word}, 3, name="pairs")
    t.note(tensors=sorted(static(made)), runners=runners(tf))
    t.drain(made)


@adopted
def batch_of_one(tf, t):
    """A list of one tensor gives a tensor."""
    made = tf.train.batch(numbered(tf, 6)[:1], 3)
    t.note(tensors=static([made]))
    t.drain(made)


@adopted
def batch_enqueue_many(tf, t):
    _, _, pair = numbered(tf, 5)
    t.drain(tf.train.batch([pair], 4, enqueue_many=True, allow_smaller_final_batch=True))


@adopted
def batch_padded(tf, t):
    number, _, _ = numbered(tf, 6)
    made = tf.train.batch([tf.range(number)], 3, dynamic_pad=True)
    t.note(tensors=static([made]), runners=runners(tf))
    t.drain(made)


@adopted
def batch_of_sparse(tf, t):
    number, _, _ = numbered(tf, 5)
    sparse = tf.SparseTensor([[0], [2]], tf.to_int64(tf.stack([number, number + 1])), [4])
    t.drain(tf.train.batch([sparse, number], 2, allow_smaller_final_batch=True))


@adopted
def batch_with_threads(tf, t):
    """Each of three threads takes some; together they take each once."""
    number = tf.train.range_input_producer(30, num_epochs=1, shuffle=False).dequeue()
    made = tf.train.batch([number], 7, num_threads=3, allow_smaller_final_batch=True)
    t.note(runners=runners(tf))
    t.drain(made)
    t.note(rows=sorted(sum(t.noted["rows"], [])), sizes=[len(row) for row in t.noted["rows"]])


@each((False, True), adopted)
def batch_join(tf, t, smaller):
    number = tf.train.range_input_producer(11, num_epochs=1, shuffle=False).dequeue()
    made = tf.train.batch_join([[number], [number + 0]], 4, allow_smaller_final_batch=smaller)
    t.note(runners=runners(tf), tensors=static([made]))
    t.drain(made)
    values = sum(t.noted["rows"], [])
    t.note(rows=sorted(values) if smaller else len(values), sizes=[len(row) for row in t.noted["rows"]])


def filled_before(tf, t, fetches, queue_runners):
    """Fills the queues before anything is fetched, so that a shuffle queue's seed decides alone; then fetches."""
    t.session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    closed = queue_runners[-1].queue.is_closed()
    with t.running() as ended:
        t.until(lambda: t.session.run(closed))
        t.note(rows=t.rows(fetches))
    t.note(ended=ended())


@each((False, True), adopted)
def shuffle_batch(tf, t, smaller):
    number, word, _ = numbered(tf, 10, 2)
    made = tf.train.shuffle_batch([number, word], 6, 40, 3, seed=5, allow_smaller_final_batch=smaller)
    t.note(runners=runners(tf), tensors=static(made), keys=keys(tf))
    filled_before(tf, t, made, tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))


@adopted
def shuffle_batch_enqueue_many(tf, t):
    _, _, pair = numbered(tf, 10)
    made = tf.train.shuffle_batch([pair], 4, 60, 2, seed=5, enqueue_many=True, shapes=[[]])
    filled_before(tf, t, made, tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))


@adopted
def shuffle_batch_join(tf, t):
    number = tf.train.range_input_producer(10, num_epochs=1, shuffle=False).dequeue()
    made = tf.train.shuffle_batch_join([[number], [number + 0]], 4, 60, 2, seed=5, allow_smaller_final_batch=True)
    t.note(runners=runners(tf), tensors=static([made]))
    t.drain(made)
    t.note(rows=sorted(sum(t.noted["rows"], [])), sizes=[len(row) for row in t.noted["rows"]])


@adopted
def maybe_batch(tf, t):
    """Only what the condition keeps goes into the batches."""
    number, word, _ = numbered(tf, 9)
    made = tf.train.maybe_batch([number, word], tf.equal(number % 2, 0), 2, allow_smaller_final_batch=True)
    t.drain(made)


@adopted
def maybe_batch_enqueue_many(tf, t):
    _, _, pair = numbered(tf, 4)
    made = tf.train.maybe_batch([pair], [True, False], 3, enqueue_many=True, allow_smaller_final_batch=True)
    t.drain(made)


@adopted
def maybe_shuffle_batch(tf, t):
    number, _, _ = numbered(tf, 9)
    made = tf.train.maybe_shuffle_batch([number], 3, 20, 0, number < 6, seed=2)
    filled_before(tf, t, made, tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))


@adopted
def maybe_joins(tf, t):
    number, _, _ = numbered(tf, 9)
    first = tf.train.maybe_batch_join([[number]], number < 4, 2)
    second = tf.train.maybe_shuffle_batch_join([[first]], 1, 20, 0, tf.reduce_sum(first) > 2, seed=2)
    t.drain(second)


@case
def wrong_batches(tf, t):
    train, number = tf.train, tf.constant(1)
    unknown = tf.placeholder(tf.int32)
    t.note(
        nothing=outcome(lambda: train.batch([], 2)),
        unknown=outcome(lambda: train.batch([unknown], 2)),
        partial=outcome(lambda: train.batch([tf.placeholder(tf.int32, [None])], 2)),
        scalar_many=outcome(lambda: train.batch([number], 2, enqueue_many=True)),
        padded_rank=outcome(lambda: train.batch([unknown], 2, dynamic_pad=True)),
        dtypes=outcome(lambda: train.batch_join([[number], [tf.constant("a")]], 2)),
        shuffle=outcome(lambda: train.shuffle_batch([unknown], 2, 10, 3)),
        smaller=outcome(lambda: t.session.run(train.shuffle_batch([number], 2, 3, 9))),
        keep=kind_of(lambda: train.maybe_batch([number], [[True]], 2)),
    )


# ------------------------------------------------------------------------------------------------------ readers


def lines(count, first=0):
    return "".join("line %d\n" % (first + number) for number in range(count)).encode()


def records(tf, path, values, **settings):
    with tf.python_io.TFRecordWriter(path, **settings) as writer:
        for value in values:
            writer.write(value)
    return path


def readers(tf, t):
    """Kind of reader -> reader and its files."""
    fixed = [
        t.file("fixed%d" % number, b"HEAD" + b"".join(b"%02d" % i for i in range(4)) + b"F") for number in range(2)
    ]
    return {
        "TextLine": lambda: (tf.TextLineReader(), [t.file("a.txt", lines(3)), t.file("b.txt", b"x\r\ny\n\nlast")]),
        "TextLine skip": lambda: (
            tf.TextLineReader(skip_header_lines=2),
            [t.file("a.txt", lines(4)), t.file("b.txt", lines(1)), t.file("c.txt", lines(3, 5))],
        ),
        "WholeFile": lambda: (tf.WholeFileReader(), [t.file("a.bin", b"\x00\xff\n"), t.file("b.bin", b"")]),
        "FixedLength": lambda: (tf.FixedLengthRecordReader(2, header_bytes=4, footer_bytes=1), fixed),
        "FixedLength hop": lambda: (
            tf.FixedLengthRecordReader(4, header_bytes=4, footer_bytes=1, hop_bytes=1),
            fixed[:1],
        ),
        "TFRecord": lambda: (
            tf.TFRecordReader(),
            [records(tf, t.path("a.rec"), [b"one", b"", b"three"]), records(tf, t.path("b.rec"), [b"four"])],
        ),
        "TFRecord gzip": lambda: (
            tf.TFRecordReader(options=tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)),
            [
                records(
                    tf,
                    t.path("a.rec.gz"),
                    [b"one", b"two"],
                    options=tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP),
                )
            ],
        ),
        "Identity": lambda: (tf.IdentityReader(), ["work", "of", "mine"]),
    }


READERS = (
    "TextLine",
    "TextLine skip",
    "WholeFile",
    "FixedLength",
    "FixedLength hop",
    "TFRecord",
    "TFRecord gzip",
    "Identity",
)


def short(rows):
    """Without the folder that the files are in."""
    if isinstance(rows, list):
        return [short(row) for row in rows]
    return rows.rsplit("/", 1)[-1] if isinstance(rows, str) else rows


@each(READERS, adopted)
def read(tf, t, kind):
    """All records of two files, one by one, and what the reader counts."""
    reader, files = readers(tf, t)[kind]()
    queue = tf.train.string_input_producer(files, num_epochs=1, shuffle=False)
    pair = reader.read(queue)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    t.note(
        reader=[type(reader).__name__, reader.supports_serialize, reader.reader_ref.dtype.name],
        static=static(pair),
        counts=t.session.run(counts),
    )
    t.drain(pair)
    t.note(rows=short(t.noted["rows"]), after=t.session.run(counts))


@each(READERS, adopted)
def read_up_to(tf, t, kind):
    """Several at once, as many as the file has."""
    reader, files = readers(tf, t)[kind]()
    queue = tf.train.string_input_producer(files, num_epochs=1, shuffle=False)
    pair = reader.read_up_to(queue, 2)
    t.note(static=static(pair))
    t.drain(pair)
    t.note(rows=short(t.noted["rows"]), after=t.session.run(reader.num_records_produced()))


@each(("TextLine", "TFRecord", "Identity"))
def reset(tf, t, kind):
    """A reader that is reset begins with the next file."""
    reader, files = readers(tf, t)[kind]()
    queue = tf.FIFOQueue(10, tf.string, [[]])
    t.session.run(queue.enqueue_many([files * 2]))
    t.session.run(queue.close())
    pair = reader.read(queue)
    first = plain(t.session.run(pair))
    state = outcome(lambda: len(t.session.run(reader.serialize_state())))
    t.session.run(reader.reset())
    count = t.session.run(reader.num_records_produced())
    rows = t.rows(pair)
    t.note(first=short(first), state=state, count=count, rows=[short(rows[0]), rows[1]])


@case
def serialize(tf, t):
    """An identity reader can be saved and restored."""
    reader = tf.IdentityReader()
    queue = tf.FIFOQueue(10, tf.string, [[]])
    t.session.run(queue.enqueue_many([["a", "b", "c"]]))
    pair = reader.read(queue)
    t.session.run(pair)
    state = t.session.run(reader.serialize_state())
    t.session.run(pair)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    before = t.session.run(counts)
    t.session.run(reader.restore_state(state))
    t.note(before=before, after=t.session.run(counts), next=t.session.run(pair), length=len(state))
    t.note(
        damaged=outcome(lambda: t.session.run(reader.restore_state("damaged"))),
        other=outcome(lambda: t.session.run(tf.TextLineReader().serialize_state())),
    )


@adopted
def missing_file(tf, t):
    """A file that is not there: the error of whoever reads it."""
    queue = tf.train.string_input_producer([t.path("none.txt")], num_epochs=1)
    t.drain(tf.TextLineReader().read(queue))


@adopted
def missing_file_in_a_runner(tf, t):
    """The same in a thread of tf.train.batch: the consumer gets the end, and join raises the error."""
    queue = tf.train.string_input_producer([t.path("none.txt")], num_epochs=1)
    t.drain(tf.train.batch(list(tf.TextLineReader().read(queue)), 2))


@adopted
def damaged_records(tf, t):
    path = records(tf, t.path("a.rec"), [b"one", b"two", b"three"])
    with open(path, "rb") as file:
        whole = file.read()
    queue = tf.train.string_input_producer([t.file("cut.rec", whole[:-3])], num_epochs=1)
    _, value = tf.TFRecordReader().read(queue)
    t.drain(value)


@adopted
def short_records(tf, t):
    """Files whose length is no multiple of a record's."""
    queue = tf.train.string_input_producer([t.file("a.bin", b"abcde")], num_epochs=1)
    _, value = tf.FixedLengthRecordReader(2).read(queue)
    t.drain(value)


@case
def wrong_readers(tf, t):
    reader = tf.TextLineReader()
    numbers = tf.FIFOQueue(3, tf.int32, [[]])
    t.session.run(numbers.enqueue(1))
    t.note(
        no_queue=kind_of(lambda: reader.read(3)),
        numbers=outcome(lambda: t.session.run(reader.read(numbers))),
        record_bytes=outcome(lambda: t.session.run(tf.FixedLengthRecordReader(0).num_records_produced())),
        header_bytes=outcome(lambda: t.session.run(tf.FixedLengthRecordReader(2, -1).num_records_produced())),
        skip=outcome(lambda: t.session.run(tf.TextLineReader(-1).num_records_produced())),
    )


# ----------------------------------------------------------------------------------------------- whole programs


@adopted
def csv_program(tf, t):
    """Two CSV files, decoded, in shuffled batches: what tutorials show."""
    files = [t.file("a.csv", b"x,y,name\n1,2.5,a\n3,,b\n"), t.file("b.csv", b"x,y,name\n5,6.5,c\n7,8,\n9,1,e\n")]
    queue = tf.train.string_input_producer(files, num_epochs=2, shuffle=False)
    _, line = tf.TextLineReader(skip_header_lines=1).read(queue)
    x, y, name = tf.decode_csv(line, [[0], [-1.0], ["none"]])
    made = tf.train.batch([x, y, name], 4, allow_smaller_final_batch=True)
    t.note(runners=runners(tf))
    t.drain(made)


@adopted
def bad_line(tf, t):
    """A line that cannot be decoded."""
    queue = tf.train.string_input_producer([t.file("a.csv", b"1,2\n3,x\n5,6\n")], num_epochs=1)
    _, line = tf.TextLineReader().read(queue)
    made = tf.train.batch(tf.decode_csv(line, [[0], [0]]), 2)
    t.drain(made)


@adopted
def cifar_program(tf, t):
    """Records of a label and pixels, shuffled in batches, as in the CIFAR-10 tutorial."""
    content = b"".join(struct.pack("B", label) + bytes([label * 10] * 12) for label in range(8))
    queue = tf.train.string_input_producer([t.file("a.bin", content)], num_epochs=2)
    _, value = tf.FixedLengthRecordReader(13).read(queue)
    data = tf.decode_raw(value, tf.uint8)
    label = tf.to_int32(data[:1])
    image = tf.transpose(tf.reshape(data[1:13], [3, 2, 2]), [1, 2, 0])
    image, label = tf.to_float(image), tf.reshape(label, [1])
    made = tf.train.shuffle_batch([image, label], 4, 40, 2, seed=9)
    t.note(tensors=static(made))
    filled_before(tf, t, [made[1], tf.reduce_sum(made[0], [1, 2, 3])], tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))


@adopted
def records_program(tf, t):
    """Examples in TFRecord files, parsed one by one in several readers."""
    paths = []
    for number in range(2):
        examples = [
            tf.train.Example(
                features=tf.train.Features(
                    feature={
                        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[10 * number + row])),
                        "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"] * row)),
                    }
                )
            ).SerializeToString()
            for row in range(3)
        ]
        paths.append(records(tf, t.path("%d.rec" % number), examples))
    queue = tf.train.string_input_producer(paths, num_epochs=1)
    parsed = []
    for _ in range(2):
        _, value = tf.TFRecordReader().read(queue)
        found = tf.parse_single_example(
            value, {"label": tf.FixedLenFeature([], tf.int64), "words": tf.VarLenFeature(tf.string)}
        )
        parsed.append([found["label"], tf.size(found["words"].values)])
    made = tf.train.batch_join(parsed, 3, allow_smaller_final_batch=True)
    t.drain(made)
    t.note(rows=sorted(plain(np.concatenate([np.transpose(row) for row in t.noted["rows"]]))))


@adopted
def hand_made_program(tf, t):
    """A queue filled by two runners' operations, work in the graph, results in a second queue."""
    first = tf.RandomShuffleQueue(20, 0, [tf.float32, tf.int32], [[2], []], seed=1, name="first")
    second = tf.FIFOQueue(20, [tf.float32, tf.int32], [[], []], name="second")
    t.session.run(first.enqueue_many([np.arange(16).reshape(8, 2), np.arange(8)]))
    t.session.run(first.close())
    row, number = first.dequeue()
    tf.train.add_queue_runner(tf.train.QueueRunner(second, [second.enqueue([tf.reduce_sum(row), number])] * 2))
    t.drain(second.dequeue())
    t.note(rows=sorted(t.noted["rows"]))
