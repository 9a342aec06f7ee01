"""Text: splitting, hashing, vocabularies, lookup tables, bags of words, n-grams; serialised examples parsed again."""
import tensorflow as tf

tf.set_random_seed(25)
texts = ["the cat sat", "the dog ran off", "a cat and a dog", "off the mat"]
classes = [0, 1, 1, 0]
sentences = tf.placeholder(tf.string, [None])
words = tf.string_split(sentences)
table = tf.contrib.lookup.index_table_from_tensor(["the", "a", "cat", "dog"], num_oov_buckets=3)
names = tf.contrib.lookup.index_to_string_table_from_tensor(["the", "a", "cat", "dog"], default_value="?")
ids = table.lookup(words)
padded = tf.sparse_tensor_to_dense(ids, default_value=-1)
hashed = tf.string_to_hash_bucket_fast(words.values, 100)
bag = tf.reduce_sum(tf.one_hot(padded, 7), 1)
logits = tf.layers.dense(bag, 1)
labels = tf.constant(classes, tf.float32)[:, None]
loss = tf.losses.hinge_loss(labels, logits)
train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
prices = tf.contrib.lookup.HashTable(
    tf.contrib.lookup.KeyValueTensorInitializer(["cat", "dog"], [1.5, 2.5]), -1.0)
priced = prices.lookup(words.values)

serialized = []
for text, c in zip(texts, classes):
    feature = {"text": tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()])),
               "class": tf.train.Feature(int64_list=tf.train.Int64List(value=[c])),
               "parts": tf.train.Feature(float_list=tf.train.FloatList(value=[len(p) / 2.0 for p in text.split()]))}
    serialized.append(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
with tf.python_io.TFRecordWriter("texts.tfrecords") as writer:
    for one in serialized:
        writer.write(one)
print("records", len(list(tf.python_io.tf_record_iterator("texts.tfrecords"))))
parsed = tf.parse_example(tf.constant(serialized), {
    "text": tf.FixedLenFeature([], tf.string), "class": tf.FixedLenFeature([], tf.int64),
    "parts": tf.VarLenFeature(tf.float32)})

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    feed = {sentences: texts}
    print(sess.run(words, feed).values)
    print(sess.run(padded, feed), sess.run(hashed, feed))
    print(sess.run(names.lookup(tf.constant([3, 0, 9], tf.int64))), sess.run(priced, feed))
    for i in range(4):
        print("loss", sess.run([loss, train], feed)[0])
    print("bag", sess.run(bag, feed)[2], sess.run(logits, feed).ravel())
    found = sess.run(parsed)
    print(found["text"], found["class"], found["parts"].values)
    print(sess.run([tf.string_join(["a", "b"], "-"), tf.as_string(3.25), tf.string_to_number("1e3"),
                    tf.substr("abcdef", 1, 3), tf.regex_replace("a1b22", "[0-9]+", "#")]))
