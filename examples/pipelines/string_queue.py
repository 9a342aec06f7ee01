"""../string_queue.py on a QueuePipeline: threads drain a queue of strings.

The strings go in and come out in blocks, in whatever number is there.
"""

import collections
import os
import re
import threading

import tf1sessions as t1

tf = t1.tf1

HERE = os.path.dirname(os.path.abspath(__file__))
SONNETS = os.path.join(HERE, '..', 'data', 'sonnets.txt')
NUM_THREADS = 3


def read():
    """The verses, without the empty lines between the sonnets."""
    with open(SONNETS) as sonnets:
        for line in sonnets:
            if line.strip():
                yield line.strip()


def main():
    words, verses = collections.Counter(), []
    lock = threading.Lock()

    def drain(item):
        line = item.decode('utf-8')
        found = re.findall("[a-z']+", line.lower())
        with lock:
            verses.append(line)
            words.update(found)

    with t1.GraphSession() as gs, t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue('verses', capacity=100, dtypes=[tf.string],
                           shapes=[()])
        pipe.source(queue, read)
        pipe.sink('drain', queue, drain, threads=NUM_THREADS)

    total = sum(words.values())
    print('%d verses, %d words, %d different ones'
          % (len(verses), total, len(words)))
    print('the longest verse: %s' % max(verses, key=lambda v: (len(v), v)))
    print('a word has %.3f letters'
          % (sum(len(word) * n for word, n in words.items()) / total))
    for word, count in sorted(words.items(), key=lambda w: (-w[1], w[0]))[:8]:
        print('    %-6s %3d times, %.3f %%'
              % (word, count, 100.0 * count / total))


if __name__ == '__main__':
    main()
