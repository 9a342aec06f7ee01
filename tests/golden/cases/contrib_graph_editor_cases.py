"""Cases of ``tf.contrib.graph_editor`` that leave the graph as it is: name -> function of (tf, contrib).

See contrib_record.py. Runs on Python 3.7 too.
"""

import re

from graph_editor_net import cases, said

CASES, only = cases()


# util


@only("lists")
def lists(tf, ge, n):
    graph = n.a.graph
    with tf.Graph().as_default():
        other = tf.constant(1.0, name="other")
    ops = [n.c.op, n.d.op]
    return {
        "ops": [
            ge.make_list_of_op(ops),
            ge.make_list_of_op(n.c.op),
            ge.make_list_of_op(tuple(ops)),
            ge.make_list_of_op([n.c, n.d.op], ignore_ts=True),
            said(ge.make_list_of_op, graph),
            said(ge.make_list_of_op, graph, allow_graph=False),
            said(ge.make_list_of_op, [n.c]),
            said(ge.make_list_of_op, [n.c.op, other.op]),
            said(ge.make_list_of_op, [n.c.op, other.op], check_graph=False),
            said(ge.make_list_of_op, 3),
            said(ge.make_list_of_op, None),
            said(ge.make_list_of_op, []),
            said(ge.make_list_of_op, n.c),
            said(ge.make_list_of_op, n.c, ignore_ts=True),
        ],
        "ts": [
            ge.make_list_of_t([n.c, n.d]),
            ge.make_list_of_t(n.c),
            ge.make_list_of_t([n.c, n.d.op], ignore_ops=True),
            said(ge.make_list_of_t, graph),
            said(ge.make_list_of_t, graph, allow_graph=False),
            said(ge.make_list_of_t, [n.c.op]),
            said(ge.make_list_of_t, [n.c, other]),
            said(ge.make_list_of_t, [n.c, other], check_graph=False),
            said(ge.make_list_of_t, "c"),
            said(ge.make_list_of_t, None),
            said(ge.make_list_of_t, ()),
        ],
        "tensors": ge.get_tensors(graph),
        "no graph": said(ge.get_tensors, [n.c]),
        "generating": [
            ge.get_generating_ops([n.c, n.g, n.f, n.c]),
            ge.get_generating_ops(n.h),
            said(ge.get_generating_ops, [n.c.op]),
        ],
        "consuming": [
            ge.get_consuming_ops([n.a, n.b, n.f]),
            ge.get_consuming_ops(n.i),
            ge.get_consuming_ops([n.c, n.d]),
            said(ge.get_consuming_ops, [n.c.op]),
        ],
    }


@only("control outputs")
def control_outputs(tf, ge, n):
    outputs = ge.ControlOutputs(n.a.graph)
    before = [list(outputs.get(n.d.op)), list(outputs.get(n.h.op)), list(outputs.get(n.a.op)), outputs.get_all()]
    with tf.control_dependencies([n.h]):
        tf.no_op(name="more")
    stale = list(outputs.get(n.h.op))
    outputs.update()
    return {
        "before": before,
        "stale": stale,
        "after": outputs.get_all(),
        "graph of": outputs.graph is n.a.graph,
        "wrong": said(ge.ControlOutputs, n.a),
        "checks": [
            ge.check_cios(),
            ge.check_cios(control_inputs=True),
            ge.check_cios(control_outputs=outputs)[1] is outputs,
            ge.check_cios(control_ios=outputs)[0],
            ge.check_cios(control_ios=outputs)[1] is outputs,
            said(ge.check_cios, True, outputs, outputs),
            ge.check_cios(True, None, outputs)[0],
            said(ge.check_cios, False, n.a.graph),
            said(ge.check_cios, False, None, 3),
        ],
    }


@only("placeholders")
def placeholders(tf, ge, n):
    names = [
        ge.placeholder_name(),
        ge.placeholder_name(n.c),
        ge.placeholder_name(n.g),
        ge.placeholder_name(n.g, scope="x"),
        ge.placeholder_name(n.g, scope="x/y/"),
        ge.placeholder_name(n.g, scope=""),
        ge.placeholder_name(scope="x"),
        ge.placeholder_name(scope=""),
        ge.placeholder_name(n.c, prefix="mine"),
        ge.placeholder_name(prefix="mine"),
        said(ge.placeholder_name, n.c.op),
        said(ge.placeholder_name, "c"),
    ]
    made = [
        ge.make_placeholder_from_tensor(n.c),
        ge.make_placeholder_from_tensor(n.g, scope="x"),
        ge.make_placeholder_from_tensor(n.g, scope="", prefix="mine"),
        ge.make_placeholder_from_dtype_and_shape(tf.int32),
        ge.make_placeholder_from_dtype_and_shape(tf.int32, [2, None]),
        ge.ph(tf.float32, [], scope="y"),
        ge.ph(tf.float32, [], prefix="other"),
    ]
    own = ["geph", "geph_1", "geph__c_0", "geph__c_0_1", "geph__c", "x_geph__c_0", "geph__c_d_0", "mine__c_0"]
    again = [ge.placeholder_name(tf.placeholder(tf.float32, name=name + "_")) for name in own]
    again += [ge.placeholder_name(tf.placeholder(tf.float32, name="z/" + name)) for name in own]
    again += [ge.placeholder_name(tf.placeholder(tf.float32, name="y/" + name), prefix="mine") for name in own]
    return {"names": names, "made": made, "of placeholders": again}


