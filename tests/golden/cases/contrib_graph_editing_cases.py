"""Cases of ``tf.contrib.graph_editor`` that change a graph or copy it: name -> function of (tf, contrib).

See contrib_record.py. Runs on Python 3.7 too.
"""

import numpy as np
from graph_editor_net import Names, cases, collections, net, said

CASES, only = cases()


# reroute


def rerouted(name, function):
    """Two equal chains, between which edges are moved."""

    def build(tf, ge, n):
        with tf.name_scope("two"):
            a = tf.constant([7.0, 11.0], name="a")
            b = tf.constant([13.0, 17.0], name="b")
            c = tf.add(a, b, name="c")
            d = tf.multiply(c, a, name="d")
            e = tf.subtract(d, b, name="e")
            i = tf.identity(c, name="i")
        m = Names(dict(a=a, b=b, c=c, d=d, e=e, i=i))
        found = function(tf, ge, n, m)
        found.update({"value h": n.h, "value i": n.i, "value e": m.e})
        return found

    only("reroute " + name)(build)


rerouted("ts", lambda tf, ge, n, m: {"n": ge.reroute_ts([m.a], [n.a])})
rerouted("ts many", lambda tf, ge, n, m: {"n": ge.reroute_ts([m.a, m.b], [n.a, n.b])})
rerouted("ts single", lambda tf, ge, n, m: {"n": ge.reroute_ts(m.a, n.a)})
rerouted("ts can", lambda tf, ge, n, m: {"n": ge.reroute_ts([m.a], [n.a], can_modify=[n.d.op])})
rerouted("ts can one", lambda tf, ge, n, m: {"n": ge.reroute_ts([m.a], [n.a], can_modify=n.d.op)})
rerouted("ts cannot", lambda tf, ge, n, m: {"n": ge.reroute_ts([m.a], [n.a], cannot_modify=[n.d.op])})
rerouted("ts none", lambda tf, ge, n, m: {"n": said(ge.reroute_ts, [None, m.b], [n.a, n.b])})
rerouted("ts same", lambda tf, ge, n, m: {"n": ge.reroute_ts([n.a], [n.a])})
rerouted("ts views", lambda tf, ge, n, m: {"n": ge.reroute_ts({1: m.a}.values(), {2: n.a}.values())})
rerouted("swap ts", lambda tf, ge, n, m: {"n": ge.swap_ts([n.a], [m.a])})
rerouted("swap ts many", lambda tf, ge, n, m: {"n": ge.swap_ts([n.a, n.d], [m.a, m.d])})
rerouted("swap ts can", lambda tf, ge, n, m: {"n": ge.swap_ts([n.a], [m.a], can_modify=[n.d.op, m.c.op])})
rerouted("swap ts cannot", lambda tf, ge, n, m: {"n": ge.swap_ts([n.a], [m.a], cannot_modify=[n.d.op])})
for _kind in ("inputs", "outputs", "ios"):
    for _verb in ("swap", "reroute"):

        def _views(tf, ge, n, m, function="%s_%s" % (_verb, _kind)):
            one, two = ge.sgv(n.c.op, n.d.op), ge.sgv(m.c.op, m.d.op)
            return {"views": said(getattr(ge, function), one, two), "changed": [one, two]}

        def _whole(tf, ge, n, m, function="%s_%s" % (_verb, _kind)):
            return {"views": said(getattr(ge, function), [n.c.op, n.d.op, n.e.op], [m.c.op, m.d.op, m.e.op])}

        def _apart(tf, ge, n, m, function="%s_%s" % (_verb, _kind)):
            one, two = ge.sgv(n.c.op).remap_inputs([0]), ge.sgv(m.d.op).remap_inputs([1])
            return {"views": said(getattr(ge, function), one, two)}

        def _pairs(tf, ge, n, m, function="%s_%s" % (_verb, _kind)):
            return {"views": said(getattr(ge, function), [n.d.op], [m.d.op])}

        rerouted("%s %s" % (_verb, _kind), _views)
        rerouted("%s %s whole" % (_verb, _kind), _whole)
        rerouted("%s %s apart" % (_verb, _kind), _apart)
        rerouted("%s %s pairs" % (_verb, _kind), _pairs)


