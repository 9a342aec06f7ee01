"""tf.distributions and tf.contrib.distributions: samples, densities, divergences, a reparametrised gradient."""
import tensorflow as tf

ds = tf.contrib.distributions
tf.set_random_seed(60)
normal = tf.distributions.Normal(loc=[0.0, 1.0], scale=[1.0, 2.0])
bernoulli = tf.distributions.Bernoulli(logits=[-1.0, 0.5, 2.0])
categorical = tf.distributions.Categorical(probs=[0.1, 0.2, 0.7])
beta = tf.distributions.Beta(2.0, 3.0)
gamma = tf.distributions.Gamma(concentration=[0.5, 3.0], rate=2.0)
dirichlet = tf.distributions.Dirichlet([1.0, 2.0, 3.0])
uniform = tf.distributions.Uniform(-1.0, 3.0)
exponential = ds.Exponential(rate=[0.5, 2.0])
laplace = ds.Laplace(loc=0.0, scale=[1.0, 3.0])
student = ds.StudentT(df=3.0, loc=[0.0, 1.0], scale=2.0)
multinomial = ds.Multinomial(total_count=5.0, probs=[0.2, 0.3, 0.5])
softplus = ds.NormalWithSoftplusScale([1.0, -1.0], [0.0, 2.0])
shown = [
    ("normal", normal.sample(3)), ("normal log_prob", normal.log_prob([[0.3, 0.4]])),
    ("normal cdf", normal.cdf([0.1, 0.2])), ("normal entropy", normal.entropy()),
    ("bernoulli", bernoulli.sample(4)), ("bernoulli log_prob", bernoulli.log_prob([0, 1, 1])),
    ("categorical", categorical.sample(8)), ("categorical entropy", categorical.entropy()),
    ("beta", beta.sample(3)), ("beta log_prob", beta.log_prob(0.3)),
    ("gamma", gamma.sample(2)), ("gamma mean", gamma.mean()),
    ("dirichlet", dirichlet.sample(2)), ("dirichlet variance", dirichlet.variance()),
    ("uniform", uniform.sample(3)), ("uniform prob", uniform.prob(0.5)),
    ("exponential", exponential.sample(2)), ("exponential log_prob", exponential.log_prob(0.7)),
    ("laplace", laplace.sample(2)), ("laplace log_prob", laplace.log_prob([0.5, -1.0])),
    ("student", student.sample(2)), ("student log_prob", student.log_prob([0.5, -1.0])),
    ("multinomial", multinomial.sample(2)), ("multinomial log_prob", multinomial.log_prob([1.0, 2.0, 2.0])),
    ("softplus", softplus.sample(2)),
    ("kl", tf.distributions.kl_divergence(normal, tf.distributions.Normal([0.5, 0.0], [1.0, 1.0]))),
    ("bernoulli kl", tf.distributions.kl_divergence(bernoulli, tf.distributions.Bernoulli(probs=[0.5, 0.5, 0.5]))),
]
mean = tf.Variable([0.0, 0.0])
scale = tf.Variable([1.0, 1.0])
elbo = tf.reduce_mean(softplus.log_prob(ds.Normal(mean, tf.abs(scale)).sample(16)))
train = tf.train.AdamOptimizer(0.1).minimize(-elbo)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for name, tensor in shown:
        print(name, sess.run(tensor))
    for i in range(5):
        print("elbo %.6f" % sess.run([elbo, train])[0])
    print("mean", sess.run(mean))
