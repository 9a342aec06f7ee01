"""scikit-learn: modules that moved in 0.18 to 0.24, and arguments and classes that were renamed."""

from __future__ import annotations

from collections.abc import Iterator

from ....scripts.old_libraries import sklearn_rows
from ....source.uses import FileUses
from .. import library_tables
from ..renames import Row, find_arguments, find_names, imports_library, method_call, with_attribute, written
from ..rule import Change, Remark, Rule

__all__ = ["RULE", "find"]

# Modules that are private since 0.24, and whose names are public in their package.
_PRIVATE = {
    "sklearn.cluster": "k_means_ hierarchical dbscan_ spectral mean_shift_ birch",
    "sklearn.covariance": "empirical_covariance_ robust_covariance",
    "sklearn.datasets": "base samples_generator lfw mldata olivetti_faces twenty_newsgroups svmlight_format",
    "sklearn.decomposition": "pca nmf truncated_svd fastica_ incremental_pca kernel_pca factor_analysis online_lda",
    "sklearn.ensemble": "forest bagging gradient_boosting weight_boosting voting_classifier iforest",
    "sklearn.feature_selection": "univariate_selection from_model rfe variance_threshold",
    "sklearn.gaussian_process": "gpc gpr",
    "sklearn.linear_model": "base bayes logistic ridge stochastic_gradient coordinate_descent perceptron huber ransac",
    "sklearn.manifold": "t_sne isomap locally_linear mds spectral_embedding_",
    "sklearn.metrics": "classification ranking regression scorer",
    "sklearn.mixture": "gaussian_mixture bayesian_mixture",
    "sklearn.neighbors": "base classification regression unsupervised kde nearest_centroid lof",
    "sklearn.neural_network": "multilayer_perceptron rbm",
    "sklearn.preprocessing": "data label imputation",
    "sklearn.semi_supervised": "label_propagation",
    "sklearn.svm": "classes",
    "sklearn.tree": "tree export",
}
_SPLITTERS = (
    "KFold StratifiedKFold ShuffleSplit StratifiedShuffleSplit LabelKFold LeavePOut LeaveOneLabelOut LabelShuffleSplit "
    "PredefinedSplit LeavePLabelOut"
)
_OTHERWISE = "It is in sklearn.model_selection, takes n_splits, and its split(X) gives the indices."

_TABLE: dict[str, Row] = {
    **library_tables.names("sklearn"),
    **{f"{module}.{name}": Row(f"sklearn.model_selection.{name}", "scikit-learn 0.20")
       for module, names in sklearn_rows.SELECTION.items() for name in names.split()},
    **{f"sklearn.cross_validation.{name}": Row(None, "scikit-learn 0.20",
       remark=f"sklearn.cross_validation.{name} is gone. {_OTHERWISE}") for name in _SPLITTERS.split()},
    "sklearn.preprocessing.Imputer": Row(None, "scikit-learn 0.22", remark="Imputer is gone: "
                                         "sklearn.impute.SimpleImputer, with missing_values=np.nan."),
    "sklearn.datasets.fetch_mldata": Row(None, "scikit-learn 0.22", remark="fetch_mldata is gone: "
                                         'fetch_openml("mnist_784", version=1, as_frame=False), whose target is text.'),
    "sklearn.metrics.jaccard_similarity_score": Row(None, "scikit-learn 0.23", remark="jaccard_similarity_score is "
                                                    "gone: accuracy_score gives what it gave for one label a row."),
    "sklearn.datasets.load_boston": Row(None, "scikit-learn 1.2", remark="load_boston is gone: "
                                        'fetch_openml("boston", version=1, as_frame=False) has its table.'),
    "sklearn.utils.linear_assignment_.linear_assignment": Row(
        None, "scikit-learn 0.23",
        written("{f}({g}({0})).T", 1, f="numpy.array", g="scipy.optimize.linear_sum_assignment"),
        "linear_assignment(x) is np.array(scipy.optimize.linear_sum_assignment(x)).T."),
}  # fmt: skip
_MODULES: dict[str, Row] = {
    **{f"{package}.{name}": Row(package, "scikit-learn 0.24")
       for package, names in _PRIVATE.items() for name in names.split()},
    **{name: row for name, row in library_tables.modules("sklearn").items() if not name.endswith("k_means_")},
    **{name: Row("sklearn.model_selection", "scikit-learn 0.20") for name in sklearn_rows.SELECTION},
}  # fmt: skip


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find the names of scikit-learn that are gone."""
    if not imports_library(file, "sklearn"):
        return
    modules = {name: row for name, row in _MODULES.items() if not _has_private_names(file, name)}
    yield from find_names(file, _TABLE, modules)
    yield from find_arguments(file, *library_tables.arguments("sklearn"))
    for function, call in file.calls.items():
        method = method_call(file, function, "get_feature_names")
        if method is not None and not call.args and not call.keywords:
            yield with_attribute(file, method, "get_feature_names_out().tolist", "scikit-learn 1.2")


def _has_private_names(file: FileUses, module: str) -> bool:
    """Whether names with an underscore are used of a module: they are not in its package."""
    return any(use.symbol.startswith(f"{module}._") for use in file.uses) or any(
        each.module == module and each.alias.name.startswith("_") for each in file.imports
    )


RULE = Rule("sklearn-names", "Gives names, modules and arguments of scikit-learn that are gone their new ones.", find)
