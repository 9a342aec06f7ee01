"""Cases of ``tf.contrib.losses``: name -> function of (tf, contrib); see contrib_record.py. Runs on Python 3.7 too."""

from contrib_record import feed

CASES = {}


def case(name, loss, low=0.1, labels=None, weights=(1.0, [1.0, 0.0, 2.0]), shape=(3, 4)):
    for number, weight in enumerate(weights):

        def build(tf, contrib, weight=weight):
            x = tf.get_variable("x", shape)
            truth = tf.constant(feed(shape, 2, low) if labels is None else labels)
            y = loss(tf, contrib.losses, x, truth, weight)
            return {
                "outputs": {"y": y, "total": contrib.losses.get_total_loss() if tf.get_collection("losses") else y},
                "loss": tf.reduce_sum(y),
            }

        CASES["%s %d" % (name, number)] = build


ONE_HOT = [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]

case("absolute_difference", lambda tf, L, x, y, w: L.absolute_difference(x, y, w))
case(
    "mean_squared_error",
    lambda tf, L, x, y, w: L.mean_squared_error(x, y, w, scope="s"),
    weights=(1.0, 0.0, [1.0, 0.0, 2.0], [[1.0], [0.0], [2.0]], [[1.0] * 4, [0.0] * 4, [0.5, 1.0, 0.0, 2.0]]),
)
case("log_loss", lambda tf, L, x, y, w: L.log_loss(x * 0.5, y, w, epsilon=1e-3), labels=ONE_HOT)
case("hinge_loss", lambda tf, L, x, y, w: L.hinge_loss(x, y), labels=ONE_HOT, weights=(1.0,))
case(
    "cosine_distance",
    lambda tf, L, x, y, w: L.cosine_distance(tf.nn.l2_normalize(x, 1), tf.nn.l2_normalize(y, 1), 1, w),
)
case("sigmoid_cross_entropy", lambda tf, L, x, y, w: L.sigmoid_cross_entropy(x, y, w), labels=ONE_HOT)
case("sigmoid_cross_entropy smooth", lambda tf, L, x, y, w: L.sigmoid_cross_entropy(x, y, w, 0.1), labels=ONE_HOT)
case("softmax_cross_entropy", lambda tf, L, x, y, w: L.softmax_cross_entropy(x, y, w), labels=ONE_HOT)
case("softmax_cross_entropy smooth", lambda tf, L, x, y, w: L.softmax_cross_entropy(x, y, w, 0.1), labels=ONE_HOT)
case("sparse_softmax_cross_entropy", lambda tf, L, x, y, w: L.sparse_softmax_cross_entropy(x, y, w), labels=[1, 0, 3])
case(
    "sparse_softmax_cross_entropy column",
    lambda tf, L, x, y, w: L.sparse_softmax_cross_entropy(x, y, w),
    labels=[[1], [0], [3]],
)
case("mean_pairwise_squared_error", lambda tf, L, x, y, w: L.mean_pairwise_squared_error(x, y, w))
case("compute_weighted_loss", lambda tf, L, x, y, w: L.compute_weighted_loss(x * y, w))
case("wrong shapes", lambda tf, L, x, y, w: L.mean_squared_error(x, y), labels=[1.0, 2.0], weights=(1.0,))
case("wrong weights", lambda tf, L, x, y, w: L.mean_squared_error(x, y, w), weights=(None,))
case("wrong axis", lambda tf, L, x, y, w: L.cosine_distance(x, y), weights=(1.0,))
case("add_loss", lambda tf, L, x, y, w: [L.add_loss(tf.reduce_sum(x)), L.get_total_loss(name="t")][1], weights=(1.0,))


def learning(name, loss, size=6):
    def build(tf, contrib):
        x = tf.get_variable("x", [size, 3])
        y = tf.get_variable("y", [size, 3])
        value = loss(tf, contrib.losses.metric_learning, x, y)
        return {"outputs": {"y": value, "losses": tf.constant(len(tf.get_collection("losses")))}, "loss": value}

    CASES["metric_learning " + name] = build


LABELS = [1, 2, 1, 3, 2, 1]
for _margin in (1.0, 0.1):
    learning(
        "contrastive %s" % _margin,
        lambda tf, L, x, y, margin=_margin: L.contrastive_loss(tf.constant([1, 0, 0, 1, 0, 1]), x, y, margin),
    )
    learning(
        "triplet %s" % _margin,
        lambda tf, L, x, y, margin=_margin: L.triplet_semihard_loss(
            tf.constant(LABELS), tf.nn.l2_normalize(x, 1), margin
        ),
    )
    learning(
        "lifted %s" % _margin, lambda tf, L, x, y, margin=_margin: L.lifted_struct_loss(tf.constant(LABELS), x, margin)
    )
learning("triplet of one label", lambda tf, L, x, y: L.triplet_semihard_loss(tf.constant([1] * 6), x))
learning("npairs", lambda tf, L, x, y: L.npairs_loss(tf.constant([1, 2, 3, 4, 5, 6]), x, y))
learning("npairs again", lambda tf, L, x, y: L.npairs_loss(tf.constant(LABELS), x, y, 0.1))


def sparse(tf, classes):
    return tf.SparseTensor([[at] for at in classes], tf.constant([1] * len(classes)), [4])


learning(
    "npairs multilabel",
    lambda tf, L, x, y: L.npairs_loss_multilabel([sparse(tf, [0, 2]), sparse(tf, [1]), sparse(tf, [2, 3])], x, y, 0.5),
    3,
)
learning("wrong npairs multilabel", lambda tf, L, x, y: L.npairs_loss_multilabel([[1.0]], x, y))
