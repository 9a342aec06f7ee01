"""Orbits of the planets, computed inside the graph with tf.while_loop.

Five small numeric programs, each one a loop of tiny steps:
  1. Kepler's equation by Newton's method, until it converges;
  2. a year by year record of Jupiter with a leapfrog integrator and a
     TensorArray, the step chosen with tf.cond;
  3. the periods of all planets with tf.scan;
  4. shooting: the launch speed that reaches a given place, found with the
     gradient through the loop;
  5. the same kind of step driven from Python, one session.run each.
"""
from __future__ import division
from __future__ import print_function

import argparse
import csv
import math
import os

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
GM = 4 * math.pi ** 2  # of the Sun, in astronomical units and years


def load_planets():
    with open(os.path.join(HERE, 'data', 'planets.csv')) as f:
        rows = list(csv.DictReader(f))
    names = [row['planet'] for row in rows]
    columns = [np.array([float(row[c]) for row in rows])
               for c in ('semi_major_axis', 'eccentricity', 'mass')]
    return [names] + columns


def kepler(mean_anomaly, ecc, tolerance=1e-12):
    """Eccentric anomaly E with E - e sin E = M, and the iterations used."""

    def not_converged(i, anomaly, change):
        return tf.logical_and(i < 50,
                              tf.reduce_max(tf.abs(change)) > tolerance)

    def newton(i, anomaly, change):
        change = ((anomaly - ecc * tf.sin(anomaly) - mean_anomaly)
                  / (1.0 - ecc * tf.cos(anomaly)))
        return i + 1, anomaly - change, change

    start = mean_anomaly + ecc * tf.sin(mean_anomaly)
    i, anomaly, _ = tf.while_loop(
        not_converged, newton,
        [tf.constant(0), start, tf.ones_like(start)])
    return anomaly, i


def acceleration(position):
    r2 = tf.reduce_sum(tf.square(position), -1, keepdims=True)
    return -GM * position / (r2 * tf.sqrt(r2))


def leapfrog(position, velocity, dt):
    velocity = velocity + 0.5 * dt * acceleration(position)
    position = position + dt * velocity
    velocity = velocity + 0.5 * dt * acceleration(position)
    return position, velocity


def energy(position, velocity):
    return (0.5 * tf.reduce_sum(tf.square(velocity), -1)
            - GM / tf.norm(position, axis=-1))


def record(position, velocity, num_records, time_between, near):
    """The orbit at regular times; short steps where closer than `near`."""
    positions = tf.TensorArray(tf.float64, size=num_records,
                               element_shape=[2])
    energies = tf.TensorArray(tf.float64, size=num_records)

    def substeps(k, n, dt, p, v):
        p, v = leapfrog(p, v, dt)
        return k + 1, n, dt, p, v

    def body(i, p, v, count, positions, energies):
        n = tf.cond(tf.norm(p) < near, lambda: 400, lambda: 200)
        dt = time_between / tf.cast(n, tf.float64)
        _, _, _, p, v = tf.while_loop(
            lambda k, n, *_: k < n, substeps, [0, n, dt, p, v])
        return (i + 1, p, v, count + n, positions.write(i, p),
                energies.write(i, energy(p, v)))

    _, _, _, count, positions, energies = tf.while_loop(
        lambda i, *_: i < num_records, body,
        [0, position, velocity, 0, positions, energies],
        parallel_iterations=1)
    return positions.stack(), energies.stack(), count


def perihelion(a, e):
    """Position and velocity where the planet is closest to the Sun."""
    distance = a * (1 - e)
    speed = math.sqrt(GM * (1 + e) / distance)
    return np.array([distance, 0.0]), np.array([0.0, speed])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--years', type=int, default=24)
    parser.add_argument('--small_steps', type=int, default=8000)
    args = parser.parse_args()
    names, axis, ecc, mass = load_planets()
    sess = tf.InteractiveSession()

    print('1. Kepler')
    mean_anomaly = tf.placeholder(tf.float64, [None])
    anomaly, iterations = kepler(mean_anomaly, tf.constant(ecc))
    for day in (10, 100, 1000):
        phase = 2 * math.pi * ((day / 365.25) / axis ** 1.5 % 1.0)
        value, n = sess.run([anomaly, iterations], {mean_anomaly: phase})
        print('   day %4d, %d iterations: %s'
              % (day, n, ' '.join('%.6f' % v for v in value)))

    print('2. Jupiter')
    k = names.index('Jupiter')
    where, speed = perihelion(axis[k], ecc[k])
    positions, energies, count = record(
        tf.constant(where), tf.constant(speed), args.years,
        tf.constant(1.0, tf.float64), near=axis[k])
    track, drift, steps = sess.run([positions, energies, count])
    for year in range(0, args.years, 4):
        print('   year %2d  x %9.5f  y %9.5f'
              % (year + 1, track[year, 0], track[year, 1]))
    exact = -GM / (2 * axis[k])
    print('   %d steps, energy off by at most %.1e of itself'
          % (steps, np.max(np.abs(drift / exact - 1))))

    print('3. Periods')
    starts = [perihelion(a, e) for a, e in zip(axis, ecc)]
    p0 = tf.constant(np.array([p for p, _ in starts]))
    v0 = tf.constant(np.array([v for _, v in starts]))
    dt = tf.constant(axis[:, np.newaxis] ** 1.5 / 400)
    p, _ = tf.scan(lambda state, _: leapfrog(state[0], state[1], dt),
                   tf.range(500), initializer=(p0, v0))
    y = p[:, :, 1].eval()
    for j, name in enumerate(names):
        # Back over the starting line: y goes from negative to positive.
        i = int(np.flatnonzero((y[:-1, j] < 0) & (y[1:, j] >= 0))[0])
        crossing = i + 1 + y[i, j] / (y[i, j] - y[i + 1, j])
        years = crossing / 400 * axis[j] ** 1.5
        print('   %-8s %8.3f years, by Kepler\'s third law %8.3f'
              % (name, years, math.sqrt(axis[j] ** 3 / (1 + mass[j]))))

    print('4. From the Earth to Mars in 0.7 years')
    guess = tf.Variable([0.3, 7.0], dtype=tf.float64, name='launch')
    start = tf.constant([1.0, 0.0], tf.float64)
    target = tf.constant([1.52368 * math.cos(2.5), 1.52368 * math.sin(2.5)],
                         tf.float64)
    _, end, _ = tf.while_loop(
        lambda i, p, v: i < 60,
        lambda i, p, v: (i + 1,) + leapfrog(p, v, 0.7 / 60),
        [0, start, guess])
    miss = tf.reduce_sum(tf.square(end - target))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(miss)
    tf.global_variables_initializer().run()
    for i in range(61):
        if i % 15 == 0:
            print('   try %2d: misses by %.5f' % (i, math.sqrt(miss.eval())))
        train.run()
    print('   launch at %.4f, %.4f' % tuple(guess.eval()))

    print('5. Small steps')
    position = tf.Variable(where, name='position')
    velocity = tf.Variable(speed, name='velocity')
    p, v = leapfrog(position, velocity, 0.005)
    with tf.control_dependencies([p, v]):
        step = tf.group(position.assign(p), velocity.assign(v))
    sess.run(tf.variables_initializer([position, velocity]))
    for i in range(args.small_steps):
        sess.run(step)
    print('   after %.2f years: x %.5f y %.5f, energy %.6f'
          % (((i + 1) * 0.005,) + tuple(position.eval())
             + (energy(position, velocity).eval(),)))
    sess.close()


if __name__ == '__main__':
    main()
