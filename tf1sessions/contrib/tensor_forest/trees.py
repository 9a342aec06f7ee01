"""Random trees that grow with the examples that pass: the state of a forest as arrays, and what changes them.

A node is a leaf until enough examples were in it. A leaf that may grow has a slot, with candidates for its split that
are taken from its first examples and with the statistics that each candidate's left side would have. When the leaf is
full, its best candidate becomes its split, and it gets two children.

Shapes: T trees, N nodes a tree, C slots a tree, S candidates a slot, B examples, F features, K statistics. Of classes,
the statistics are how many examples each class had; of D numbers, how many examples there were, and the sums of the
numbers and of their squares (K = 1 + 2 D).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

__all__ = ["FIELDS", "Shape", "empty", "feature_importances", "grow", "predict"]

#: What a forest's state is: name -> (dtype, letters of the shape).
FIELDS: dict[str, tuple[str, str]] = {
    "size": ("int32", "T"),  # nodes that there are
    "feature": ("int32", "TN"),  # that the node splits by; -1 for a leaf
    "threshold": ("float32", "TN"),  # an example goes left if its feature is not greater
    "child": ("int32", "TN"),  # the left child; the right one is next to it
    "slot": ("int32", "TN"),  # of a leaf that may grow; -1 for none
    "stats": ("float32", "TNK"),
    "gain": ("float32", "TN"),  # what a split brought
    "slot_used": ("int32", "TC"),
    "slot_stats": ("float32", "TCK"),  # since there are candidates
    "candidate_feature": ("int32", "TCS"),  # -1 for none yet
    "candidate_threshold": ("float32", "TCS"),
    "candidate_stats": ("float32", "TCSK"),  # of the left side
    "batches": ("int64", ""),  # that were seen: with the seed, what is random follows from it
}


@dataclasses.dataclass(frozen=True)
class Shape:
    """The sizes of a forest, and how it grows."""

    trees: int
    nodes: int
    slots: int
    candidates: int
    features: int
    outputs: int
    regression: bool
    split_after_samples: int
    bagging_fraction: float
    feature_bagging_fraction: float
    strictly_less: bool
    seed: int

    @property
    def statistics(self) -> int:
        """K."""
        return 1 + 2 * self.outputs if self.regression else self.outputs

    def of(self, letters: str) -> tuple[int, ...]:
        """The shape that the letters stand for."""
        sizes = {"T": self.trees, "N": self.nodes, "C": self.slots, "S": self.candidates, "K": self.statistics}
        return tuple(sizes[letter] for letter in letters)


State = dict[str, Any]


def empty(shape: Shape) -> State:
    """A forest of trees that are a leaf each."""
    state = {name: np.zeros(shape.of(letters), dtype) for name, (dtype, letters) in FIELDS.items()}
    for name in ("feature", "child", "slot", "candidate_feature"):
        state[name] -= 1
    state["size"] += 1
    state["slot"][:, 0] = 0
    state["slot_used"][:, 0] = 1
    return state


def _statistics(shape: Shape, labels: Any) -> Any:
    """float32 [B, K] of labels [B], or [B, D]."""
    if not shape.regression:
        return np.eye(shape.outputs, dtype=np.float32)[labels.astype(np.int64).reshape(-1)]
    values = labels.astype(np.float32).reshape(len(labels), -1)
    return np.concatenate([np.ones((len(values), 1), np.float32), values, values * values], axis=1)


def _impurity(shape: Shape, stats: Any) -> Any:
    """The impurity times the number of examples, of statistics [..., K]: Gini's, or the sum of squared errors."""
    if not shape.regression:
        total = stats.sum(-1)
        return total - (stats * stats).sum(-1) / np.maximum(total, 1e-12)
    count = np.maximum(stats[..., 0], 1e-12)
    sums, squares = np.split(stats[..., 1:], 2, axis=-1)
    return np.maximum(squares - sums * sums / count[..., None], 0.0).sum(-1)


def _count(shape: Shape, stats: Any) -> Any:
    return stats[..., 0] if shape.regression else stats.sum(-1)


def _goes_left(shape: Shape, values: Any, thresholds: Any) -> Any:
    return values < thresholds if shape.strictly_less else values <= thresholds


def _leaves(shape: Shape, state: State, tree: int, data: Any) -> Any:
    """The leaf that each example of [B, F] is in: int [B]."""
    feature, threshold, child = state["feature"][tree], state["threshold"][tree], state["child"][tree]
    nodes = np.zeros(len(data), np.int64)
    rows = np.arange(len(data))
    while len(rows):
        rows = rows[feature[nodes[rows]] >= 0]
        at = nodes[rows]
        left = _goes_left(shape, data[rows, feature[at]], threshold[at])
        nodes[rows] = child[at] + np.where(left, 0, 1)
    return nodes


def grow(shape: Shape, state: State, data: Any, labels: Any) -> State:
    """The forest after the examples ``data`` [B, F] with ``labels`` [B] or [B, D]; the given one stays as it is."""
    state = {name: np.array(value) for name, value in state.items()}
    rng = np.random.RandomState([shape.seed, int(state["batches"]) & 0xFFFFFFFF])
    stats = _statistics(shape, labels)
    for tree in range(shape.trees):
        chosen = np.arange(len(data))
        if shape.bagging_fraction < 1.0:
            chosen = chosen[rng.uniform(size=len(data)) < shape.bagging_fraction]
        if len(chosen):
            _grow_tree(shape, state, tree, data[chosen], stats[chosen], rng)
    state["batches"] = state["batches"] + 1
    return state