@only("reroute wrong")
def reroute_wrong(tf, ge, n):
    with tf.Graph().as_default():
        other = tf.constant([1.0, 1.0], name="other")
    whole = tf.constant([1, 2], name="whole")
    three = tf.constant([1.0, 2.0, 3.0], name="three")
    return {
        "said": [
            said(ge.reroute_ts, [other], [n.a]),
            said(ge.reroute_ts, [whole], [n.a]),
            said(ge.reroute_ts, [n.a], [n.b, n.c]),
            said(ge.reroute_ts, [n.a.op], [n.b.op]),
            said(ge.reroute_ts, 3, [n.b]),
            said(ge.reroute_ts, [n.a], [n.b], can_modify=[n.c]),
            said(ge.reroute_ts, [n.a], [n.b], cannot_modify=[n.c]),
            said(ge.swap_ts, [three], [n.a]),
            said(ge.swap_ts, [whole], [n.a]),
            said(ge.swap_inputs, ge.sgv(n.c.op), ge.sgv(n.i.op)),
            said(ge.swap_inputs, n.c.op, other.op),
            said(ge.swap_outputs, n.c.op, n.f.op),
            said(ge.reroute_inputs, 3, 4),
        ]
    }


@only("reroute shapes")
def reroute_shapes(tf, ge, n):
    three = tf.constant([1.0, 2.0, 3.0], name="three")
    return {"three": [said(ge.reroute_ts, [three], [n.i]), said(ge.reroute_ts, [three], [n.e])]}


@only("control inputs")
def control_inputs(tf, ge, n):
    before = [
        ge.add_control_inputs(n.d.op, [n.b.op]),
        ge.add_control_inputs(n.c.op, n.b.op),
        ge.remove_control_inputs(n.i.op, n.h.op),
    ]
    return {
        "before": before,
        "said": [
            said(ge.add_control_inputs, n.d.op, [n.b.op]),
            said(ge.add_control_inputs, n.d, [n.b.op]),
            said(ge.add_control_inputs, n.d.op, [n.b]),
            said(ge.add_control_inputs, n.d.op, 3),
            said(ge.add_control_inputs, n.h.op, []),
            said(ge.remove_control_inputs, n.d.op, [n.a.op]),
            said(ge.remove_control_inputs, n.d, [n.a.op]),
            said(ge.remove_control_inputs, n.d.op, [n.b]),
        ],
        "value": n.i,
    }


# edit


@only("detach inputs")
def detach_inputs(tf, ge, n):
    one, two = ge.sgv(n.c.op, n.d.op), [n.e.op, n.f.op]
    return {"views": [ge.detach_inputs(one), one, ge.detach_inputs(two), ge.detach_inputs(n.i.op, True)]}


@only("detach outputs")
def detach_outputs(tf, ge, n):
    outputs = ge.ControlOutputs(n.a.graph)
    one = ge.sgv(n.c.op, n.d.op)
    return {"views": [ge.detach_outputs(one), one, ge.detach_outputs(n.h.op, outputs), ge.detach_outputs(n.f.op)]}


@only("detach")
def detach(tf, ge, n):
    outputs = ge.ControlOutputs(n.a.graph)
    one = ge.sgv(n.d.op, n.e.op)
    return {"views": [ge.detach(one), one], "control": ge.detach(n.h.op, control_ios=outputs)}


@only("detach passthrough")
def detach_passthrough(tf, ge, n):
    return {"views": [said(ge.detach_inputs, ge.sgv(n.d.op, n.h)), said(ge.detach_outputs, ge.sgv(n.d.op, n.h))]}


@only("detach control")
def detach_control(tf, ge, n):
    ge.detach_control_inputs(ge.sgv(n.i.op, n.c.op))
    outputs = ge.ControlOutputs(n.a.graph)
    ge.detach_control_outputs(ge.sgv(n.h.op), outputs)
    return {
        "said": [said(ge.detach_control_outputs, n.d.op, 3), said(ge.detach_control_inputs, 3)],
        "value": n.h,
        "i": n.i,
    }


def connected(name, function):
    def build(tf, ge, n):
        found = {"views": said(function, tf, ge, n)}
        return found if "disconnect" in name else dict(found, value=n.i)

    only("connect " + name)(build)


