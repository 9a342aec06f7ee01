"""Traces are read as they were written on TensorFlow 1.15.5, held against each other, and refused when damaged."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import NOTES, blocks, table
from support import ROOT

from tf1sessions.errors import UsageError
from tf1sessions.porting import recorder, traces
from tf1sessions.porting.trace_comparison import TraceComparison, compare
from tf1sessions.porting.trace_graphs import TraceGraph
from tf1sessions.porting.traces import Summary, Trace

GOLDEN = ROOT / "tests" / "golden" / "data" / "recorded.npz"
LOSS = "mean_squared_error/value:0"


@pytest.fixture
def golden():
    with traces.read(GOLDEN) as trace:
        yield trace


def edited(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Trace:
    """The golden trace after ``change(index, arrays)``."""
    with np.load(GOLDEN) as file:
        arrays = {name: file[name] for name in file.files}
    index = json.loads(arrays["index"].tobytes())
    change(index, arrays)
    arrays["index"] = np.frombuffer(json.dumps(index).encode(), np.uint8)
    np.savez(path, **arrays)
    return traces.read(path)


def series_of(index: dict[str, Any], role: str, name: str) -> str:
    (number,) = [n for n, each in enumerate(index["series"]) if each["role"] == role and each["name"] == name][:1]
    return f"series.{number}.values.0"


# ------------------------------------------------------------------------------------------------------- reading


def test_gives_what_the_program_was_and_ran_on(golden: Trace) -> None:
    assert golden.versions["tensorflow"] == "1.15.5"
    assert golden.program == {"script": "recorded_program.py", "arguments": ["6"]}
    assert golden.ended == {"how": "done", "code": 0}
    assert golden.options["tensors"] == ["hidden/*"]
    assert (golden.left_out, golden.notes) == ({}, ())
    assert [session["graph"] for session in golden.sessions.values()] == [1, 2, 3]
    assert golden.graphs[1]["seed"] == 7
    assert golden.graphs[1]["seeds"]["dropout/random_uniform/RandomUniform"] == [7, 23]
    assert golden.graphs[1]["losses"] == [LOSS]
    assert b"dropout/random_uniform" in (golden.graph_def(1) or b"")


def test_calls_are_there_in_order_with_their_kinds(golden: Trace) -> None:
    calls = list(golden.calls)
    assert [call.number for call in calls] == list(range(1, golden.count + 1))
    assert [call.turn for call in calls if call.kind.targets == ("Momentum",)] == [1, 2, 3, 4, 5, 6]
    assert {call.kind.how for call in calls} == {"run", "partial_run", "callable"}
    assert len({call.thread for call in calls if call.session == 3}) > 1
    (failed,) = [call for call in calls if call.error]
    assert failed.error is not None and failed.error.startswith("InvalidArgumentError: found : Tensor had NaN values")
    training = next(call.kind for call in calls if call.kind.targets == ("Momentum",))
    assert training.random[""] == ("dropout/random_uniform/RandomUniform",)
    assert training.extras == (
        *("hidden/BiasAdd:0", "hidden/MatMul:0", "hidden/Relu:0", "hidden/bias/read:0", "hidden/kernel/read:0"),
    )
    # Cut off by a feed: without the loss in its way nothing random is left.
    assert next(call.kind for call in calls if call.kind.fetches == ("mul_1:0",)).random == {}


def test_losses_by_step(golden: Trace) -> None:
    calls, losses = golden.losses[LOSS]
    assert calls.tolist() == [2, 3, 4, 5, 6, 7, 8]
    np.testing.assert_allclose(losses[[0, 5]], [2.6124504, 0.6384139], rtol=1e-6)


def test_values_of_a_call(golden: Trace) -> None:
    steps = list(traces.steps(golden))
    first = steps[1]
    assert first.feeds["x:0"].shape == (8, 4) and first.feeds["x:0"].dtype == np.float32
    np.testing.assert_allclose(first.feeds["y:0"][:, 0], first.feeds["x:0"].sum(axis=1), rtol=1e-6)
    assert first.fetches[LOSS].shape == () and set(first.variables) == set()
    assert set(steps[0].variables) >= {"hidden/kernel", "hidden/kernel/Momentum", "global_step"}
    (texts,) = [step.fetches["twice:0"] for step in steps if "twice:0" in step.fetches]
    assert texts.tolist() == [b"aa", b"\xff\0\xff\0"]
    (wide,) = [step.fetches["mul:0"] for step in steps if "mul:0" in step.fetches]
    assert isinstance(wide, Summary) and wide.shape == (30, 100)
    assert wide.statistics["largest"] == 5998 and wide.statistics["mean"] == 2999 and wide.statistics["nans"] == 0
    assert wide.sample[[0, -1]].tolist() == [0, 5998] and wide.sample.size == recorder.SAMPLE
    assert wide.digest == recorder.digest(np.arange(3000, dtype=np.float32) * 2).tobytes().hex()


def test_variables_first_and_last(golden: Trace) -> None:
    first, last = golden.variables(1, "initial"), golden.variables(1)
    assert first.keys() == last.keys()
    assert (first["global_step"], last["global_step"]) == (0, 6)
    assert not first["hidden/bias"].any() and last["hidden/bias"].any()


def test_the_page_shows_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = NOTES / "12-recorder.md"
    (block,) = blocks(page, "py")
    (tmp_path / "trace.npz").write_bytes(GOLDEN.read_bytes())
    monkeypatch.chdir(tmp_path)
    exec(compile(block.text, str(page), "exec"), {"__name__": "page"})
    promised = [line.partition("  # ")[2] for line in block.text.splitlines() if "print(" in line]
    assert capsys.readouterr().out.splitlines() == promised
    options = [row[0].strip("`").split()[0] for row in table(page, "Option")]
    assert sorted(options) == sorted(
        option
        for action in recorder._parser()._actions
        for option in action.option_strings
        if option not in ("-h", "--help")
    )


def test_numpy_alone_reads_it() -> None:
    with np.load(GOLDEN, allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "biuf" for name in file.files)
        assert json.loads(file["index"].tobytes())["format"] == "tf1sessions trace"
    assert traces.is_trace(GOLDEN)


# ------------------------------------------------------------------------------------------------------ bad files


def test_what_is_no_trace_is_named(tmp_path: Path) -> None:
    for name, write, text in (
        ("text", lambda path: path.write_text("loss 0.5\n"), "no trace"),
        ("empty", lambda path: path.touch(), "no trace"),
        ("pipe", lambda path: os.mkfifo(path), "no trace, or is damaged: .*not a regular file"),
        ("npy", lambda path: np.save(path.open("wb"), np.zeros(3)), "no index"),
        ("npz", lambda path: np.savez(path.open("wb"), weights=np.zeros(3)), "no index"),
        ("index", lambda path: np.savez(path.open("wb"), index=np.zeros(3)), "its index"),
        ("pickle", lambda path: np.savez(path.open("wb"), index=np.array([{}])), "its index"),
    ):
        path = tmp_path / name
        write(path)
        with pytest.raises(UsageError, match=text) as caught:
            traces.read(path)
        assert str(path) in str(caught.value)
        assert not traces.is_trace(path)
    with pytest.raises(UsageError, match="no trace"):
        traces.read(tmp_path / "nowhere.npz")
    assert not traces.is_trace(tmp_path / "nowhere.npz")


def test_a_newer_version_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has version 2; .* reads up to 1.*Update"):
        edited(tmp_path / "new.npz", lambda index, arrays: index.update(version=2))


@pytest.mark.parametrize(
    "change",
    [
        lambda index, arrays: index.pop("kinds"),
        lambda index, arrays: index.update(kinds=3),
        lambda index, arrays: index["series"][0].update(role="guess"),
        lambda index, arrays: index["series"][0].update(form="guess"),
        lambda index, arrays: arrays.pop("series.0.values.0"),
        lambda index, arrays: arrays.pop("calls.0"),
        lambda index, arrays: arrays["calls.0"].__setitem__((0, 3), 99),
        lambda index, arrays: arrays["calls.0"].__setitem__((0, 1), 99),
    ],
    ids=["no-kinds", "kinds", "role", "form", "no-values", "no-calls", "kind", "session"],
)
def test_an_index_that_does_not_fit_is_refused(change: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="damaged|cannot be understood"):
        edited(tmp_path / "trace.npz", change)


@pytest.mark.parametrize("count", [10**18, 3, -1])
@pytest.mark.parametrize("where", ["calls", "series"])
def test_counts_that_the_file_does_not_have_are_refused(where: str, count: int, tmp_path: Path) -> None:
    """At once, without a list of as many names."""

    def change(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        (index["calls"] if where == "calls" else index["series"][0])["pieces"] = count

    with pytest.raises(UsageError, match="is missing|pieces is -1"):
        edited(tmp_path / "trace.npz", change)


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ({"descr": "|V0", "fortran_order": False, "shape": (2**40,)}, "1099511627776 elements without a byte"),
        ("(" * 9000, "cannot be read"),  # NumPy raises what Python's tokenizer does
    ],
    ids=["no bytes", "no header"],
)
def test_an_array_whose_header_is_damaged_is_refused(header: Any, text: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.npz"
    with zipfile.ZipFile(GOLDEN) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            with new.open(name, "w") as member:
                if name != "series.0.calls.0.npy":
                    member.write(old.read(name))
                elif isinstance(header, dict):
                    np.lib.format.write_array_header_1_0(member, header)
                else:
                    member.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    with traces.read(path) as trace, pytest.raises(UsageError, match=f"series.0.calls.0 .*{text}"):
        trace.columns(trace.series[0])


def entries(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values in an index; of a list the first."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(min(len(value), 1)):
            yield (*place, key)
            yield from entries(value[key], (*place, key))


@pytest.mark.parametrize("strange", [None, "zz", -1, 10**18, 0.5, [[]], {"a": None}], ids=repr)
def test_whatever_is_in_an_index_is_read_or_refused(strange: Any, tmp_path: Path) -> None:
    """One value of it at a time, each of them."""
    with np.load(GOLDEN) as file:
        whole = json.loads(file["index"].tobytes())
    outcomes = set()
    path = tmp_path / "trace.npz"
    with traces.read(GOLDEN) as left:
        for place in entries(whole):

            def change(index: dict[str, Any], arrays: dict[str, Any], place: tuple[Any, ...] = place) -> None:
                for key in place[:-1]:
                    index = index[key]
                index[place[-1]] = strange

            try:
                with edited(path, change) as right:
                    list(traces.steps(right))
                    right.variables(session=1), right.losses, right.order
                    if len(place) < 4:
                        str(compare(left, right))
                outcomes.add("read")
            except UsageError as error:
                assert str(path) in str(error), place
                outcomes.add("refused")
    assert "refused" in outcomes


@pytest.mark.parametrize("size", [0, 3])
def test_arrays_that_are_none_are_refused(size: int, tmp_path: Path) -> None:
    """NumPy gives bytes for a member that does not begin as an array does."""
    with zipfile.ZipFile(GOLDEN) as archive:
        whole = {name: archive.read(name) for name in archive.namelist()}
    for name in ("index.npy", "calls.0.npy", "series.0.values.0.npy", "series.0.calls.0.npy"):
        path = tmp_path / f"{name}.npz"
        with zipfile.ZipFile(path, "w") as archive:
            for each, data in whole.items():
                archive.writestr(each, data[:size] if each == name else data)
        with pytest.raises(UsageError, match="is no array|no trace") as caught, traces.read(path) as trace:
            trace.value(trace.series[0], 0)
        assert str(path) in str(caught.value)


def test_a_graph_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with edited(
        tmp_path / "a.npz", lambda index, arrays: arrays.update({"graph.1": np.full(9, 255, np.uint8)})
    ) as trace:
        with pytest.raises(UsageError, match="graph.1 is no graph"):
            TraceGraph(trace, 1)

    def change(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        index["graphs"][0]["places"] = True
        arrays["graph.1.places"] = np.full(3, -1, np.int32)

    with edited(tmp_path / "b.npz", change) as trace, pytest.raises(UsageError, match="not one for each"):
        TraceGraph(trace, 1)

    def far(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        change(index, arrays)
        arrays["graph.1.places"] = np.full(242, 99, np.int32)

    with edited(tmp_path / "c.npz", far) as trace, pytest.raises(UsageError, match="names what is not there"):
        TraceGraph(trace, 1)


def test_a_series_without_a_value_is_read(tmp_path: Path) -> None:
    """As it is when the disk was full before its first piece."""

    def change(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        number = series_of(index, "last", "hidden/kernel").split(".")[1]
        index["series"][int(number)].update(rows=0, pieces=0)

    with edited(tmp_path / "trace.npz", change) as trace:
        assert len(list(traces.steps(trace))) == trace.count
        assert "hidden/kernel" not in trace.variables(session=1) and "out/kernel" in trace.variables(session=1)


def test_values_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    trace = edited(tmp_path / "trace.npz", lambda index, arrays: index["series"][0].update(rows=7))
    with pytest.raises(UsageError, match="has not 7 values"):
        trace.value(trace.series[0], 0)
    of_texts = {"series.0.values.0": np.zeros([1, 4, 5], "S1")}
    with edited(tmp_path / "texts.npz", lambda index, arrays: arrays.update(of_texts)) as trace:
        with pytest.raises(UsageError, match="has not 1 values"):
            trace.value(trace.series[0], 0)


def test_every_cut_and_every_flipped_byte_is_seen_or_harmless(tmp_path: Path) -> None:
    whole = GOLDEN.read_bytes()
    path = tmp_path / "trace.npz"
    for length in range(0, len(whole), len(whole) // 12):
        path.write_bytes(whole[:length])
        with pytest.raises(UsageError):
            traces.read(path)
    outcomes = set()
    for place in range(11, len(whole), len(whole) // 25):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            with traces.read(path) as trace:
                list(traces.steps(trace))
                trace.graph_def(1)
            outcomes.add("read")
        except UsageError:
            outcomes.add("refused")
    assert "refused" in outcomes
    with zipfile.ZipFile(GOLDEN) as archive:
        assert archive.testzip() is None


# ------------------------------------------------------------------------------------------------------ comparing


def compared(tmp_path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None], **more: Any) -> TraceComparison:
    with traces.read(GOLDEN) as left, edited(tmp_path / "other.npz", change) as right:
        return compare(left, right, **more)


def test_a_trace_is_equal_to_itself(tmp_path: Path) -> None:
    found = compared(tmp_path, lambda index, arrays: None)
    assert found.equal and found.same and found.first is None and not found.unmatched
    assert found.calls == 22 and "equal to the bit" in str(found)
    json.loads(found.to_json())


def test_the_first_value_that_parts_is_named(tmp_path: Path) -> None:
    def change(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[series_of(index, "fetch", LOSS)][3:] += np.float32(0.01)
        arrays[series_of(index, "last", "hidden/bias")][0, 2] = 5
        arrays[series_of(index, "extra", "hidden/Relu:0")][2, 1, 1] += 1

    found = compared(tmp_path, change)
    assert found.first is not None and not found.equal
    assert (found.first.tensor.name, found.first.step, found.first.call) == ("hidden/Relu:0", 3, 4)
    assert found.first.difference is not None and found.first.difference.worst == (1, 1)
    assert "first parts: hidden/Relu:0, at step 3 of run(mean_squared_error/value:0, Momentum)" in str(found)
    loss = next(each for each in found.tensors if (each.role, each.name) == ("fetch", LOSS))
    assert loss.beyond == 3 and loss.first is not None and loss.first.step == 4
    bias = next(each for each in found.tensors if (each.role, each.name) == ("last", "hidden/bias"))
    assert not bias.equal and bias.largest is not None


def test_in_one_call_the_tensor_that_is_computed_first_is_named(tmp_path: Path) -> None:
    def change(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        for role, name in (("fetch", LOSS), ("extra", "hidden/Relu:0"), ("extra", "hidden/MatMul:0")):
            arrays[series_of(index, role, name)][1] += 1

    found = compared(tmp_path, change)
    assert found.first is not None and found.first.tensor.name == "hidden/MatMul:0"


def test_errors_within_the_tolerance_are_equal_and_not_the_same(tmp_path: Path) -> None:
    def change(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[series_of(index, "fetch", LOSS)][3:] *= np.float32(1 + 3e-6)

    found = compared(tmp_path, change)
    assert found.equal and not found.same and "equal within the tolerances" in str(found)
    strict = compared(tmp_path, change, tolerances=[{"tensor": LOSS, "absolute": 1e-7, "reason": "a test"}])
    assert strict.first is not None and strict.first.tensor.tolerance.reason == "a test"


def test_an_error_that_grows_is_distinguished_from_one_that_jumps(tmp_path: Path) -> None:
    def grow(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[series_of(index, "fetch", LOSS)] += np.float32([0, 1e-6, 4e-6, 1e-5, 4e-5, 1e-4])

    def jump(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[series_of(index, "fetch", LOSS)] += np.float32([0, 0, 0, 0, 0.5, 0.5])

    growing, jumping = compared(tmp_path, grow), compared(tmp_path, jump)
    assert growing.first is not None and any("grows from call to call" in cause for cause in growing.first.causes)
    assert jumping.first is not None and not any("grows" in cause for cause in jumping.first.causes)
    assert [point.step for point in growing.first.tensor.growth] == [1, 2, 3, 4, 5, 6]


def test_causes_are_reported(tmp_path: Path) -> None:
    def fed(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[series_of(index, "feed", "x:0")][1] += 1
        arrays[series_of(index, "fetch", LOSS)][1:] += 1

    def seeded(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        index["graphs"][0]["seeds"]["dropout/random_uniform/RandomUniform"] = [7, 9]
        arrays[series_of(index, "fetch", LOSS)][:] += 1

    def begun(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        index["graphs"][0]["seeds"]["hidden/kernel/Initializer/random_uniform/RandomUniform"] = [7, 0]
        arrays[series_of(index, "initial", "hidden/kernel")][:] += 1

    first = compared(tmp_path, fed).first
    assert first is not None and first.tensor.role == "feed" and "feeds other values" in first.causes[0]
    first = compared(tmp_path, seeded).first
    assert first is not None and "(7, 23) on the left and (7, 9) on the right" in first.causes[0]
    first = compared(tmp_path, begun).first
    assert first is not None and str(first.tensor) == "the initial value of hidden/kernel"
    assert "hidden/kernel/Initializer" in first.causes[0]


def test_steps_that_adam_makes_of_rounding_are_reported(tmp_path: Path) -> None:
    def change(size: float) -> Callable[[dict[str, Any], dict[str, Any]], None]:
        def adam(index: dict[str, Any], arrays: dict[str, Any]) -> None:
            for name, value in (("hidden/bias", size), ("out/bias", 1.0)):
                arrays[series_of(index, "last", f"{name}/Momentum")][:] = value
            for series in index["series"]:
                series["name"] = series["name"].replace("Momentum", "Adam_1")

        return adam

    def moved(size: float) -> Callable[[dict[str, Any], dict[str, Any]], None]:
        def both(index: dict[str, Any], arrays: dict[str, Any]) -> None:
            change(size)(index, arrays)
            arrays[series_of(index, "last", "hidden/bias")][:] += 1

        return both

    for size, reported in ((1e-12, True), (1e-2, False)):
        left, right = edited(tmp_path / "left.npz", change(size)), edited(tmp_path / "right.npz", moved(size))
        with left, right:
            first = compare(left, right).first
        assert first is not None and first.tensor.name == "hidden/bias"
        assert any("gradients of hidden/bias are nothing but rounding" in cause for cause in first.causes) is reported


def test_shapes_dtypes_texts_and_summaries_that_differ(tmp_path: Path) -> None:
    def shaped(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        name = series_of(index, "extra", "hidden/bias/read:0")
        arrays[name] = arrays[name][:, :4]
        index["series"][int(name.split(".")[1])]["shape"] = [4]

    def said(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[series_of(index, "fetch", "twice:0")][0] = ord("b")

    def sampled(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        number = series_of(index, "fetch", "mul:0").split(".")[1]
        arrays[f"series.{number}.digests.0"][0, 0] ^= 1
        arrays[f"series.{number}.samples.0"][0, 5] += 1

    found = compared(tmp_path, shaped)
    assert found.first is not None and found.first.tensor.problem == "shape [5] against [4]"
    found = compared(tmp_path, said)
    assert found.first is not None and found.first.tensor.name == "twice:0"
    assert found.first.difference is not None and found.first.difference.left == "aa"
    found = compared(tmp_path, sampled)
    assert found.first is not None and found.first.tensor.sampled == 1 and found.first.tensor.name == "mul:0"


def test_calls_of_one_side_and_names_of_today(tmp_path: Path) -> None:
    def shorter(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays["calls.0"] = arrays["calls.0"][:-12]

    def renamed(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        for kind in index["kinds"]:
            kind["fetches"] = ["sum/value:0" if name == LOSS else name for name in kind["fetches"]]
        for series in index["series"]:
            if series["role"] == "fetch" and series["name"] == LOSS:
                series["name"] = "sum/value:0"

    found = compared(tmp_path, shorter)
    assert not found.equal and any("only the left side calls" in text for text in found.unmatched)
    found = compared(tmp_path, renamed)
    loss = next(each for each in found.tensors if (each.role, each.name) == ("fetch", LOSS))
    assert loss.other == "sum/value:0" and loss.compared == 6 and loss.equal
    assert any("taken for the same" in note for note in found.notes)


def test_of_summaries_the_numbers_are_compared(tmp_path: Path) -> None:
    """A summary: a message of values, each with a tag and a float."""

    def message(loss: float, tag: bytes = b"loss") -> bytes:
        value = b"\x0a" + bytes([len(tag)]) + tag + b"\x15" + np.float32(loss).tobytes()
        return b"\x0a" + bytes([len(value)]) + value

    def side(text: bytes) -> Callable[[dict[str, Any], dict[str, Any]], None]:
        def change(index: dict[str, Any], arrays: dict[str, Any]) -> None:
            name = series_of(index, "fetch", "twice:0")
            arrays[name] = np.frombuffer(text * 2, np.uint8)
            arrays[name.replace("values", "lengths")][:] = len(text)

        return change

    for other, equal in ((message(0.5 + 1e-6), True), (message(0.6), False), (message(0.5, b"cost"), False)):
        with (
            edited(tmp_path / "left.npz", side(message(0.5))) as left,
            edited(tmp_path / "right.npz", side(other)) as right,
        ):
            found = compare(left, right)
        assert found.equal is equal and not found.same, str(found)


def test_how_often_hooks_ask_for_the_step_is_not_compared(tmp_path: Path) -> None:
    def asked(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        kind = next(number for number, each in enumerate(index["kinds"]) if each["fetches"] == ["mul:0"])
        index["kinds"][kind]["fetches"] = ["global_step/add:0"]

    def more(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        asked(index, arrays)
        kind = next(n for n, each in enumerate(index["kinds"]) if each["fetches"] == ["global_step/add:0"])
        arrays["calls.0"] = arrays["calls.0"][arrays["calls.0"][:, 3] != kind]

    for other, note in ((asked, "their own affair"), (more, "only the left side calls run(global_step/add:0)")):
        with edited(tmp_path / "left.npz", asked) as left, edited(tmp_path / "right.npz", other) as right:
            found = compare(left, right)
        assert found.equal and not found.unmatched and any(note in text for text in found.notes), str(found)


def test_calls_of_several_threads_are_matched_by_their_values(tmp_path: Path) -> None:
    def change(index: dict[str, Any], arrays: dict[str, Any]) -> None:
        name = series_of(index, "feed", "item:0")
        arrays[name] = arrays[name][::-1].copy()

    found = compared(tmp_path, change)
    assert found.same and any("matched by their values" in note for note in found.notes)