# select


@only("regexes")
def regexes(tf, ge, n):
    graph = n.a.graph
    ops = [n.c.op, n.d.op, n.e.op, n.f.op]
    return {
        "can": [ge.can_be_regex(item) for item in ("a", re.compile("a"), n.a, 1, None, b"a")],
        "made": [ge.make_regex("^foo").pattern, ge.make_regex(re.compile("a")).pattern, said(ge.make_regex, 3)],
        "ops": [
            ge.filter_ops(ops, True),
            ge.filter_ops(graph, lambda op: op.type == "Const"),
            ge.filter_ops_from_regex(ops, "^foo/bar/.*"),
            ge.filter_ops_from_regex(ops, "bar"),
            ge.filter_ops_from_regex(graph, re.compile("(a|b)$")),
            ge.get_name_scope_ops(graph, "foo/bar"),
            ge.get_name_scope_ops(graph, "foo/"),
            ge.get_name_scope_ops(graph, "fo"),
            ge.get_name_scope_ops(graph, ""),
            ge.get_name_scope_ops(graph, "foo/c"),
            said(ge.filter_ops, [n.c], True),
        ],
        "ts": [
            ge.filter_ts(ops, True),
            ge.filter_ts(graph, lambda t: t.op.type == "Const"),
            ge.filter_ts([], True),
            ge.filter_ts_from_regex(ops, r"^foo(/.*)?:\d+$"),
            ge.filter_ts_from_regex(ops, "foo/bar/.*:1"),
            ge.filter_ts_from_regex(graph, "split|f:"),
            said(ge.filter_ts, [n.c], True),
        ],
    }


@only("neighbours")
def neighbours(tf, ge, n):
    outputs = ge.ControlOutputs(n.a.graph)
    graph = n.a.graph
    return {
        "ios": [
            ge.get_ops_ios([n.c.op]),
            ge.get_ops_ios([n.d.op, n.e.op]),
            ge.get_ops_ios([n.h.op], control_inputs=True),
            ge.get_ops_ios([n.h.op], control_outputs=outputs),
            ge.get_ops_ios([n.i.op], control_ios=outputs),
            ge.get_ops_ios([n.c.op], control_ios=outputs),
        ],
        "boundary": [
            list(ge.compute_boundary_ts([n.d.op, n.e.op, n.f.op])),
            list(ge.compute_boundary_ts([n.c.op])),
            list(ge.compute_boundary_ts([n.c.op, n.d.op])),
            list(ge.compute_boundary_ts([n.i.op, n.c.op, n.d.op])),
            list(ge.compute_boundary_ts([])),
            list(ge.compute_boundary_ts(graph)),
            said(ge.compute_boundary_ts, [n.c]),
        ],
        "within": [
            said(ge.get_within_boundary_ops, graph, n.d.op, [n.a.op, n.e.op]),
            said(ge.get_within_boundary_ops, graph, [n.d.op], [n.a.op, n.e.op], inclusive=False),
            said(ge.get_within_boundary_ops, graph, [n.d.op], [n.d.op, n.e.op]),
            said(ge.get_within_boundary_ops, graph, [n.d.op], [n.d.op], inclusive=False),
            said(ge.get_within_boundary_ops, [n.c.op, n.d.op, n.e.op], [n.d.op]),
            said(ge.get_within_boundary_ops, graph, [n.i.op]),
            said(ge.get_within_boundary_ops, graph, [n.h.op], [n.f.op], control_ios=outputs),
            said(ge.get_within_boundary_ops, graph, [n.d], []),
        ],
    }


