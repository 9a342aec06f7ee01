"""REINFORCE on a bandit with contexts: actions drawn in the graph by tf.multinomial, discounted rewards."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(6)
np.random.seed(6)

observations = tf.placeholder(tf.float32, [None, 3])
actions = tf.placeholder(tf.int32, [None])
advantages = tf.placeholder(tf.float32, [None])
hidden = tf.layers.dense(observations, 8, activation=tf.nn.tanh,
                         kernel_initializer=tf.contrib.layers.xavier_initializer())
logits = tf.layers.dense(hidden, 3)
draw = tf.squeeze(tf.multinomial(logits, 1), 1)
picked = -tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=actions)
entropy = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), axis=1))
loss = -tf.reduce_mean(picked * advantages) - 0.01 * entropy
train = tf.train.AdamOptimizer(0.05).minimize(loss)


def discount(rewards, gamma=0.9):
    out, running = np.zeros_like(rewards), 0.0
    for i in reversed(range(len(rewards))):
        running = running * gamma + rewards[i]
        out[i] = running
    return out


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for episode in range(15):
        states, chosen, rewards = [], [], []
        for t in range(8):
            kind = np.random.randint(3)
            state = np.eye(3, dtype=np.float32)[kind]
            a = sess.run(draw, {observations: state[None]})[0]
            states.append(state)
            chosen.append(a)
            rewards.append(float(a == (kind + 1) % 3))
        returns = discount(np.array(rewards))
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        value, e, _ = sess.run([loss, entropy, train], {
            observations: np.array(states), actions: chosen, advantages: returns})
        if episode % 3 == 2:
            print("Episode %d reward %.1f loss %.4f entropy %.4f actions %s"
                  % (episode + 1, sum(rewards), value, e, chosen))
    print(sess.run(tf.nn.softmax(logits), {observations: np.eye(3)}))
