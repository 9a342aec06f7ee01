"""What contrib.factorization.KMeans does, as JSON; runs on Python 3.7 with 1.15.5 too.

Of training by batches, only what 1.15.5 always gives: there, reading and writing the counts of points is a race.
"""

from itertools import islice

import numpy as np

POINTS = np.array([[0, 0], [0, 1], [1, 0], [5, 5], [5, 6], [6, 5.5], [9, 1], [8, 0.5]], "float32") + 0.5
CENTERS = np.array([[0.5, 0.5], [4.0, 4.0], [7.0, 1.0]], "float32")


def numbers(value):
    return [float(format(number, ".6g")) for number in np.asarray(value, "float64").ravel()]


MATRIX = np.array([[1, 0, 0, 2, 0], [0, 3, 0, 0, 1], [2, 0, 1, 0, 0], [0, 0, 4, 1, 0]], "float32")
FACTORS = np.random.RandomState(0).rand(9, 2).astype("float32")
CLOUDS = np.random.RandomState(1).randn(17, 2).astype("float32") + np.repeat([[0, 0], [4, 1], [0, 5]], [6, 6, 5], 0)


def errors(calls):
    found = {}
    for name, call in calls.items():
        try:
            call()
            found[name] = None
        except (TypeError, ValueError) as error:
            found[name] = type(error).__name__
    return found


def estimators(tf, contrib):
    """Estimators of k-means and of mixtures."""
    found = {}

    def points():
        return tf.constant(POINTS)

    def parts():
        return {"b": tf.constant(POINTS[:, 1:]), "a": tf.constant(POINTS[:, :1])}

    clustering = contrib.factorization.KMeansClustering
    for name, arguments in {
        "full": {"use_mini_batch": False},
        "cosine": {"use_mini_batch": False, "distance_metric": clustering.COSINE_DISTANCE},
    }.items():
        estimator = clustering(3, initial_clusters=CENTERS, **arguments)
        estimator.train(points, steps=3)
        with tf.Graph().as_default():
            tf.train.create_global_step()
            spec = estimator.model_fn(parts(), None, "infer", estimator.config)
            exports = {key: sorted(output.outputs) for key, output in spec.export_outputs.items()}
        found[name] = {
            "names": sorted(estimator.get_variable_names()),
            "centers": numbers(estimator.cluster_centers()),
            "score": numbers(estimator.score(points)),
            "indices": numbers(list(islice(estimator.predict_cluster_index(points), 8))),
            "distances": numbers(list(islice(estimator.transform(points), 8))),
            "metrics": {key: numbers(value) for key, value in estimator.evaluate(points, steps=1).items()},
            "exports": exports,
        }
    estimator = clustering(3, initial_clusters=CENTERS[:, ::-1], use_mini_batch=False, relative_tolerance=0.5)
    estimator.train(lambda: {"b": parts()["a"], "a": parts()["b"]}, steps=50)
    found["tolerance"] = [numbers(estimator.get_variable_value(name)) for name in ("global_step", "clusters")]
    one = clustering(2, use_mini_batch=False, feature_columns=[tf.feature_column.numeric_column("b")])
    found["columns"] = list(one.train(parts, steps=2).cluster_centers().shape)

    def old():
        return tf.constant(POINTS), None

    estimator = contrib.learn.KMeansClustering(3, initial_clusters=CENTERS, use_mini_batch=False)
    estimator.fit(input_fn=old, steps=2)
    found["learn"] = {
        "names": sorted(estimator.get_variable_names()),
        "centers": numbers(estimator.clusters()),
        "score": numbers(estimator.score(input_fn=old, steps=1)),
        "distances": numbers(estimator.transform(input_fn=old)),
        "indices": numbers(list(islice(estimator.predict_cluster_idx(input_fn=old), 8))),
        "metrics": {k: numbers(v) for k, v in estimator.evaluate(input_fn=old, steps=1).items()},
    }

    def clouds():
        return tf.constant(CLOUDS, tf.float32), None

    for kind in ("full", "diag"):
        estimator = contrib.factorization.GMM(3, initial_clusters=CLOUDS[[0, 6, 12]], covariance_type=kind)
        estimator.fit(input_fn=clouds, steps=4)
        found["GMM " + kind] = {
            "names": sorted(estimator.get_variable_names()),
            "clusters": numbers(estimator.clusters()),
            "covariances": numbers(estimator.covariances()),
            "weights": numbers(estimator.weights()),
            "score": numbers(estimator.score(input_fn=clouds, steps=1)),
            "assignments": [int(a) for a in islice(estimator.predict_assignments(input_fn=clouds), 17)],
            "scores": numbers(estimator.evaluate(input_fn=clouds, steps=1)["scores"]),
        }
    found["errors"] = errors(
        {
            "first": lambda: clustering(3, initial_clusters="x"),
            "metric": lambda: clustering(3, distance_metric="x"),
        }
    )
    return found