connected("", lambda tf, ge, n: ge.connect(n.b.op, ge.sgv(n.d.op).remap_inputs([1])))
connected("two", lambda tf, ge, n: ge.connect([n.b.op, n.a.op], [n.h.op]))
connected("two to add", lambda tf, ge, n: ge.connect([n.b.op, n.a.op], [n.c.op]))
connected("disconnect", lambda tf, ge, n: ge.connect(n.b.op, ge.sgv(n.d.op).remap_inputs([1]), disconnect_first=True))
connected("wrong", lambda tf, ge, n: ge.connect(n.b.op, n.h.op))
connected("views", lambda tf, ge, n: ge.connect(ge.sgv(n.a), ge.sgv(n.i.op)))


@only("bypass")
def bypass(tf, ge, n):
    one = ge.sgv(n.d.op).remap_inputs([0])
    found = ge.bypass(one)
    return {"views": [found, one], "value": n.h}


@only("bypass chain")
def bypass_chain(tf, ge, n):
    return {"views": said(ge.bypass, ge.sgv(n.i.op)), "wrong": said(ge.bypass, n.c.op)}


# transform


@only("copy")
def copy(tf, ge, n):
    one, info = ge.copy([n.c.op, n.d.op])
    two, _ = ge.copy(ge.sgv([n.e.op, n.f.op, n.h.op]), dst_scope="there")
    three, _ = ge.copy(ge.sgv([n.e.op, n.f.op]), dst_scope="there", src_scope="foo/bar")
    four, _ = ge.copy(ge.sgv([n.c.op]), dst_scope="there", src_scope="foo/", reuse_dst_scope=True)
    return {
        "views": [one, two, three, four],
        "info": [
            info.transformed(n.c),
            info.transformed(n.d.op),
            info.transformed([n.c, [n.d.op]]),
            info.transformed(n.h),
            info.transformed(n.h, missing_fn=lambda t: t.name + " is missing"),
            info.original(info.transformed(n.c)),
            info.original((info.transformed(n.c), info.transformed(n.d.op))),
            said(info.original, n.c),
        ],
        "inputs are": info.transformed(n.a),
    }


@only("copy info")
def copy_info(tf, ge, n):
    _, info = ge.copy([n.c.op], dst_scope="to", src_scope="foo")
    return {"str": str(info)}


@only("copy graphs")
def copy_graphs(tf, ge, n):
    other, third = tf.Graph(), tf.Graph()
    one, _ = ge.copy(n.a.graph, other)
    two, _ = ge.copy([n.e.op, n.f.op, n.i.op], third, dst_scope="x")
    three, _ = ge.copy(ge.sgv([n.c.op]).remap_inputs([0]), third, dst_scope="y", src_scope="foo")
    with tf.Session(graph=other) as session:
        value = session.run("top/i:0").tolist()
    return {
        "other": other,
        "third": third,
        "views": [one, two, three],
        "value": value,
        "their collections": [collections(other), collections(third)],
        "wrong": [said(ge.copy, n.c.op, 3), said(ge.copy, 3), said(ge.copy, n.c.op, None, src_scope="bar")],
    }


@only("copy replaced")
def copy_replaced(tf, ge, n):
    new = tf.constant([100.0, 200.0], name="new")
    one, info = ge.copy_with_input_replacements([n.c.op, n.d.op], {n.a: new})
    two, _ = ge.copy_with_input_replacements(ge.sgv([n.e.op, n.f.op]), {})
    three, _ = ge.copy_with_input_replacements(ge.sgv(n.c.op, n.d.op), {n.a: new, n.b: n.a}, dst_scope="x")
    return {
        "views": [one, two, three],
        "value": three.outputs[0],
        "value of the other": list(info.transformed([n.c, n.d])),
        "said": [
            said(ge.copy_with_input_replacements, n.c.op, {}, dst_graph=3),
            said(ge.copy_with_input_replacements, n.c.op, {n.h: new}),
            said(ge.copy_with_input_replacements, 3, {}),
        ],
    }


