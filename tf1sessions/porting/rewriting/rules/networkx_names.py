"""networkx: what 2.0 to 3.0 removed of its functions and graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.uses import FileUses
from .. import library_tables
from ..renames import Row, find_names, imports_library, method_call, with_attribute, written
from ..rule import Change, Remark, Rule
from ..scopes import names_of

__all__ = ["RULE", "find"]

_ITERATORS = {"nodes_iter": "nodes", "edges_iter": "edges", "neighbors_iter": "neighbors", "degree_iter": "degree"}

_TABLE: dict[str, Row] = {
    **library_tables.names("networkx"),
    "networkx.connected_component_subgraphs": Row(
        None, "networkx 2.4",
        written("({t0}.subgraph(nodes).copy() for nodes in {f}({0}))", 1, f="networkx.connected_components"),
        "connected_component_subgraphs(G): (G.subgraph(c).copy() for c in nx.connected_components(G))."),
    "networkx.to_numpy_matrix": Row(
        None, "networkx 3.0", written("{g}({f}({0}))", 1, f="networkx.to_numpy_array", g="numpy.asmatrix"),
        "to_numpy_matrix(G): np.asmatrix(nx.to_numpy_array(G))."),
    "networkx.from_numpy_matrix": Row(
        None, "networkx 3.0", written("{f}({g}({0}){rest})", f="networkx.from_numpy_array", g="numpy.asarray"),
        "from_numpy_matrix(A): nx.from_numpy_array(np.asarray(A))."),
    "networkx.read_gpickle": Row(
        None, "networkx 3.0", written('{f}(open({0}, "rb"))', 1, f="pickle.load"),
        "read_gpickle(path) was pickle.load() of the file."),
    "networkx.write_gpickle": Row(
        None, "networkx 3.0",
        written('{f}({0}, open({1}, "wb"), {g})', 2, f="pickle.dump", g="pickle.HIGHEST_PROTOCOL"),
        "write_gpickle(G, path) was pickle.dump() to the file."),
    "networkx.info": Row(None, "networkx 3.0", remark="networkx.info(G) is gone: print(G) says as much."),
}  # fmt: skip


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find the names of networkx that are gone."""
    if not imports_library(file, "networkx"):
        return
    yield from find_names(file, _TABLE)
    names = names_of(file)
    for function in file.calls:
        method = method_call(file, function, *_ITERATORS)
        if method is not None:
            yield with_attribute(file, method, _ITERATORS[method.attr], "networkx 2.0")
    for node in ast.walk(file.tree):
        if (
            not isinstance(node, ast.Subscript)
            or not isinstance(node.value, ast.Attribute)
            or node.value.attr != "node"
        ):
            continue
        owner = names.path(node.value.value) or ""
        if owner.startswith("networkx.") and owner.endswith("()"):
            yield with_attribute(file, node.value, "nodes", "networkx 2.4")
        elif not owner.startswith(("tf.", "builtins.")) and not file.meanings.keys() & {"tf", "tensorflow"}:
            yield Remark(node, "If this is a graph of networkx, .node is .nodes since networkx 2.4.")


RULE = Rule("networkx-names", "Gives names of networkx that are gone their new ones.", find)
