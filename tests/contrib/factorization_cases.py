"""What contrib.factorization.KMeans does, as JSON; runs on Python 3.7 with 1.15.5 too.

Of training by batches, only what 1.15.5 always gives: there, reading and writing the counts of points is a race.
"""

import numpy as np

POINTS = np.array([[0, 0], [0, 1], [1, 0], [5, 5], [5, 6], [6, 5.5], [9, 1], [8, 0.5]], "float32") + 0.5
CENTERS = np.array([[0.5, 0.5], [4.0, 4.0], [7.0, 1.0]], "float32")


def numbers(value):
    return [float(format(number, ".6g")) for number in np.asarray(value, "float64").ravel()]


def run(tf, factorization):
    found = {}
    for metric in ("squared_euclidean", "cosine"):
        for steps in (0, 1, 2):
            with tf.Graph().as_default(), tf.Session() as session:
                inputs = [tf.constant(POINTS[:5]), tf.constant(POINTS[5:])] if steps == 0 else tf.constant(POINTS)
                all_scores, indices, scores, initialized, init, train = factorization.KMeans(
                    inputs,
                    3,
                    initial_clusters=CENTERS,
                    distance_metric=metric,
                    use_mini_batch=steps > 0,
                    mini_batch_steps_per_iteration=max(steps, 1),
                ).training_graph()
                variables = tf.global_variables()
                session.run(tf.global_variables_initializer())
                before = bool(session.run(initialized))
                session.run(init)
                case = {
                    "names": sorted(v.name for v in variables),
                    "initialized": [before, bool(session.run(initialized))],
                    "steps": [],
                }
                for _ in range(3):
                    case["steps"].append(
                        [numbers(np.concatenate(session.run(t))) for t in (all_scores, indices, scores)]
                    )
                    session.run(train)
                    if steps:
                        total = [v for v in variables if v.op.name == "Variable"][0]
                        case["steps"].append(numbers(session.run(total)))
                        break
                found[f"{metric} {steps}"] = case
    for way in ("random", "kmeans_plus_plus", "kmc2", lambda inputs, k: inputs[0][: tf.minimum(k, 2)]):
        with tf.Graph().as_default(), tf.Session() as session:
            graph = factorization.KMeans(tf.constant(POINTS), 3, initial_clusters=way, random_seed=3).training_graph()
            session.run(tf.global_variables_initializer())
            runs = 0
            while not session.run(graph[3]) and runs < 9:
                session.run(graph[4])
                runs += 1
            clusters = session.run([v for v in tf.global_variables() if v.op.name == "clusters"][0])
            known = {tuple(point) for point in POINTS.tolist()}
            found["first " + (way if isinstance(way, str) else "function")] = {
                "runs": runs,
                "shape": list(clusters.shape),
                "points": all(tuple(center) in known for center in clusters.tolist()),
            }
    for name, arguments in (("metric", {"distance_metric": "x"}), ("first", {"initial_clusters": "x"})):
        with tf.Graph().as_default():
            try:
                factorization.KMeans(tf.constant(POINTS), 2, **arguments).training_graph()
            except ValueError:
                found["wrong " + name] = "ValueError"
    return found
