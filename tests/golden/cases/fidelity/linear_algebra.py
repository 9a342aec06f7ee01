"""Linear algebra: least squares, Cholesky, QR, eigenvalues, SVD, determinants, einsum and tensordot."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(64)
np.random.seed(64)
A = tf.random_normal([6, 4], dtype=tf.float64)
b = tf.constant(np.random.rand(6, 1))
square = tf.matmul(A, A, transpose_a=True) + 0.1 * tf.eye(4, dtype=tf.float64)
chol = tf.cholesky(square)
solution = tf.matrix_solve_ls(A, b, l2_regularizer=0.1)
by_hand = tf.cholesky_solve(chol, tf.matmul(A, b, transpose_a=True))
q, r = tf.qr(A)
e, v = tf.self_adjoint_eig(square)
s, u, w = tf.svd(A)
inverse = tf.matrix_inverse(square)
log_det = 2.0 * tf.reduce_sum(tf.log(tf.diag_part(chol)))
triangular = tf.matrix_triangular_solve(chol, tf.ones([4, 1], tf.float64))
contracted = tf.einsum("ij,kj->ik", A, A)
dotted = tf.tensordot(A, A, axes=[[0, 1], [0, 1]])
gradient = tf.gradients(tf.matrix_determinant(square) + tf.trace(inverse), A)[0]
single = tf.random_uniform([3, 3])
product = tf.matmul(single, tf.matrix_band_part(single, -1, 0))

with tf.Session() as sess:
    found = sess.run([solution, by_hand, tf.abs(r), e, tf.abs(v), s, log_det, triangular, contracted, dotted,
                      gradient, A])
    np.set_printoptions(precision=8)
    for name, value in zip("solution by_hand r e v s log_det triangular contracted dotted gradient A".split(), found):
        print(name, np.shape(value), np.ravel(value)[:5])
    print("residual %.9f" % np.linalg.norm(found[-1].dot(found[0]) - np.ones((6, 1)) * 0.5))
    print(sess.run([single, product]))
    print("norms", sess.run([tf.norm(A), tf.norm(A, ord=1), tf.global_norm([single, product])]))
    print("inverse %s" % np.allclose(*sess.run([tf.matmul(inverse, square), tf.eye(4, dtype=tf.float64)])))