@only("graph_replace")
def graph_replace(tf, ge, n):
    new = tf.constant([100.0, 200.0], name="new")
    one = ge.graph_replace(n.h, {n.a: new})
    many = ge.graph_replace([n.d, n.i], {n.c: new}, dst_scope="many")
    return {
        "one": one,
        "many": many,
        "first": many[0],
        "trees": [ge.graph_replace((n.h,), {n.a: n.b}), ge.graph_replace({"h": n.h}, {n.a: n.b})],
        "themselves": ge.graph_replace([n.c, n.d], {n.c: n.b}),
        "through a control edge": said(ge.graph_replace, n.i, {n.h: n.f}),
        "collection in no scope": said(ge.graph_replace, n.e, {n.a: new}, dst_scope="w", src_scope="foo"),
        "said": [
            said(ge.graph_replace, n.c, {n.h: new}),
            said(ge.graph_replace, n.a, {n.a: new}),
            said(ge.graph_replace, n.h, {}),
        ],
    }


@only("transformer")
def transformer(tf, ge, n):
    made = ge.Transformer()
    other = tf.Graph()

    def transform(info, op, new_inputs):
        if op.type == "Mul":
            with info.graph_.as_default():
                new = tf.add(new_inputs[0], new_inputs[1], name=info.scope_ + "instead")
            return new.op, new.op.outputs
        return ge.copy_op_handler(info, op, new_inputs)

    made.transform_op_handler = transform
    seen = []
    made.assign_collections_handler = lambda info, elem, elem_: seen.append("%s %s" % (elem.name, elem_.name))
    made.transform_external_input_handler = lambda info, t: ge.keep_t_if_possible_handler(info, t)
    view, info = made(ge.sgv([n.c.op, n.d.op, n.e.op]), n.a.graph, "t", "foo")
    again, _ = ge.Transformer()(ge.sgv([n.c.op]), other, "t")
    return {
        "view": [view, again],
        "seen": sorted(seen),
        "other": other,
        "value": view.outputs[0],
        "wrong": [said(made, n.c.op, other, "x"), said(made, [], other, "x"), said(made, ge.sgv(n.c.op), other, 3)],
    }


def of_tf1(tf, function):
    """What ``function`` makes with the control flow of TensorFlow 1, whichever the process has."""
    functional = tf.compat.v1.control_flow_v2_enabled()
    tf.compat.v1.disable_control_flow_v2()
    try:
        return function()
    finally:
        if functional:
            tf.compat.v1.enable_control_flow_v2()


def loop(tf, n):
    i = tf.constant(0, name="i")
    _, total = tf.while_loop(
        lambda i, x: tf.less(i, 3, name="lower"),
        lambda i, x: (tf.add(i, 1, name="next"), tf.multiply(x, 2.0, name="twice")),
        [i, n.c],
        name="loop",
    )
    return total


@only("copy loop")
def copy_loop(tf, ge, n):
    total = of_tf1(tf, lambda: loop(tf, n))
    view, info = ge.copy(n.a.graph, tf.Graph())
    with tf.Session(graph=view.graph) as session:
        copied = session.run(info.transformed(total)).tolist()
    return {"value": total, "copied": copied, "names": [op.name for op in view.ops]}


@only("copy cond")
def copy_cond(tf, ge, n):
    pred = tf.less(tf.reduce_sum(n.a, name="sum"), 100.0, name="less")
    branches = lambda: tf.multiply(n.c, 2.0, name="m"), lambda: tf.constant([7.0, 7.0], name="k")
    value = of_tf1(tf, lambda: tf.cond(pred, *branches, name="if"))
    new = ge.graph_replace(value, {n.c: n.b}, dst_scope="new")
    return {"value": value, "new": new}


@only("copy order")
def copy_order(tf, ge, n):
    orders = [[n.i.op, n.d.op, n.c.op, n.h.op], [n.h.op, n.f.op, n.e.op], [n.d.op, n.c.op]]
    return {"views": [ge.copy_with_input_replacements(ops, {}, dst_scope="z")[0] for ops in orders]}


