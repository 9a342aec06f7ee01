"""A queue of strings that threads drain: the words of Shakespeare's sonnets.

As tutorials print it, such a program does not run.  Its threads make their
own dequeue operations, in a graph that is not theirs; all strings are put in
before anybody takes one out, and do not fit; nobody closes the queue, so that
the threads wait for more when all is done.  Here the graph is there before
the threads are, the strings are put in while they are taken out, and the
queue is closed after the last one: then each thread finds it empty and ends.
"""
from __future__ import print_function

import collections
import os
import re
import threading

import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
SONNETS = os.path.join(HERE, 'data', 'sonnets.txt')
NUM_THREADS = 3


def main():
    queue = tf.FIFOQueue(100, tf.string, shapes=[()], name='verses')
    verse = tf.placeholder(tf.string, [], name='verse')
    put, take, close = queue.enqueue(verse), queue.dequeue(), queue.close()

    words, verses = collections.Counter(), []
    lock = threading.Lock()

    def drain(sess, coord):
        # OutOfRangeError, at the end of the queue, is a way to stop: join()
        # raises other errors, and not this one.
        with coord.stop_on_exception():
            while True:
                line = sess.run(take).decode('utf-8')
                found = re.findall("[a-z']+", line.lower())
                with lock:
                    verses.append(line)
                    words.update(found)

    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = [threading.Thread(target=drain, args=(sess, coord))
                   for _ in range(NUM_THREADS)]
        for thread in threads:
            thread.start()
        with coord.stop_on_exception(), open(SONNETS) as sonnets:
            for line in sonnets:
                if line.strip():
                    sess.run(put, {verse: line.strip()})
            sess.run(close)
        coord.join(threads)

    total = sum(words.values())
    print('%d verses, %d words, %d different ones'
          % (len(verses), total, len(words)))
    print('the longest verse: %s' % max(verses, key=lambda v: (len(v), v)))
    print('a word has %.3f letters'
          % (sum(len(word) * n for word, n in words.items()) / float(total)))
    for word, count in sorted(words.items(), key=lambda w: (-w[1], w[0]))[:8]:
        print('    %-6s %3d times, %.3f %%'
              % (word, count, 100.0 * count / total))


if __name__ == '__main__':
    main()
