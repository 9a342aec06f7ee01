"""tf.distributions and tf.contrib.distributions: samples, densities, divergences, a reparametrised gradient."""
import numpy as np
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
multivariate = ds.MultivariateNormalDiag(loc=[1.0, -1.0], scale_diag=[0.5, 2.0])
mixture = ds.Mixture(cat=ds.Categorical(probs=[0.3, 0.7]), components=[ds.Normal(-1.0, 0.1), ds.Normal(1.0, 0.5)])
transformed = ds.TransformedDistribution(ds.Normal(0.0, 1.0), ds.bijectors.Exp())
shown = [
    ("normal", normal.sample(3)), ("normal log_prob", normal.log_prob([[0.3, 0.4]])),
    ("normal cdf", normal.cdf([0.1, 0.2])), ("normal entropy", normal.entropy()),
    ("bernoulli", bernoulli.sample(4)), ("bernoulli log_prob", bernoulli.log_prob([0, 1, 1])),
    ("categorical", categorical.sample(8)), ("categorical entropy", categorical.entropy()),
    ("beta", beta.sample(3)), ("beta log_prob", beta.log_prob(0.3)),
    ("gamma", gamma.sample(2)), ("gamma mean", gamma.mean()),
    ("dirichlet", dirichlet.sample(2)), ("dirichlet variance", dirichlet.variance()),
    ("uniform", uniform.sample(3)), ("uniform prob", uniform.prob(0.5)),
    ("multivariate", multivariate.sample(2)), ("multivariate log_prob", multivariate.log_prob([0.0, 0.0])),
    ("mixture", mixture.sample(4)), ("mixture log_prob", mixture.log_prob(0.5)),
    ("log-normal", transformed.sample(3)), ("log-normal log_prob", transformed.log_prob(2.0)),
    ("kl", tf.distributions.kl_divergence(normal, tf.distributions.Normal([0.5, 0.0], [1.0, 1.0]))),
    ("bernoulli kl", tf.distributions.kl_divergence(bernoulli, tf.distributions.Bernoulli(probs=[0.5, 0.5, 0.5]))),
]
mean = tf.Variable([0.0, 0.0])
scale = tf.Variable([1.0, 1.0])
elbo = tf.reduce_mean(multivariate.log_prob(ds.MultivariateNormalDiag(mean, tf.abs(scale)).sample(16)))
train = tf.train.AdamOptimizer(0.1).minimize(-elbo)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for name, tensor in shown:
        print(name, sess.run(tensor))
    for i in range(5):
        print("elbo %.6f" % sess.run([elbo, train])[0])
    print("mean", sess.run(mean))