@only("copy kinds of views")
def copy_kinds_of_views(tf, ge, n):
    made = [
        ge.copy(ge.sgv(n.d.op, n.h), dst_scope="q"),
        ge.copy(ge.sgv(n.h), dst_scope="q"),
        ge.copy(ge.sgv(n.c.op, n.d.op).remap([1], [1, 1, 0]), dst_scope="q"),
        ge.copy_with_input_replacements(ge.sgv(n.d.op, n.h), {n.h: n.f}, dst_scope="q"),
        ge.copy_with_input_replacements(ge.sgv(n.d.op).remap_inputs([0]), {n.a: n.b}, dst_scope="q"),
        ge.copy(n.i.op, dst_scope="q"),
        ge.copy([n.i.op, n.h.op], dst_scope="q"),
        ge.copy(n.c.op, dst_scope="s/"),
        ge.copy(n.c.op, dst_scope="s/"),
        ge.copy(n.c.op, dst_scope="s/", reuse_dst_scope=True),
        ge.copy(n.c.op, dst_scope="u/v", reuse_dst_scope=True),
    ]
    return {"made": [made_view for made_view, _ in made], "infos": [str(info) for _, info in made]}


@only("within a scope")
def within_a_scope(tf, ge, n):
    with tf.name_scope("cur"):
        made = [
            ge.detach_inputs(n.c.op),
            ge.detach_outputs(n.c.op),
            ge.copy(n.d.op, dst_scope="there")[0],
            ge.copy(n.d.op)[0],
            ge.copy(n.e.op, src_scope="foo")[0],
            ge.ph(tf.float32),
            ge.graph_replace(n.h, {n.d: n.b}),
        ]
    return {"made": made}


@only("within a control scope")
def within_a_control_scope(tf, ge, n):
    with tf.control_dependencies([n.h]), tf.device("/cpu:0"):
        made = ge.graph_replace(n.c, {n.a: n.b}, dst_scope="q")
        view, _ = ge.copy(n.d.op, dst_scope="q")
    return {"made": made, "devices": [op.device for op in view.ops]}


def passing(name, function):
    @only("passing " + name)
    def build(tf, ge, n):
        return {"views": said(function, ge, n)}


passing("swap inputs", lambda ge, n: ge.swap_inputs(ge.sgv(n.a), ge.sgv(n.b)))
passing("both", lambda ge, n: ge.reroute_inputs(ge.sgv(n.c.op), ge.sgv(n.i.op, n.d)))
passing("swap outputs", lambda ge, n: ge.swap_outputs(ge.sgv(n.a), ge.sgv(n.b)))
passing("reroute inputs", lambda ge, n: ge.reroute_inputs(ge.sgv(n.a), ge.sgv(n.b)))
passing("reroute outputs", lambda ge, n: ge.reroute_outputs(ge.sgv(n.a), ge.sgv(n.b)))
passing("reroute outputs to", lambda ge, n: ge.reroute_outputs(ge.sgv(n.a), ge.sgv(n.c.op)))
passing("reroute inputs to", lambda ge, n: ge.reroute_inputs(ge.sgv(n.c.op), ge.sgv(n.a, n.b)))
passing("swap ios", lambda ge, n: ge.swap_ios(ge.sgv(n.c.op, n.i), ge.sgv(n.e.op, n.d)))
passing("connect", lambda ge, n: ge.connect(ge.sgv(n.b, n.a), ge.sgv(n.c.op)))
passing("connect own", lambda ge, n: ge.connect(ge.sgv(n.a, n.b), ge.sgv(n.c.op)))
passing("disconnect", lambda ge, n: ge.connect(n.c.op, ge.sgv(n.e.op).remap_inputs([1]), disconnect_first=True))
passing("detach", lambda ge, n: ge.detach_outputs(ge.sgv(n.d.op, n.h)))
passing("detach taken", lambda ge, n: ge.detach_outputs(ge.sgv(n.c.op, n.e)))
passing("detach untaken", lambda ge, n: ge.detach_outputs([n.h.op, n.d.op]))
passing("detach twice", lambda ge, n: ge.detach_outputs(ge.sgv(n.c.op, n.d.op).remap_outputs([0, 0, 1])))
passing("detach one", lambda ge, n: ge.detach_inputs(ge.sgv(n.c.op).remap_inputs([1])))
passing("bypass", lambda ge, n: ge.bypass(ge.sgv(n.c.op).remap_inputs([0])))


