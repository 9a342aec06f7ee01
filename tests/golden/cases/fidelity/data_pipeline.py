"""tf.data: shuffle, batch, repeat, random functions in map, padded batches, zip, filter, interleave, iterators."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(2018)
features = np.arange(20, dtype=np.float32)
labels = np.arange(20) % 3


def augment(x, y):
    x = x + tf.random_uniform([], -0.1, 0.1)
    return x * tf.random_normal([]), y


dataset = tf.data.Dataset.from_tensor_slices((features, labels))
dataset = dataset.shuffle(buffer_size=8).map(augment).batch(6).repeat(2).prefetch(1)
iterator = dataset.make_initializable_iterator()
x, y = iterator.get_next()

words = tf.data.Dataset.range(1, 7).map(lambda n: tf.fill([n % 4 + 1], n)).padded_batch(3, [None])
padded = words.make_one_shot_iterator().get_next()

pairs = tf.data.Dataset.zip((tf.data.Dataset.range(10).filter(lambda n: n % 2 > 0), tf.data.Dataset.range(10, 15)))
pairs = pairs.shuffle(10, seed=3).make_one_shot_iterator().get_next()

mixed = tf.data.Dataset.range(3).interleave(
    lambda n: tf.data.Dataset.from_tensors(n).repeat(3), cycle_length=2, block_length=2).batch(9)
mixed = mixed.make_one_shot_iterator().get_next()

train = tf.data.Dataset.from_tensor_slices(features[:12]).apply(
    tf.data.experimental.shuffle_and_repeat(12, 2)).batch(4)
test = tf.data.Dataset.from_tensor_slices(features[12:]).batch(4)
handle = tf.placeholder(tf.string, [])
both = tf.data.Iterator.from_string_handle(handle, train.output_types, train.output_shapes).get_next()
train_iterator, test_iterator = train.make_one_shot_iterator(), test.make_one_shot_iterator()
generated = tf.data.Dataset.from_generator(lambda: iter([[1, 2], [3, 4]]), tf.int64, [2])
generated = generated.make_one_shot_iterator().get_next()

with tf.Session() as sess:
    for epoch in range(2):
        sess.run(iterator.initializer)
        try:
            while True:
                a, b = sess.run([x, y])
                print(epoch, a, b)
        except tf.errors.OutOfRangeError:
            print("end of epoch", epoch)
    print(sess.run(padded))
    print([sess.run(pairs) for _ in range(5)])
    print(sess.run(mixed), sess.run(generated))
    for one in (train_iterator, test_iterator, train_iterator):
        print(sess.run(both, {handle: sess.run(one.string_handle())}))
