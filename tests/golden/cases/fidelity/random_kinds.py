"""Every kind of random number, each op with the seed that its place in the graph gives, drawn twice."""
import tensorflow as tf

tf.set_random_seed(1)
shape = [3]
kinds = [
    ("uniform", tf.random_uniform(shape)),
    ("uniform of integers", tf.random_uniform(shape, 0, 1000, dtype=tf.int32)),
    ("uniform of int64", tf.random_uniform(shape, -10, 10 ** 12, dtype=tf.int64)),
    ("uniform of doubles", tf.random_uniform(shape, -2.0, 2.0, dtype=tf.float64)),
    ("uniform of halves", tf.random_uniform(shape, dtype=tf.float16)),
    ("normal", tf.random_normal(shape)),
    ("normal of doubles", tf.random_normal(shape, 10.0, 0.1, dtype=tf.float64)),
    ("truncated", tf.truncated_normal(shape)),
    ("gamma", tf.random_gamma(shape, 2.0)),
    ("gamma small", tf.random_gamma(shape, [0.3], dtype=tf.float64)),
    ("poisson", tf.random_poisson(4.0, shape)),
    ("poisson large", tf.random_poisson([50.0], [3])),
    ("multinomial", tf.multinomial([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]], 6)),
    ("shuffle", tf.random_shuffle(tf.range(8))),
    ("crop", tf.random_crop(tf.range(20), [4])),
    ("dropout", tf.nn.dropout(tf.ones([6]), 0.5)),
    ("uniform sampler", tf.nn.uniform_candidate_sampler([[1]], 1, 4, True, 30)[0]),
    ("log uniform sampler", tf.nn.log_uniform_candidate_sampler([[1]], 1, 4, True, 30)[0]),
    ("fixed sampler", tf.nn.fixed_unigram_candidate_sampler([[1]], 1, 4, True, 5, unigrams=[1., 2., 3., 4., 5.])[0]),
    ("learned sampler", tf.nn.learned_unigram_candidate_sampler([[1]], 1, 4, True, 30)[0]),
    ("stateless", tf.contrib.stateless.stateless_random_uniform(shape, seed=[3, 4])),
    ("stateless normal", tf.contrib.stateless.stateless_random_normal(shape, seed=[5, 6])),
    ("stateless truncated", tf.contrib.stateless.stateless_truncated_normal(shape, seed=[9, 10], mean=1.0)),
    ("stateless multinomial", tf.contrib.stateless.stateless_multinomial([[0.0, 1.0]], 5, seed=[7, 8])),
    ("seeded", tf.random_normal(shape, seed=123)),
]
initializers = [
    tf.random_uniform_initializer(-1, 1), tf.random_normal_initializer(), tf.truncated_normal_initializer(),
    tf.uniform_unit_scaling_initializer(), tf.variance_scaling_initializer(), tf.orthogonal_initializer(),
    tf.glorot_uniform_initializer(), tf.glorot_normal_initializer(), tf.contrib.layers.xavier_initializer(),
    tf.contrib.layers.variance_scaling_initializer(), tf.keras.initializers.he_normal(),
    tf.keras.initializers.lecun_uniform(), tf.initializers.he_uniform(), tf.keras.initializers.RandomNormal(stddev=0.5)]
made = [tf.get_variable("v%d" % i, [2, 2], initializer=one) for i, one in enumerate(initializers)]

with tf.Session() as sess:
    for name, tensor in kinds:
        print(name, sess.run(tensor).tolist(), sess.run(tensor).tolist())
    sess.run(tf.global_variables_initializer())
    for variable in made:
        print(variable.name, sess.run(variable).ravel())
with tf.Session() as sess:
    print("a new session:", sess.run(kinds[0][1]), sess.run(kinds[5][1]))
