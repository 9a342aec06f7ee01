"""The step inputs: programs with queues and with tf.data give the same, and what stays as it is."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from inputs_programs import PROGRAMS, REFUSED
from pages import NOTES, blocks
from porting_support import after_inputs

from tf1sessions.porting.rewriting.rewrite import port
from tf1sessions.porting.rewriting.steps import steps_to
from tf1sessions.source.files import SourceText

PROGRAM = "inputs_checks.py"


def more_checks() -> list[str]:
    return [f"check_{name}" for name in PROGRAMS]


def test_the_same_elements(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]


@pytest.mark.parametrize("name", REFUSED)
def test_what_stays_says_why(name: str) -> None:
    text, why = REFUSED[name]
    source = SourceText(Path("program.py"), "program.py", "import tensorflow as tf\n" + textwrap.dedent(text))
    last = port([source], "clean", inputs=True)[-1]
    (file,) = last.files
    assert last.step == "inputs" and not file.is_changed
    assert [note.what for note in file.notes] == [f"{why}, so this file keeps its queues."]


@pytest.mark.parametrize("step", ["v1", "clean"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_second_time_there_is_nothing_to_do(name: str, step: str) -> None:
    _, once = after_inputs(PROGRAMS[name], step)
    _, twice = after_inputs(once, step)
    assert once == twice


def test_the_page_shows_what_is_done() -> None:
    before, expected = (block.text for block in blocks(NOTES / "port-inputs.md", "py")[:2])
    assert after_inputs(before)[1] == expected


def test_where_the_step_comes() -> None:
    assert steps_to("v1", inputs=True) == ("py3", "v1", "inputs")
    assert steps_to("native", inputs=True) == ("py3", "v1", "clean", "inputs", "functions", "native")
    assert "inputs" not in steps_to("native")


def test_a_program_of_two_files() -> None:
    """A file that starts the threads of another one's queues starts none; one with queues that stay does."""
    queues = PROGRAMS["slices of arrays"].partition("with tf.Session")[0]
    main = "import tensorflow as tf\nimport data\nsess = tf.Session()\ntf.train.start_queue_runners(sess)\n"
    for text, stays in ((queues, False), (queues + "\nother = tf.FIFOQueue(3, tf.int32)\n", True)):
        sources = [SourceText(Path(name), name, each) for name, each in (("data.py", text), ("main.py", main))]
        after = {file.after.path.name: file.after.text for file in port(sources, "v1", inputs=True)[-1].files}
        assert "make_one_shot_iterator" in after["data.py"]
        assert ("start_queue_runners" in after["main.py"]) is stays


def test_a_function_of_another_file_stays() -> None:
    reader = textwrap.dedent(
        """
        import tensorflow as tf

        def read(queue):
            _, line = tf.TextLineReader().read(queue)
            return line

        queue = tf.train.string_input_producer(["a"])
        batch = tf.train.batch([read(queue)], 2)
        """
    )
    user = "import tensorflow as tf\nfrom data import read\n"
    sources = [SourceText(Path(name), name, each) for name, each in (("data.py", reader), ("main.py", user))]
    last = port(sources, "v1", inputs=True)[-1]
    (note,) = [note for file in last.files for note in file.notes if note.kind == "by hand"]
    assert note.what == "read() is used in main.py as well, so this file keeps its queues."


LOOP = """
import tensorflow as tf

queue = tf.train.slice_input_producer([[1.0, 2.0]], num_epochs=1)
batch = tf.train.batch(queue, 2)
with tf.Session() as sess:
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
"""


@pytest.mark.parametrize(
    ("loop", "becomes"),
    [
        (
            """
            try:
                while not coord.should_stop():
                    print(sess.run(batch))
            except tf.errors.OutOfRangeError:
                print("the end")
            finally:
                # All threads end.
                coord.request_stop()
            coord.join(threads)
            """,
            """
            try:
                while True:
                    print(sess.run(batch))
            except tf.errors.OutOfRangeError:
                print("the end")
            """,
        ),
        (
            """
            try:
                for _ in range(3):
                    if coord.should_stop():
                        break
                    print(sess.run(batch))
            finally:
                coord.request_stop()
                coord.join(threads)
            print("done")
            """,
            """
            for _ in range(3):
                print(sess.run(batch))
            print("done")
            """,
        ),
        (
            """
            try:
                print(sess.run(batch))
            except Exception as error:
                coord.request_stop(error)
            coord.join(threads)
            """,
            """
            coord = tf.train.Coordinator()
            threads = []
            try:
                print(sess.run(batch))
            except Exception as error:
                coord.request_stop(error)
            coord.join(threads)
            """,
        ),
        (
            """
            print(sess.run(batch), len(threads))
            coord.request_stop()
            """,
            """
            threads = []
            print(sess.run(batch), len(threads))
            """,
        ),
    ],
)
def test_coordinators(loop: str, becomes: str) -> None:
    """They go where no threads are left and nothing else is asked of them."""
    text = LOOP + textwrap.indent(textwrap.dedent(loop).lstrip("\n"), "    ")
    after = after_inputs(text, "v1")[1]
    assert after.partition("with tf.Session() as sess:\n")[2] == textwrap.indent(
        textwrap.dedent(becomes).lstrip("\n"), "    "
    )


def test_texts() -> None:
    """Comments, order and layout are the author's; the names of readers go."""
    text = textwrap.dedent(
        """
        import tensorflow as tf


        def load(paths, shuffle):
            queue = tf.train.string_input_producer(paths, shuffle=shuffle, num_epochs=5)
            reader = tf.TFRecordReader()

            _, record = reader.read(queue)

            # Pixels.
            image = tf.decode_raw(record, tf.uint8)
            count = len(paths)  # of files
            image = tf.reshape(image, [2, 2])
            return tf.train.shuffle_batch([image], 8, capacity=100, min_after_dequeue=count)
        """
    )
    assert after_inputs(text, "v1")[1] == textwrap.dedent(
        """
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()


        def load(paths, shuffle):
            queue = tf.data.Dataset.from_tensor_slices(paths)
            if shuffle:
                queue = queue.shuffle(queue.cardinality())
            queue = queue.repeat(5)

            count = len(paths)  # of files

            def prepare(record):
                # Pixels.
                image = tf.decode_raw(record, tf.uint8)
                image = tf.reshape(image, [2, 2])
                return image

            # Draws from count elements; the queue had up to 100.
            batches = (
                queue
                .flat_map(tf.data.TFRecordDataset)
                .map(prepare)
                .shuffle(count)
                .batch(8, drop_remainder=True)
                .prefetch(tf.data.AUTOTUNE)
            )
            return tf.data.make_one_shot_iterator(batches).get_next()
        """
    )