@only("pairs of shapes")
def pairs_of_shapes(tf, ge, n):
    shapes = [("two", [2]), ("some", [None]), ("any", None), ("three", [3]), ("matrix", [None, 2])]
    tensors = [tf.placeholder(tf.float32, shape, name=name) for name, shape in shapes]
    pairs = [(x, y) for x in tensors for y in tensors]
    return {"said": [(x, y, said(ge.reroute_ts, [x], [y]), said(ge.swap_ts, [x], [y])) for x, y in pairs]}


@only("the same view")
def the_same_view(tf, ge, n):
    v = ge.sgv(n.c.op)
    outputs = ge.sgv(n.c.op, n.i)
    return {
        "same": [ge.make_view(v) is v, ge.detach_inputs(v)[0] is v, ge.detach_outputs(outputs)[0] is outputs],
        "outputs": outputs,
        "twice moved": ge.reroute_ts([n.b, n.a], [n.a, n.b]),
    }


@only("helpers")
def helpers(tf, ge, n):
    u = ge.util
    graph = n.a.graph
    with tf.Graph().as_default() as other:
        net(tf)
    return {
        "trees": [
            u.concatenate_unique([1, 2], [2, 3]),
            [u.is_iterable(item) for item in ("a", [1], 3, {}, n.a)],
            u.flatten_tree([1, [2, (3, 4)], {"a": 5}]),
            u.transform_tree([1, (2, 3), {"a": 4}], lambda x: x + 1),
        ],
        "scopes": [u.scope_finalize(scope) for scope in ("a", "", "a/")]
        + [u.scope_dirname("a/b/c"), u.scope_dirname("a"), u.scope_basename("a/b/c"), u.scope_basename("a/")],
        "graphs": [
            u.check_graphs(n.a, n.b),
            said(u.check_graphs, n.a, other.get_tensor_by_name("a:0")),
            u.get_unique_graph([n.a.op, n.b]) is graph,
            u.get_unique_graph(graph) is graph,
            said(u.get_unique_graph, []),
            u.get_unique_graph([], none_if_empty=True),
            said(u.get_unique_graph, 3),
            said(u.get_unique_graph, [n.a, 3]),
            said(u.get_unique_graph, [n.a], check_types=tf.Operation),
        ],
        "corresponding": [
            u.find_corresponding_elem(n.c, other).graph is other,
            u.find_corresponding([n.c, (n.d.op,)], other),
            said(u.find_corresponding_elem, n.c, other, "x"),
        ],
    }


@only("copy devices")
def copy_devices(tf, ge, n):
    with tf.device("/cpu:0"), tf.name_scope("dev"):
        there = tf.add(n.a, n.b, name="there")
    view, _ = ge.copy(there.op, dst_scope="on")
    return {"view": view, "devices": [op.device for op in view.ops]}


@only("copy variables")
def copy_variables(tf, ge, n):
    with tf.variable_scope("model"):
        v = tf.get_variable("v", [2], use_resource=False, initializer=tf.zeros_initializer())
    x = tf.add(v, n.a, name="with_v")
    new = ge.graph_replace(x, {n.a: n.b}, dst_scope="again")
    return {"value": new, "names": [v.name for v in tf.global_variables()]}


@only("gradients", pictured=False)
def gradients(tf, ge, n):
    x = tf.constant([2.0, 3.0], name="x")
    y = tf.multiply(x, tf.add(x, 1.0, name="plus"), name="y")
    z = ge.graph_replace(y, {x: n.a}, dst_scope="z")
    return {"gradient": tf.identity(tf.gradients(z, n.a, name="grads")[0], name="gradient")}


@only("edited after a run")
def edited(tf, ge, n):
    with tf.Session() as session:
        before = session.run(n.h).tolist()
        n_modified = ge.reroute_ts([n.a], [n.b])
        new = tf.add(n.h, n.h, name="after")
        again = said(lambda: session.run(n.h).tolist())
        later = said(lambda: session.run(new).tolist())
    with tf.Session() as session:
        fresh = session.run(n.h).tolist()
    return {"values": [before, n_modified, again, later, fresh], "types": np.asarray(before).dtype.name}
