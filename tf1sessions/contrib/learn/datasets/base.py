"""Small data sets, and tables in CSV files."""

from __future__ import annotations

import csv
import os
from typing import Any, NamedTuple

import numpy as np

from ....runtime import tf1 as tf

__all__ = [
    "Dataset",
    "Datasets",
    "load_boston",
    "load_csv_with_header",
    "load_csv_without_header",
    "load_iris",
    "maybe_download",
    "shrink_csv",
]


class Dataset(NamedTuple):
    """Features [N, F] and targets [N]."""

    data: Any
    target: Any


class Datasets(NamedTuple):
    """The three parts of a data set."""

    train: Any
    validation: Any
    test: Any


def load_csv_with_header(filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """Reads a table whose first line says how many rows and features there are.

    Args:
        filename: The file.
        target_dtype: The type of the targets.
        features_dtype: The type of the features.
        target_column: The column of the targets; the others are features.
    """
    with tf.gfile.Open(filename) as file:
        rows = csv.reader(file)
        header = next(rows)
        shape = int(header[0]), int(header[1])
        data = np.zeros(shape, features_dtype)
        target = np.zeros(shape[:1], target_dtype)
        for i, row in enumerate(rows):
            target[i] = np.asarray(row.pop(target_column), dtype=target_dtype)
            data[i] = np.asarray(row, dtype=features_dtype)
    return Dataset(data, target)


def load_csv_without_header(filename: Any, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """Reads a table; see :func:`load_csv_with_header`."""
    data, target = [], []
    with tf.gfile.Open(filename) as file:
        for row in csv.reader(file):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(np.array(data), np.array(target, dtype=target_dtype).astype(target_dtype))


def shrink_csv(filename: str, ratio: int) -> None:
    """Writes every ``ratio``-th row of a table to another file, with "_small" in its name."""
    with tf.gfile.Open(filename) as file, tf.gfile.Open(filename.replace(".", "_small."), "w") as small:
        writer = csv.writer(small)
        for i, row in enumerate(csv.reader(file)):
            if i % ratio == 0:
                writer.writerow(row)


def load_iris(data_path: str | None = None) -> Dataset:
    """Fisher's irises: float64 [150, 4] in cm, and int64 [150]; those of 1.15.5 unless a file is given."""
    if data_path is not None:
        return load_csv_with_header(data_path, target_dtype=int, features_dtype=float)
    data = np.array([int(_IRIS[i : i + 2]) / 10 for i in range(0, len(_IRIS), 2)]).reshape(150, 4)
    return Dataset(data, np.repeat(np.arange(3), 50))


def load_boston(data_path: str | None = None) -> Dataset:
    """Prices of houses in Boston, from a file: float64 [506, 13] and [506].

    Raises:
        ValueError: There is no path: the table is not part of this package.
    """
    if data_path is None:
        raise ValueError(
            "load_boston: the table is not part of this package; pass data_path, the boston_house_prices.csv of "
            "scikit-learn before 1.2 or of tensorflow 1.15 (contrib/learn/python/learn/datasets/data)"
        )
    return load_csv_with_header(data_path, target_dtype=float, features_dtype=float)


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of ``filename`` in ``work_directory``, where it has to be already: nothing is downloaded.

    Raises:
        FileNotFoundError: It is not there.
    """
    path = os.path.join(work_directory, filename)
    if not tf.gfile.Exists(path):
        raise FileNotFoundError(f"{os.path.abspath(path)} is missing. Nothing is downloaded; get it from {source_url}.")
    return path


# Ten times the values, two digits each: sepal length and width, petal length and width of 50 flowers of each kind.
_IRIS = (
    "5135140249301402473213024631150250361402543917044634140350341502442914024931150154371502483416024830"
    "1401433011015840120257441504543913045135140357381703513815035434170251371504463610025133170548341902"
    "5030160250341604523515025234140247321602483116025434150452411501554214024931150150321202553513024931"
    "1501443013025134150250351303452313034432130250351606513819044830140351381602463214025337150250331402"
    "7032471464324515693149155523401365284615572845136333471649243310662946135227391450203510593042156022"
    "4010612947145629361367314414563045155827411062224515562539115932481861284013632549156128471264294313"
    "6630441468284814673050176029451557263510552438115524371058273912602751165430451560344516673147156323"
    "4413563041135525401355264412613046145826401250233310562742135730421257294213622943135125301157284113"
    "6333602558275119713059216329561865305822763066214925451773296318672558187236612565325120642753196830"
    "5521572550205828512464325323653055187738672277266923602250156932572356284920772867206327491867335721"
    "7232601862284818613049186428562172305816742861197938642064285622632851156126561477306123633456246431"
    "5518603048186931542167315624693151235827511968325923673357256730522363255019653052206234542359305118"
)
