"""What the cases of ``tf.contrib.graph_editor`` share: a small graph, and how it is written down.

What a function returns is written down as text, and so is the graph after it: all operations with their inputs. Runs on
Python 3.7 too.
"""

import re


def cases():
    """An empty dict of cases, and the decorator that adds to it."""
    collected = {}

    def only(name, pictured=True):
        """A case: a function of (tf, ge, what net() returns) that gives name -> a tensor, or what text() takes."""

        def add(function):
            def build(tf, contrib):
                graph = tf.get_default_graph()
                with graph.name_scope(None):
                    returned = function(tf, contrib.graph_editor, net(tf))
                lines = {"graph": picture(graph), "collections": collections(graph)} if pictured else {}
                outputs = {}
                for key, value in returned.items():
                    if isinstance(value, tf.Tensor):
                        outputs[key] = value
                    elif isinstance(value, tf.Graph):
                        lines[key] = picture(value)
                    else:
                        lines[key] = text(tf, value)
                for key, value in lines.items():
                    outputs["text " + key] = tf.constant(value if isinstance(value, list) else [value], name="text")
                return {"outputs": outputs}

            collected[name] = build
            return function

        return add

    return collected, only


def net(tf):
    """Two inputs, two scopes, a control edge, an operation with two outputs and a variable."""
    a = tf.constant([1.0, 2.0], name="a")
    b = tf.constant([3.0, 5.0], name="b")
    with tf.name_scope("foo"):
        c = tf.add(a, b, name="c")
        d = tf.multiply(c, a, name="d")
        with tf.name_scope("bar"):
            with tf.control_dependencies([d]):
                e = tf.subtract(d, b, name="e")
            f, g = tf.unstack(e, num=2, name="f")
    with tf.name_scope("top"):
        h = tf.add(f, g, name="h")
        with tf.control_dependencies([h, c]):
            i = tf.identity(c, name="i")
    tf.add_to_collection("mine", d)
    tf.add_to_collection(tf.GraphKeys.LOSSES, h)
    return Names(dict(a=a, b=b, c=c, d=d, e=e, f=f, g=g, h=h, i=i))


class Names:
    def __init__(self, found):
        self.__dict__.update(found)


def text(tf, value):
    """What a function returned: names in place of tensors and operations, sets in the order of names."""
    if isinstance(value, dict):
        return "{%s}" % ", ".join(sorted("%s: %s" % (text(tf, k), text(tf, v)) for k, v in value.items()))
    if isinstance(value, (set, frozenset)):
        return "set(%s)" % ", ".join(sorted(text(tf, item) for item in value))
    if hasattr(value, "passthroughs"):
        parts = ("ops", "inputs", "outputs", "passthroughs")
        return "view(%s)" % "; ".join("%s %s" % (part, text(tf, list(getattr(value, part)))) for part in parts)
    if isinstance(value, (list, tuple)):
        inside = ", ".join(text(tf, item) for item in value)
        return "[%s]" % inside if isinstance(value, list) else "(%s)" % inside
    if type(value).__name__ == "ListView":
        return "listed " + text(tf, list(value))
    if isinstance(value, (tf.Tensor, tf.Operation)):
        return value.name
    return re.sub("[0-9]{6,}", "ID", str(value))


def picture(graph):
    """All operations: name, type, inputs, control inputs and static shapes."""
    lines = []
    for op in graph.get_operations():
        inputs = [t.name for t in op.inputs] + sorted("^" + c.name for c in op.control_inputs)
        shapes = [str(t.shape).replace("None", "?") for t in op.outputs]
        kind = re.sub("V2$", "", op.type)
        lines.append("%s %s(%s) %s" % (op.name, kind, ", ".join(inputs), " ".join(shapes)))
    return lines


def collections(graph):
    keys = [key for key in graph.collections if isinstance(key, str) and "context" not in key]
    return ["%s %s" % (key, [item.name for item in graph.get_collection(key)]) for key in sorted(keys)]


def said(function, *args, **kwargs):
    """The name of the error's class that a call raises, or what it returns."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return "raises " + type(error).__name__
