"""One process trains on the device while the main program goes on: it makes data, and looks at the loss now and then.

Run it: python examples/serving/train_aside.py
"""

from __future__ import annotations

import numpy as np

import tf1sessions as t1

STEPS = 200


def training(gs):
    """Runs once in the server's process, which alone loads TensorFlow and opens the device."""
    tf = t1.tf1
    gs.graph.seed = 1
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    hidden = tf.nn.tanh(x @ tf.get_variable("inner", [2, 16]) + tf.get_variable("bias", [16]))
    guess = tf.reshape(hidden @ tf.get_variable("outer", [16, 1]), [-1])
    loss = tf.reduce_mean(tf.square(guess - y))
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    gs.initialize()
    return {
        "step": ({"x": x, "y": y}, {"loss": loss, "train": train}),
        "predict": ({"x": x}, {"guess": guess}),
    }


def main():
    random = np.random.default_rng(0)

    def batch():
        x = random.uniform(-1, 1, [64, 2]).astype(np.float32)
        return {"x": x, "y": x[:, 0] * x[:, 1]}

    with t1.SessionServer(requests=training) as server, t1.SessionClient(server.address) as client:
        step, predict = client.request("step"), client.request("predict")
        first = step(**batch())["loss"]
        waiting = step.submit(**batch())
        for _ in range(STEPS):
            following = batch()  # made while the server computes
            last = waiting.result()["loss"]
            waiting = step.submit(**following)
        waiting.result()
        guess = predict(x=np.array([[0.5, 0.5]], np.float32))["guess"]
        print(f"the loss fell to less than a tenth: {bool(last < first / 10)}")
        print(f"0.5 * 0.5 is about 0.25: {bool(abs(guess[0] - 0.25) < 0.1)}")


if __name__ == "__main__":
    main()
