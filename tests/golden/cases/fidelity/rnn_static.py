"""Echo of bits: static_rnn over unstacked inputs, two layers of LSTM, truncated backpropagation, zero_state fed."""
import numpy as np
import tensorflow as tf

BATCH, STEPS, STATE = 5, 6, 4
tf.set_random_seed(31)
np.random.seed(31)


def generate():
    x = np.array(np.random.choice(2, 240, p=[0.5, 0.5]))
    y = np.roll(x, 2)
    y[0:2] = 0
    return x.reshape((BATCH, -1)), y.reshape((BATCH, -1))


xs = tf.placeholder(tf.float32, [BATCH, STEPS])
ys = tf.placeholder(tf.int32, [BATCH, STEPS])
init_state = tf.placeholder(tf.float32, [2, 2, BATCH, STATE])
layers = tf.unstack(init_state, axis=0)
rnn_state = tuple(tf.nn.rnn_cell.LSTMStateTuple(layers[i][0], layers[i][1]) for i in range(2))

cell = tf.contrib.rnn.MultiRNNCell([tf.contrib.rnn.LSTMCell(STATE, forget_bias=1.0) for _ in range(2)])
inputs = tf.split(xs, STEPS, axis=1)
outputs, final = tf.contrib.rnn.static_rnn(cell, inputs, initial_state=rnn_state)
W = tf.Variable(np.random.rand(STATE, 2), dtype=tf.float32)
b = tf.Variable(tf.zeros([1, 2]))
logits = [tf.matmul(o, W) + b for o in outputs]
losses = [tf.nn.sparse_softmax_cross_entropy_with_logits(logits=l, labels=y)
          for l, y in zip(logits, tf.unstack(ys, axis=1))]
total_loss = tf.reduce_mean(losses)
train_step = tf.train.AdagradOptimizer(0.3).minimize(total_loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    loss_list = []
    for epoch in range(3):
        x, y = generate()
        state = np.zeros((2, 2, BATCH, STATE))
        print("New data, epoch", epoch)
        for i in range(x.shape[1] // STEPS):
            part = slice(i * STEPS, (i + 1) * STEPS)
            loss, _, state = sess.run([total_loss, train_step, final],
                                      {xs: x[:, part], ys: y[:, part], init_state: state})
            loss_list.append(loss)
            if i % 4 == 0:
                print("Step", i, "Loss", loss)
    print("mean of losses %.6f" % np.mean(loss_list))
    print("predictions", sess.run(tf.nn.softmax(logits[-1]), {xs: x[:, :STEPS], init_state: state}))
