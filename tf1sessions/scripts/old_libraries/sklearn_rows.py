"""scikit-learn: modules that moved in 0.18 to 0.24, and arguments and classes that were renamed.

In 0.22 every private module got an underscore, ``sklearn.manifold.t_sne`` became ``sklearn.manifold._t_sne``: one rule
finds them all.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .rows import Arguments, Module, Name, Table, built

__all__ = ["SELECTION", "TABLES"]

#: Module of before 0.20 -> what of it is in sklearn.model_selection with the same arguments.
SELECTION = {
    "sklearn.cross_validation": "train_test_split cross_val_score cross_val_predict check_cv LeaveOneOut",
    "sklearn.grid_search": "GridSearchCV ParameterGrid ParameterSampler RandomizedSearchCV",
    "sklearn.learning_curve": "learning_curve validation_curve",
}


def _some(name: str, *paths: str) -> Callable[[], ModuleType]:
    """A module of what is at these paths: ``sklearn.model_selection.train_test_split``."""

    def make() -> ModuleType:
        found = {}
        for path in paths:
            module, _, attribute = path.rpartition(".")
            found[attribute] = getattr(importlib.import_module(module), attribute)
        return built(name, found)

    return make


def _of_selection(name: str, names: str) -> Module:
    return Module(name, "0.20", _some(name, *(f"sklearn.model_selection.{one}" for one in names.split())))


def _linear_assignment() -> ModuleType:
    def linear_assignment(X: Any) -> Any:
        """Pairs [N, 2] of a row and its column, sorted by row, of the least sum."""
        numpy: Any = importlib.import_module("numpy")
        return numpy.array(importlib.import_module("scipy.optimize").linear_sum_assignment(X)).T

    return built("sklearn.utils.linear_assignment_", {"linear_assignment": linear_assignment})


def _imputer(preprocessing: Any, name: str) -> Any:
    """``Imputer(missing_values="NaN", strategy="mean")``, which worked along columns."""

    def Imputer(
        missing_values: Any = "NaN", strategy: str = "mean", axis: int = 0, verbose: int = 0, copy: bool = True
    ) -> Any:
        if axis:
            raise NotImplementedError("Imputer(axis=1) is gone: impute the transposed array")
        numpy: Any = importlib.import_module("numpy")
        simple: Any = importlib.import_module("sklearn.impute").SimpleImputer
        missing = numpy.nan if missing_values == "NaN" else missing_values
        return simple(missing_values=missing, strategy=strategy, copy=copy)

    return Imputer


def _feature_names(kind: Any, name: str) -> Any:
    """A list, which is what it was."""
    return lambda self, *args: self.get_feature_names_out(*args).tolist()


def _fetch_mldata(datasets: Any, name: str) -> Any:
    """mldata.org is gone; OpenML has its data sets."""

    def fetch_mldata(dataname: str, target_name: Any = "label", data_name: Any = "data", **named: Any) -> Any:
        names = {"MNIST original": "mnist_784"}
        home = named.get("data_home")
        found = datasets.fetch_openml(names.get(dataname, dataname), version=1, as_frame=False, data_home=home)
        if found.target.dtype == object:
            found.target = found.target.astype(float)
        return found

    return fetch_mldata


def _jaccard(metrics: Any, name: str) -> Any:
    """The share of equal labels, which it was except for lists of labels."""

    def jaccard_similarity_score(y_true: Any, y_pred: Any, normalize: bool = True, sample_weight: Any = None) -> Any:
        numpy: Any = importlib.import_module("numpy")
        if numpy.ndim(y_true) > 1:
            return metrics.jaccard_score(y_true, y_pred, average="samples", sample_weight=sample_weight)
        return metrics.accuracy_score(y_true, y_pred, normalize=normalize, sample_weight=sample_weight)

    return jaccard_similarity_score


def _private(name: str) -> Module | None:
    package, _, last = name.rpartition(".")
    if package.count(".") < 1 or last.startswith("_"):
        return None
    new = f"{package}._{last.rstrip('_')}"
    if importlib.util.find_spec(new) is None:
        return None
    return Module(name, "0.24", new)


_VECTORIZERS = ("CountVectorizer", "TfidfVectorizer")

TABLES = {
    "sklearn": Table(
        changes=[
            Arguments("sklearn.manifold", "TSNE.__init__", "1.7", {"n_iter": "max_iter"}),
            Arguments("sklearn.preprocessing", "OneHotEncoder.__init__", "1.4", {"sparse": "sparse_output"}),
            Arguments("sklearn.ensemble", "AdaBoostClassifier.__init__", "1.4", {"base_estimator": "estimator"}),
            Arguments("sklearn.ensemble", "BaggingClassifier.__init__", "1.4", {"base_estimator": "estimator"}),
            Arguments("sklearn.cluster", "AgglomerativeClustering.__init__", "1.4", {"affinity": "metric"}),
            Arguments("sklearn.cluster", "KMeans.__init__", "1.0", dropped=("n_jobs", "precompute_distances")),
            *(Name("sklearn.feature_extraction.text", kind, "get_feature_names", "1.2", _feature_names)
              for kind in _VECTORIZERS),
            Name("sklearn.preprocessing", "", "Imputer", "0.22", _imputer),
            Name("sklearn.datasets", "", "fetch_mldata", "0.22", _fetch_mldata),
            Name("sklearn.metrics", "", "jaccard_similarity_score", "0.23", _jaccard),
            Name("sklearn.metrics", "", "calinski_harabaz_score", "0.23", "calinski_harabasz_score"),
        ],
        modules=[
            *(_of_selection(name, names) for name, names in SELECTION.items()),
            Module("sklearn.externals.joblib", "0.23", "joblib"),
            Module("sklearn.externals.six", "0.23", "six"),
            Module("sklearn.externals.six.moves", "0.23", "six.moves"),
            Module("sklearn.utils.linear_assignment_", "0.23", _linear_assignment),
            Module("sklearn.cluster.k_means_", "0.24", "sklearn.cluster._kmeans"),
            Module("sklearn.utils.testing", "0.24", "sklearn.utils._testing"),
        ],
        other=_private,
    ),
}  # fmt: skip
