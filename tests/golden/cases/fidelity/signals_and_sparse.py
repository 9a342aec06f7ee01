"""Fourier transforms, short-time spectra, sparse tensors and segments."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(70)
t = np.arange(256, dtype=np.float64)
tones = ((t * 7) % 32) / 16 - 1 + ((t * 3) % 20) / 40
wave = tf.constant(tones.astype(np.float32)) + tf.random_normal([256], stddev=0.05)
spectrum = tf.abs(tf.spectral.rfft(wave))
back = tf.spectral.irfft(tf.spectral.rfft(wave))
frames = tf.contrib.signal.frame(wave, 64, 32)
stft = tf.contrib.signal.stft(wave, frame_length=64, frame_step=32, fft_length=64)
mel = tf.contrib.signal.linear_to_mel_weight_matrix(8, 33, 8000.0, 80.0, 3800.0)
log_mel = tf.log(tf.tensordot(tf.abs(stft), mel, 1) + 1e-6)
plane = tf.fft2d(tf.cast(tf.reshape(wave, [16, 16]), tf.complex64))

sparse = tf.SparseTensor(indices=[[0, 0], [1, 2], [2, 1], [3, 3]], values=[1.0, 2.0, 3.0, 4.0], dense_shape=[4, 4])
dense = tf.random_normal([4, 3])
product = tf.sparse_tensor_dense_matmul(sparse, dense)
added = tf.sparse_add(sparse, tf.SparseTensor([[0, 0], [0, 1]], [0.5, 0.25], [4, 4]))
retained = tf.sparse_retain(added, added.values > 1.0)
softmaxed = tf.sparse_softmax(added)
ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], tf.constant([1, 3, 2, 0], tf.int64), [4, 2])
embedding = tf.Variable(tf.random_uniform([4, 2], -1, 1))
combined = tf.nn.embedding_lookup_sparse(embedding, ids, None, combiner="mean")
segments = tf.segment_sum(dense, [0, 0, 1, 2])
unsorted = tf.unsorted_segment_max(dense, [2, 0, 2, 1], 3)
scattered = tf.scatter_nd([[1], [3], [1]], dense[:3], [5, 3])
train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.square(combined)))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for name, value in sorted(sess.run({
            "spectrum": spectrum[:5], "back": back[:4], "frames": frames[1, :4], "stft": stft[2, 3:6],
            "log_mel": log_mel[1], "plane": plane[0, :3], "plane2": plane[3, :2]}).items()):
        print(name, value.real, value.imag)
    print(sess.run([product, segments, unsorted, scattered]))
    print(sess.run(tf.sparse_tensor_to_dense(added)), sess.run(retained))
    print(sess.run(softmaxed).values)
    for _ in range(3):
        print("combined", sess.run([combined, train])[0].ravel())
    print(sess.run(tf.sparse_reorder(tf.SparseTensor([[1, 0], [0, 1]], ["b", "a"], [2, 2]))).values)
