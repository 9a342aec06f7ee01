"""Powers of symmetric positive definite matrices by iteration: square roots and inverse roots."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["matrix_inverse_pth_root", "matrix_square_root"]


def matrix_square_root(mat_a: Any, mat_a_size: int, iter_count: int = 100, ridge_epsilon: float = 1e-4) -> Any:
    """The square root of ``mat_a`` [N, N] (Higham, "Stable iterations for the matrix square root", 2.6b).

    Args:
        mat_a: A symmetric matrix without negative eigenvalues.
        mat_a_size: N.
        iter_count: The most iterations.
        ridge_epsilon: Added to the diagonal first.
    """
    identity = tf.eye(mat_a_size)
    mat_a += ridge_epsilon * identity
    norm = tf.norm(mat_a)

    def going_on(count: Any, _: Any, __: Any, before: Any, now: Any) -> Any:
        return tf.logical_and(count < iter_count, now < before)

    def step(count: Any, y: Any, z: Any, _: Any, now: Any) -> list[Any]:
        correction = 0.5 * (3.0 * identity - tf.matmul(z, y))
        new_y = tf.matmul(y, correction)
        return [count + 1, new_y, tf.matmul(correction, z), now, tf.norm(tf.matmul(new_y, new_y) - mat_a / norm)]

    start = [tf.constant(0), mat_a / norm, identity, tf.constant(float("inf")), tf.norm(mat_a)]
    _, root, _, _, _ = tf.while_loop(going_on, step, start)
    return root * tf.sqrt(norm)


def _whole_power(matrix: Any, p: int) -> Any:
    """``matrix`` to the power of ``p``, 1 or more, by squaring."""
    if p == 1:
        return matrix
    half = _whole_power(matrix, p // 2)
    square = tf.matmul(half, half)
    return tf.matmul(square, matrix) if p % 2 else square


def matrix_inverse_pth_root(
    mat_g: Any,
    mat_g_size: int,
    alpha: float,
    iter_count: int = 100,
    epsilon: float = 1e-6,
    ridge_epsilon: float = 1e-6,
) -> Any:
    """``mat_g ** alpha`` where alpha is -1/p (Guo and Higham, "A Schur-Newton method for the matrix p-th root", 3.2).

    Args:
        mat_g: A symmetric matrix without negative eigenvalues, [N, N].
        mat_g_size: N.
        alpha: -1/p for a positive whole number p.
        iter_count: The most iterations.
        epsilon: It stops when no element of the residual is greater.
        ridge_epsilon: Added to the diagonal first.
    """
    identity = tf.eye(mat_g_size)
    mat_g += ridge_epsilon * identity
    p = round(-1.0 / alpha)
    scale = (1 + p) / (2 * tf.norm(mat_g))

    def going_on(count: Any, m: Any, _: Any, __: Any, error: Any, before: Any) -> Any:
        return tf.logical_and(tf.logical_and(error > epsilon, count < iter_count), error < 1.2 * before)

    def step(count: Any, m: Any, h: Any, _: Any, error: Any, __: Any) -> list[Any]:
        factor = (1 - alpha) * identity + alpha * m
        new_m = tf.matmul(_whole_power(factor, p), m)
        return [count + 1, new_m, tf.matmul(h, factor), h, tf.reduce_max(tf.abs(new_m - identity)), error]

    m = mat_g * scale
    error = tf.reduce_max(tf.abs(m - identity))
    h = identity * tf.pow(scale, -alpha)
    _, _, h, last, error, before = tf.while_loop(going_on, step, [tf.constant(0), m, h, h, error, error])
    return tf.where(error < 1.2 * before, h, last)
