"""Feature columns: buckets, vocabularies, hashes, crosses, embeddings; input_layer and linear_model."""
import numpy as np
import tensorflow as tf

fc = tf.feature_column
tf.set_random_seed(17)
rng = np.random.RandomState(17)
ages = rng.randint(15, 80, size=(40, 1)).astype(np.float32)
jobs = rng.choice(["cook", "nurse", "clerk", "pilot"], size=(40, 1))
towns = rng.choice(["Bern", "Linz", "Graz", "Ulm", "Genf"], size=(40, 1))
income = (ages / 50 + (jobs == "pilot") + 0.1 * rng.randn(40, 1)).astype(np.float32)

age = fc.numeric_column("age", normalizer_fn=lambda a: (a - 40.0) / 20.0)
age_buckets = fc.bucketized_column(fc.numeric_column("age"), [25, 35, 50, 65])
job = fc.categorical_column_with_vocabulary_list("job", ["cook", "nurse", "clerk"], num_oov_buckets=1)
town = fc.categorical_column_with_hash_bucket("town", 12)
crossed = fc.crossed_column([age_buckets, "job"], 30)

features = {"age": tf.constant(ages), "job": tf.constant(jobs.astype(object)),
            "town": tf.constant(towns.astype(object))}
deep_input = fc.input_layer(features, [
    age, age_buckets, fc.indicator_column(job), fc.embedding_column(town, 3)])
wide = fc.linear_model(features, [crossed, job, town])
hidden = tf.layers.dense(deep_input, 8, activation=tf.nn.relu)
prediction = tf.layers.dense(hidden, 1) + wide
loss = tf.losses.mean_squared_error(income, prediction)
wide_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "linear_model")
deep_vars = [v for v in tf.trainable_variables() if v not in wide_vars]
step = tf.train.get_or_create_global_step()
train = tf.group(tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=wide_vars),
                 tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=step, var_list=deep_vars))

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print("input layer", deep_input.shape, sess.run(deep_input)[0])
    for i in range(25):
        value, _ = sess.run([loss, train])
        if i % 5 == 0:
            print("step %d mse %.7f" % (i, value))
    print("predicted", sess.run(prediction)[:4, 0], "income", income[:4, 0])
    for v in tf.trainable_variables():
        print(v.name, v.shape, sess.run(tf.reduce_sum(v)))