@only("walks")
def walks(tf, ge, n):
    outputs = ge.ControlOutputs(n.a.graph)
    some = [n.c.op, n.d.op, n.e.op]

    def unordered(found):  # in which order 1.15.5 finds what is equally far away is not the same in each process
        return found if isinstance(found, str) else set(found)

    backward = [
        ge.get_backward_walk_ops([n.e.op]),
        ge.get_backward_walk_ops([n.h]),
        ge.get_backward_walk_ops(n.i.op),
        ge.get_backward_walk_ops([n.e.op], inclusive=False),
        ge.get_backward_walk_ops([n.e], inclusive=False),
        ge.get_backward_walk_ops([n.e], within_ops=some),
        ge.get_backward_walk_ops([n.e.op], within_ops_fn=lambda op: op.type != "Const"),
        ge.get_backward_walk_ops([n.e.op], stop_at_ts=[n.c]),
        ge.get_backward_walk_ops([n.i.op], control_inputs=True),
        ge.get_backward_walk_ops([n.h.op, n.i.op]),
        ge.get_backward_walk_ops([n.e.op], within_ops=some, within_ops_fn=lambda op: op.name != "foo/d"),
        said(ge.get_backward_walk_ops, [n.h.op], within_ops=some),
        said(ge.get_backward_walk_ops, ["h"]),
        said(ge.get_backward_walk_ops, []),
        said(ge.get_backward_walk_ops, [n.e.op, n.c]),
    ]
    forward = [
        ge.get_forward_walk_ops([n.c.op]),
        ge.get_forward_walk_ops([n.b]),
        ge.get_forward_walk_ops(n.d.op),
        ge.get_forward_walk_ops([n.c.op], inclusive=False),
        ge.get_forward_walk_ops([n.c], inclusive=False),
        ge.get_forward_walk_ops([n.c], within_ops=some),
        ge.get_forward_walk_ops([n.c.op], within_ops_fn=lambda op: op.type != "Unpack"),
        ge.get_forward_walk_ops([n.a.op], stop_at_ts=[n.c]),
        ge.get_forward_walk_ops([n.h.op], control_outputs=outputs),
        said(ge.get_forward_walk_ops, [n.h.op], within_ops=some),
        said(ge.get_forward_walk_ops, [n.h.op], control_outputs=True),
    ]
    both = [
        ge.get_walks_intersection_ops([n.c.op], [n.e.op]),
        ge.get_walks_intersection_ops([n.c.op], [n.e.op], False, False),
        ge.get_walks_intersection_ops([n.a], [n.h], control_ios=outputs),
        ge.get_walks_intersection_ops([n.d], [n.i], control_ios=outputs),
        ge.get_walks_intersection_ops([n.a], [n.h], within_ops_fn=lambda op: op.type != "Unpack"),
        ge.get_walks_union_ops([n.d.op], [n.d.op]),
        ge.get_walks_union_ops([n.d.op], [n.c.op], forward_inclusive=False),
        ge.get_walks_union_ops([n.h.op], [n.c.op], control_ios=outputs),
        ge.get_walks_union_ops([n.d.op], [n.e.op], within_ops=some),
    ]
    return {
        "types": [type(side[0]).__name__ for side in (backward, forward, both)],
        "first": [backward[0][0], forward[0][0]],
        "backward": [unordered(found) for found in backward],
        "forward": [unordered(found) for found in forward],
        "both": [unordered(found) for found in both],
    }


@only("selected")
def selected(tf, ge, n):
    graph = n.a.graph
    return {
        "ops": [
            ge.select_ops("^foo/.*", graph=graph),
            ge.select_ops("foo/c", "top", graph=graph),
            ge.select_ops(re.compile("h$"), [n.c.op, n.d.op], n.a.op, graph=graph),
            ge.select_ops(n.c.op, n.c.op),
            ge.select_ops([n.c, n.d.op]),
            ge.select_ops("^foo/.*", graph=graph, positive_filter=lambda op: op.type == "Sub"),
            ge.select_ops("^foo/.*", "(?#ops)^top/h", graph=graph, restrict_ops_regex=True),
            ge.select_ops("(?#ts)foo.*", "top", graph=graph),
            ge.select_ops(),
            said(ge.select_ops, "foo"),
            said(ge.select_ops, "foo", graph=3),
            said(ge.select_ops, "foo", graph=graph, other=1),
            said(ge.select_ops, 3, graph=graph),
            said(ge.select_ops, ["foo"], graph=graph),
            said(ge.select_ops, n.c.op, graph=tf.Graph()),
        ],
        "ts": [
            ge.select_ts("^foo/.*", graph=graph),
            ge.select_ts("(?#ts)^foo/.*:1", "top", graph=graph, restrict_ts_regex=True),
            ge.select_ts("(?#ops)foo.*", graph=graph),
            ge.select_ts([n.c, n.d.op], n.a),
            ge.select_ts(n.c, n.c),
            ge.select_ts("foo/bar", graph=graph, positive_filter=lambda t: t.op.type == "Sub"),
            said(ge.select_ts, "foo"),
            said(ge.select_ts, "foo", graph=3),
            said(ge.select_ts, 3),
            said(ge.select_ts, "foo", graph=graph, restrict_ops_regex=True),
        ],
        "both": [
            ge.select_ops_and_ts("^foo/bar.*", "(?#ts)^top/.*", graph=graph),
            ge.select_ops_and_ts(n.c.op, n.d, [n.e, n.f.op]),
            ge.select_ops_and_ts("foo", graph=graph, positive_filter=lambda item: "bar" in item.name),
            said(ge.select_ops_and_ts, "foo"),
            said(ge.select_ops_and_ts, "foo", graph=graph, restrict_ops_regex=True),
        ],
    }