def mixtures(tf, contrib):
    found = {}
    for params in ("w", "mc", "wmc"):  # 1.15.5 trains no means without covariances
        with tf.Graph().as_default(), tf.Session() as session:
            graph = contrib.factorization.gmm(tf.constant(CLOUDS, tf.float32), CLOUDS[[0, 6, 12]], 3, 0, params=params)
            variables = tf.global_variables()
            session.run(tf.global_variables_initializer())
            one = found[params] = {"names": [v.name for v in variables], "steps": []}
            session.run(graph[4])
            for _ in range(2):
                one["steps"].append([numbers(value) for value in session.run(variables[:3])])
                one["steps"].append([numbers(value) for value in session.run([graph[0], graph[1], graph[2][0][0]])])
                session.run(graph[3])
    return found


def least_squares(tf, contrib):
    def sparse(rows=range(4), transposed=False):
        places = [[i, j] for i in rows for j in range(5) if MATRIX[i, j]]
        values = [MATRIX[i, j] for i, j in places]
        tensor = tf.SparseTensor(np.array(places, "int64"), np.array(values, "float32"), [4, 5])
        return tf.sparse_transpose(tensor) if transposed else tensor

    found = {}
    model_of = contrib.factorization.WALSModel
    for name, arguments in {
        "plain": {"regularization": 0.1},
        "equal": {"row_weights": None, "col_weights": None},
        "shards": {
            "regularization": 0.2,
            "row_weights": [[1, 2.0], [0.5, 0.3]],
            "col_weights": [[1, 2, 3], [0.2, 0.1]],
            "row_init": [FACTORS[:2], FACTORS[2:4]],
            "col_init": [FACTORS[4:7], FACTORS[7:]],
            "num_row_shards": 2,
            "num_col_shards": 2,
            "use_factors_weights_cache": False,
            "use_gramian_cache": False,
        },
    }.items():
        with tf.Graph().as_default(), tf.Session() as session:
            arguments = dict({"row_init": FACTORS[:4], "col_init": FACTORS[4:]}, **arguments)
            model = model_of(4, 5, 2, **arguments)
            one = found[name] = {"names": [v.name for v in tf.global_variables()]}
            some, rows = model.update_row_factors(sparse([2, 0])), model.update_row_factors(sparse())
            columns = model.update_col_factors(sparse())
            transposed = model.update_col_factors(sparse(transposed=True), transpose_input=True)
            session.run(model.initialize_op)
            session.run(model.worker_init)
            session.run(model.row_update_prep_gramian_op)
            session.run(model.initialize_row_update_op)
            one["some rows"] = [numbers(value) for value in session.run(some[:1] + some[2:])]
            session.run(some[1])
            one["after"] = [numbers(value) for value in session.run(model.row_factors)]
            one["rows"] = [numbers(value) for value in session.run(rows[:1] + rows[2:])]
            session.run(rows[1])
            session.run(model.col_update_prep_gramian_op)
            session.run(model.initialize_col_update_op)
            one["columns"] = [numbers(value) for value in session.run(columns[:1] + columns[2:])]
            one["transposed"] = [numbers(value) for value in session.run(transposed[:1] + transposed[2:])]
            session.run(columns[1])
            one["after columns"] = [numbers(value) for value in session.run(model.col_factors)]
            if name == "shards":  # 1.15.5 projects without caches only
                projected = [
                    model.project_row_factors(sparse([1, 2]), projection_weights=[2.0, 0.5]),
                    model.project_col_factors(sparse(), projection_weights=[1.0, 2.0, 3.0, 4.0, 5.0]),
                    model.project_col_factors(sparse(transposed=True), True, [1.0, 2.0, 3.0, 4.0, 5.0]),
                ]
                session.run(model.row_update_prep_gramian_op)
                session.run(model.col_update_prep_gramian_op)
                one["projected"] = [numbers(value) for value in session.run(projected)]
    return found


def run(tf, factorization, contrib):
    found = {part.__name__: part(tf, contrib) for part in (estimators, mixtures, least_squares)}
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
                        total = next(v for v in variables if v.op.name == "Variable")
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
            clusters = session.run(next(v for v in tf.global_variables() if v.op.name == "clusters"))
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
