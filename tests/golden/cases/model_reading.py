"""Reads the artifacts of model_cases.py by TensorFlow 1's own functions; for 1.15.5 and for scripts run here."""

import os

import model_cases


def graph_def(tf, file):
    """The GraphDef in ``file``, binary or text."""
    found = tf.GraphDef()
    with open(file, "rb") as source:
        if file.endswith("txt"):
            from google.protobuf import text_format

            text_format.Parse(source.read(), found)
        else:
            found.ParseFromString(source.read())
    return found


def import_graph(tf, session, found):
    """Imports a GraphDef, and fills its tables."""
    tf.import_graph_def(found, name="")
    if any(node.name == "init_all_tables" for node in found.node):
        session.run("init_all_tables")


def read(tf, case, folder):
    """A session of the default graph, into which the artifact of ``case`` below ``folder`` was read."""
    file = os.path.join(folder, case.path)
    session = tf.Session()
    if case.artifact.startswith("saved"):
        tf.saved_model.loader.load(session, case.tags or ["serve"], file, clear_devices=True)
    elif case.artifact.startswith("bundle"):
        tf.train.import_meta_graph(os.path.join(file, "export.meta")).restore(session, os.path.join(file, "export"))
        words = os.path.join(file, "assets", "vocabulary.txt")
        session.run(tf.get_collection("serving_init_op"), {"vocabulary:0": words} if os.path.exists(words) else None)
    elif file.endswith((".pb", ".pbtxt")):
        import_graph(tf, session, graph_def(tf, file))
        if case.checkpoint:
            session.run("save/restore_all", {"save/Const:0": os.path.join(folder, case.checkpoint)})
    else:
        same = [each.path for each in model_cases.CASES if each.artifact == case.artifact and ".ckpt" in each.path]
        prefix = os.path.join(folder, same[0])
        tf.train.import_meta_graph(prefix + ".meta").restore(session, prefix)
    return session


def ask(session, case):
    """The values of the tensors that ``case`` fetches."""
    return session.run(case.fetches, {key if ":" in key else key + ":0": value for key, value in case.feeds.items()})