# subgraph


@only("views")
def views(tf, ge, n):
    graph = n.a.graph
    with tf.Graph().as_default():
        other = tf.constant(1.0, name="other")
    return {
        "made": [
            ge.sgv(n.c.op, n.d.op),
            ge.sgv([n.d.op, n.e.op, n.f.op]),
            ge.sgv(n.c.op, n.h),
            ge.sgv(n.c.op, n.a),
            ge.sgv(n.a, n.h),
            ge.sgv("^foo/.*", graph=graph),
            ge.make_view("foo/bar", "(?#ts)top/.*", graph=graph),
            ge.make_view(ge.sgv(n.c.op)),
            ge.make_view(),
            ge.sgv_scope("foo", graph),
            ge.make_view_from_scope("foo/bar/", graph),
            ge.SubGraphView([n.d.op], [n.h, n.c]),
            ge.SubGraphView(),
            ge.SubGraphView(n.d.op),
        ],
        "wrong": [
            said(ge.sgv, n.c.op, other.op),
            said(ge.sgv, "foo"),
            said(ge.sgv, n.c.op, graph=other.graph),
            said(ge.sgv, n.c.op, strange=1),
            said(ge.sgv, 3),
            said(ge.SubGraphView, [n.c]),
            said(ge.SubGraphView, [n.c.op], [n.d.op]),
            said(ge.make_view_from_scope, "foo", None),
        ],
        "same": ge.make_view(n.c.op).graph is graph,
    }


@only("view")
def view(tf, ge, n):
    v = ge.sgv([n.c.op, n.d.op, n.f.op], n.i)
    empty = ge.SubGraphView()
    with ge.sgv(n.c.op) as entered:
        length = len(entered.ops)
    return {
        "parts": [
            v,
            list(v.connected_inputs),
            list(v.connected_outputs),
            v.consumers(),
            [v.op(number) for number in range(3)],
            v.find_op_by_name("foo/d"),
            [v.input_index(t) for t in v.inputs],
            [v.output_index(t) for t in v.outputs],
            [v.is_passthrough(t) for t in (n.i, n.c)],
            bool(v),
            bool(empty),
            v.copy(),
            length,
            type(v.ops).__name__,
            type(v.inputs).__name__,
        ],
        "str": [str(v), str(empty)],
        "wrong": [
            said(v.find_op_by_name, "d"),
            said(v.op, 7),
            said(lambda: empty.graph),
            said(v._assign_from, 3),
        ],
    }


@only("remaps")
def remaps(tf, ge, n):
    v = ge.sgv([n.c.op, n.d.op, n.f.op], n.i)
    single = ge.sgv(n.c.op)
    changed = v.remap([1, 0], [2, 2, 0])
    return {
        "inputs": [
            v.remap_inputs([2, 0]),
            v.remap_inputs([]),
            v.remap_inputs([n.b, n.a]),
            v.remap_inputs({0: 1, 1: 0, 2: 2, 3: 3}),
            said(v.remap_inputs, [0, 0]),
            said(v.remap_inputs, [9]),
            said(v.remap_inputs, [-1]),
            said(v.remap_inputs, [n.h]),
            said(v.remap_inputs, 0),
        ],
        "outputs": [
            v.remap_outputs([1, 1, 0]),
            v.remap_outputs([]),
            v.remap_outputs([n.i, n.d]),
            said(v.remap_outputs, [9]),
            said(v.remap_outputs, [n.h]),
            single.remap_outputs_to_consumers(),
            v.remap_outputs_to_consumers(),
            v.remap_outputs([1, 1, 0]).remap_outputs_make_unique(),
            v.remap(new_output_indices=[0]),
            v.remap([0]),
        ],
        "both": [changed, changed.remap_default(), changed.remap_default(True, False), v.remap_default(False, True)],
        "unused": [
            v.remap_outputs([0]).remove_unused_ops(),
            v.remap([], []).remove_unused_ops(),
            ge.sgv([n.c.op, n.d.op, n.h.op, n.i.op]).remap([], [0]).remove_unused_ops(),
            ge.sgv([n.c.op, n.d.op, n.e.op, n.h.op, n.i.op]).remap_outputs([n.i]).remove_unused_ops(False),
            ge.sgv([n.c.op, n.d.op, n.e.op, n.h.op, n.i.op]).remap_outputs([n.i]).remove_unused_ops(True),
        ],
        "left as it was": v,
    }
