"""Records what genuine TensorFlow 1.15.5 computes in kernel_cases.py, to the bit, and how far today's is from that.

``python make_kernels.py results OLD.npz`` with the Python of an environment that has TensorFlow 1.15, the same with
``tf1sessions run make_kernels.py -- results NEW.npz`` (and once more with ``--fast-kernels``, as FAST.npz), and then
``python make_kernels.py golden OLD.npz NEW.npz FAST.npz`` with any: it writes kernels.json.gz in ../data. All
three on one machine, whose processor has AVX-512: TensorFlow's products take from the processor what it has. A number
after OLD.npz is how many threads a kernel has; the golden is made with two.

For each result of each case the golden has its dtype and shape, a hash of its bits, some of its values with their
places (those that differ most first), and how far today's are from all of them, with oneDNN off and on.
"""

import base64
import gzip
import hashlib
import json
import os
import sys

import numpy as np
from folders import DATA

GOLDEN = os.path.join(DATA, "kernels.json.gz")
THREADS = 2
TOGETHER = 40  # cases in a graph
WORST, OTHERS = 3, 2  # values that are kept of a result


def compute(keys, threads=THREADS):
    """The results of cases, by :func:`saved_name`, as arrays of numbers.

    Those of a case are named "0" and on, and its gradients "d0" and on. The cases are parts of one graph, which takes
    less time than a graph for each.
    """
    import tensorflow as tf
    from kernel_cases import CASES, values

    tensors, feeds, trains = {}, {}, []
    with tf.Graph().as_default():
        for number, key in enumerate(keys):
            one = CASES[key]
            with tf.variable_scope("case%d" % number):
                places = [
                    tf.placeholder(array.dtype if array.dtype != object else tf.string, array.shape)
                    for array in one.inputs
                ]
                found = one.function(*places)
                found = list(found) if isinstance(found, (list, tuple)) else [found]
                if one.steps:
                    trains.append((found.pop(), one.steps))
                fractions = [place for place in places if place.dtype.is_floating]
                gradients = []
                if one.gradient and fractions and found[0].dtype.is_floating:
                    weights = values(found[0].shape.as_list(), dtype=found[0].dtype.as_numpy_dtype, salt=9)
                    gradients = tf.gradients(found[0], fractions, tf.constant(weights))
                for name, tensor in enumerate(found):
                    tensors[saved_name(key, "%d" % name)] = tf.convert_to_tensor(tensor)
                for name, tensor in enumerate(one for one in gradients if one is not None):
                    tensors[saved_name(key, "d%d" % name)] = tf.convert_to_tensor(tensor)
            feeds.update(zip(places, one.inputs))
        config = tf.ConfigProto(intra_op_parallelism_threads=threads)
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer(), feeds)
            for train, steps in trains:
                for _ in range(steps):
                    session.run(train, feeds)
            return {name: as_numbers(array) for name, array in session.run(tensors, feeds).items()}


def compute_all(threads=THREADS):
    """The results of all cases."""
    from kernel_cases import CASES

    keys, results = list(CASES), {}
    for start in range(0, len(keys), TOGETHER):
        results.update(compute(keys[start : start + TOGETHER], threads))
    return results


def processor():
    """What TensorFlow's products take from the processor: how wide its vectors are, how large its caches."""
    folder = "/sys/devices/system/cpu/cpu0/cache"
    found = {"avx512": False, "caches": []}
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            found["avx512"] = "avx512f" in file.read()
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if os.path.exists(os.path.join(folder, name, "size")):
            with open(os.path.join(folder, name, "size")) as file:
                found["caches"].append(file.read().strip())
    return found


def as_numbers(array):
    """Strings and types that only TensorFlow has, as numbers of the same bits."""
    array = np.asarray(array)
    if array.dtype == object:
        return np.frombuffer(b"\0".join(array.ravel().tolist()), "uint8")
    if array.dtype.kind not in "biufc" or array.dtype.name == "bfloat16":
        return array.view("uint%d" % (8 * array.dtype.itemsize))
    return array


def bits_of(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def distances(old, new):
    """How far apart two arrays are, element by element."""
    kind = "complex128" if old.dtype.kind == "c" else "float64"
    old, new = old.astype(kind).ravel(), new.astype(kind).ravel()
    same = (old == new) | (np.isnan(old) & np.isnan(new))
    with np.errstate(invalid="ignore"):
        return np.where(same, 0.0, np.abs(old - new))


def spacing(array):
    """From each number of an array to the next one of its dtype."""
    part = np.dtype("float%d" % (array.dtype.itemsize * 4)) if array.dtype.kind == "c" else array.dtype
    return np.spacing(np.abs(array.ravel()).astype(part)).astype("float64")


def difference(old, new):
    """None where the bits are the same, else the largest difference: by itself, by the largest value, in last digits.

    Infinite where one side has no number, or another shape.
    """
    if old.dtype == new.dtype and old.shape == new.shape and bits_of(old) == bits_of(new):
        return None
    if old.dtype != new.dtype or old.shape != new.shape:
        return {"absolute": "inf", "relative": "inf", "ulps": "inf", "share": 1.0}
    apart = np.nan_to_num(distances(old, new))
    finite = np.abs(old.ravel()[np.isfinite(old.ravel())].astype("complex128"))
    largest = float(finite.max()) if finite.size else 0.0
    found = {
        "absolute": float(apart.max()),
        "relative": float(apart.max() / largest) if largest else 0.0,
        "share": float(np.mean(apart > 0)),
    }
    if old.dtype.kind in "fc":
        with np.errstate(invalid="ignore", divide="ignore"):
            found["ulps"] = float(np.nan_to_num(apart / spacing(old)).max())
    return {name: float("%.3g" % value) for name, value in found.items()}


def kept_places(old, new):
    """Where values are kept: where the difference is largest, and some others."""
    flat = old.size
    worst = []
    if old.shape == new.shape and difference(old, new) is not None:
        worst = np.argsort(-distances(old, new), kind="mergesort")[:WORST].tolist()
    others = sorted({(number * 7919 + 3) % flat for number in range(OTHERS)}) if flat else []
    return [int(place) for place in dict.fromkeys(worst + others)]


def encoded(values):
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def decoded(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype)


def saved_name(key, name):
    return "/".join(key) + "#" + name


def write_results(path, threads=THREADS):
    np.savez(path, **compute_all(int(threads)))


def write_golden(old_path, new_path, fast_path):
    old, new, fast = (np.load(path) for path in (old_path, new_path, fast_path))
    assert old.files == new.files == fast.files
    results = {}
    for name in old.files:
        one = old[name]
        places = kept_places(one, new[name])
        results[name] = {
            "dtype": one.dtype.name,
            "shape": list(one.shape),
            "bits": bits_of(one),
            "places": places,
            "values": encoded(one.ravel()[places]),
            "difference": difference(one, new[name]),
            "fast": difference(one, fast[name]),
        }
    with gzip.GzipFile(GOLDEN, "wb", 9, mtime=0) as file:
        file.write(json.dumps({"processor": processor(), "results": results}, sort_keys=True).encode())


if __name__ == "__main__":
    {"results": write_results, "golden": write_golden}[sys.argv[1]](*sys.argv[2:])