def _grow_tree(shape: Shape, state: State, tree: int, data: Any, stats: Any, rng: Any) -> None:
    leaves = _leaves(shape, state, tree, data)
    np.add.at(state["stats"][tree], leaves, stats)
    features = np.arange(shape.features)
    if shape.feature_bagging_fraction < 1.0:  # a tree sees the same ones all the time
        kept = max(1, int(shape.features * shape.feature_bagging_fraction))
        features = np.random.RandomState([shape.seed, tree]).permutation(shape.features)[:kept]
    for leaf in np.unique(leaves):
        slot = state["slot"][tree, leaf]
        if slot < 0:
            continue
        rows = np.flatnonzero(leaves == leaf)
        _add_candidates(state, tree, slot, data[rows], features, rng)
        split_by = state["candidate_feature"][tree, slot]
        left = _goes_left(shape, data[rows][:, split_by], state["candidate_threshold"][tree, slot][None, :])
        state["candidate_stats"][tree, slot] += np.einsum("bs,bk->sk", left.astype(np.float32), stats[rows])
        state["slot_stats"][tree, slot] += stats[rows].sum(0)
        if _count(shape, state["slot_stats"][tree, slot]) >= shape.split_after_samples:
            _split(shape, state, tree, int(leaf), int(slot))


def _add_candidates(state: State, tree: int, slot: int, data: Any, features: Any, rng: Any) -> None:
    """Takes the candidates that the slot lacks from its examples [B, F]: a feature and an example's value of it."""
    lacking = np.flatnonzero(state["candidate_feature"][tree, slot] < 0)
    if not len(lacking):
        return
    split_by = features[rng.randint(len(features), size=len(lacking))]
    state["candidate_feature"][tree, slot, lacking] = split_by
    state["candidate_threshold"][tree, slot, lacking] = data[rng.randint(len(data), size=len(lacking)), split_by]


def _split(shape: Shape, state: State, tree: int, leaf: int, slot: int) -> None:
    """Makes the best candidate the leaf's split, if there is one that parts its examples and there is room."""
    total = state["slot_stats"][tree, slot]
    left = state["candidate_stats"][tree, slot]
    right = total - left
    before = _impurity(shape, total)
    after = _impurity(shape, left) + _impurity(shape, right)
    parts = (_count(shape, left) > 0) & (_count(shape, right) > 0)
    gains = np.where(parts, before - after, -1.0)
    best = int(np.argmax(gains))
    child = int(state["size"][tree])
    if gains[best] <= 1e-6 or child + 2 > shape.nodes:
        if before > 1e-6 and child + 2 <= shape.nodes:
            _free(state, tree, slot)  # other candidates, and again
            state["slot_used"][tree, slot] = 1
        return
    state["feature"][tree, leaf] = state["candidate_feature"][tree, slot, best]
    state["threshold"][tree, leaf] = state["candidate_threshold"][tree, slot, best]
    state["child"][tree, leaf] = child
    state["gain"][tree, leaf] = gains[best]
    state["stats"][tree, child], state["stats"][tree, child + 1] = left[best], right[best]
    state["size"][tree] = child + 2
    state["slot"][tree, leaf] = -1
    _free(state, tree, slot)
    for node in (child, child + 1):
        unused = np.flatnonzero(state["slot_used"][tree] == 0)
        if len(unused):
            state["slot"][tree, node] = unused[0]
            state["slot_used"][tree, unused[0]] = 1


def _free(state: State, tree: int, slot: int) -> None:
    state["slot_used"][tree, slot] = 0
    state["slot_stats"][tree, slot] = 0.0
    state["candidate_feature"][tree, slot] = -1
    state["candidate_stats"][tree, slot] = 0.0


def predict(shape: Shape, state: State, data: Any) -> tuple[Any, Any]:
    """Return what the forest says of ``data`` [B, F]: the mean of the trees, float32 [B, D], and their variance."""
    data = np.asarray(data, np.float32)
    every = []
    for tree in range(shape.trees):
        stats = state["stats"][tree][_leaves(shape, state, tree, data)]
        if shape.regression:
            every.append(stats[:, 1 : 1 + shape.outputs] / np.maximum(stats[:, :1], 1e-12))
        else:
            total = stats.sum(1, keepdims=True)
            every.append(np.where(total > 0, stats / np.maximum(total, 1e-12), 1.0 / shape.outputs))
    answers = np.stack(every)
    return answers.mean(0).astype(np.float32), answers.var(0).astype(np.float32)


def feature_importances(shape: Shape, state: State) -> Any:
    """Return the share of all improvements that splits by each feature brought: float32 [F]."""
    found = np.zeros(shape.features)
    splits = state["feature"] >= 0
    np.add.at(found, state["feature"][splits], state["gain"][splits])
    return (found / max(found.sum(), 1e-12)).astype(np.float32)
