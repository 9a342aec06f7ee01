"""networkx: what 2.4 to 3.6 removed of its graphs, and the key of the edges in files of the node-link format."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

from ..callers import by_program
from .rows import Name, Table, Wrapped

__all__ = ["TABLES"]


class _Nodes:
    """``graph.node``; no property, as graphs of 1.x set an attribute of that name on themselves."""

    def __get__(self, graph: Any, owner: Any = None) -> Any:
        return self if graph is None else graph.nodes


def _nodes(graph: Any, name: str) -> Any:
    return _Nodes()


def _connected_component_subgraphs(networkx: Any, name: str) -> Any:
    def subgraphs(G: Any, copy: bool = True) -> Any:
        for nodes in networkx.connected_components(G):
            yield G.subgraph(nodes).copy() if copy else G.subgraph(nodes)

    return subgraphs


def _to_numpy_matrix(networkx: Any, name: str) -> Any:
    def to_numpy_matrix(G: Any, *args: Any, **named: Any) -> Any:
        return importlib.import_module("numpy").asmatrix(networkx.to_numpy_array(G, *args, **named))

    return to_numpy_matrix


def _from_numpy_matrix(networkx: Any, name: str) -> Any:
    def from_numpy_matrix(A: Any, *args: Any, **named: Any) -> Any:
        return networkx.from_numpy_array(importlib.import_module("numpy").asarray(A), *args, **named)

    return from_numpy_matrix


def _read_gpickle(networkx: Any, name: str) -> Any:
    def read_gpickle(path: Any) -> Any:
        with open(path, "rb") as file:
            return pickle.load(file)

    return read_gpickle


def _write_gpickle(networkx: Any, name: str) -> Any:
    def write_gpickle(G: Any, path: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
        with open(path, "wb") as file:
            pickle.dump(G, file, protocol)

    return write_gpickle


def _iter(name: str) -> Any:
    def iterate(graph: Any, _: str) -> Any:
        return lambda self, *args, **named: iter(getattr(self, name)(*args, **named))

    return iterate


def _info(networkx: Any, name: str) -> Any:
    def info(G: Any, n: Any = None) -> str:
        if n is None:
            return f"{type(G).__name__} with {G.number_of_nodes()} nodes and {G.number_of_edges()} edges"
        neighbors = " ".join(map(str, G.neighbors(n)))
        return f"Node {n} has the following properties:\nDegree: {G.degree(n)}\nNeighbors: {neighbors}"

    return info


def _node_link_data(original: Any, G: Any, *args: Any, **named: Any) -> Any:
    """Edges were under "links" up to 3.5."""
    if by_program() and "edges" not in named and "link" not in named:
        named["edges"] = "links"
    return original(G, *args, **named)


def _node_link_graph(original: Any, data: Any, *args: Any, **named: Any) -> Any:
    if "links" in data and "edges" not in data and "edges" not in named and "link" not in named:
        named["edges"] = "links"
    return original(data, *args, **named)


_GRAPHS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")
# The name of 1.x -> what gives the same now.
_ITERATORS = {"nodes_iter": "nodes", "edges_iter": "edges", "neighbors_iter": "neighbors", "degree_iter": "degree"}
_JSON = "networkx.readwrite.json_graph.node_link"

TABLES = {
    "networkx": Table(
        changes=[
            Name("networkx", "Graph", "node", "2.4", _nodes),
            *(Name("networkx", "Graph", old, "2.0", _iter(new)) for old, new in _ITERATORS.items()),
            *(Name("networkx", "", f"Ordered{kind}", "3.0", kind) for kind in _GRAPHS),
            Name("networkx", "", "connected_component_subgraphs", "2.4", _connected_component_subgraphs),
            Name("networkx", "", "to_numpy_matrix", "3.0", _to_numpy_matrix),
            Name("networkx", "", "from_numpy_matrix", "3.0", _from_numpy_matrix),
            Name("networkx", "", "to_scipy_sparse_matrix", "3.0", "to_scipy_sparse_array"),
            Name("networkx", "", "from_scipy_sparse_matrix", "3.0", "from_scipy_sparse_array"),
            Name("networkx", "", "read_gpickle", "3.0", _read_gpickle),
            Name("networkx", "", "write_gpickle", "3.0", _write_gpickle),
            Name("networkx", "", "info", "3.0", _info),
            Wrapped(_JSON, "node_link_data", "3.6", _node_link_data, needs="edges"),
            Wrapped(_JSON, "node_link_graph", "3.6", _node_link_graph, needs="edges"),
        ]
    )
}
