"""More programs for the tests of the step ``native``: functions that build, and what graphs keep."""

from __future__ import annotations

from native_programs import program

__all__ = ["STATE_PROGRAMS"]

STATE_PROGRAMS = {
    "functions that build what requests ask for apart": program(
        """
        RATE = 0.1

        # Where the data
        # goes.
        def placeholders(n=6, k=1):
            \"\"\"Make what is fed.

            Of a batch.
            \"\"\"
            x = tf.placeholder(tf.float32, [None, n], name='x')
            y = tf.placeholder(tf.float32, [None, k])
            return x, y

        def layer(x, m, n):
            return tf.matmul(x, tf.Variable(tf.random_normal([m, n])))

        def build(x, y, units, rate=RATE):
            x = x * 2.0  # scaled
            scale = lambda t: t * 0.5
            out = layer(tf.tanh(layer(x, 6, units)), units, 1)

            for i in range(3):
                out += scale(x)[:, i:i + 1]
            difference = out - y
            loss = tf.reduce_mean([tf.square(v) for v in [difference]])
            tf.summary.scalar('loss', loss)
            train = training(loss, rate)
            return train, loss, out * 2

        def training(loss, rate):
            optimizer = tf.train.AdamOptimizer(rate)
            return optimizer.minimize(loss)

        def swapped(a, b):
            factor = tf.placeholder_with_default(3.0, [])
            return b * factor, a * factor

        def count(w):
            return tf.group(tf.assign_add(w, 1.0), tf.assign_add(w, 2.0))

        def main():
            i = 4
            a, b = placeholders()
            with tf.name_scope('build'):
                step, cost, doubled = build(a, b, units=i)
            a2, b2 = tf.reduce_sum(a), tf.reduce_sum(b)
            a2, b2 = swapped(a2, b2)
            counter = tf.Variable(0.0)
            counting = count(counter)
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for difference in range(3):
                    _, c, d = sess.run([step, cost, doubled], {a: data, b: target})
                    print(difference, c, d.sum(), sess.run([a2, b2], {a: data, b: target}))
                    sess.run(counting)
                print(sess.run(counter))

        main()
        """
    ),
    "iterators that begin anew": program(
        """
        def input_fn(rows):
            dataset = tf.data.Dataset.from_tensor_slices((data, target))
            dataset = dataset.take(rows).repeat().batch(8)
            return dataset.make_one_shot_iterator().get_next()

        epochs = tf.data.Dataset.from_tensor_slices(data).batch(16).make_initializable_iterator()
        rows = tf.placeholder(tf.float32, [None, 6])
        fold = tf.placeholder(tf.int64, [])
        fed = tf.data.Dataset.from_tensor_slices(rows)
        fed = tf.data.Dataset.zip((tf.data.Dataset.range(100), fed)).filter(lambda i, _: tf.not_equal(i % 2, fold))
        of_fed = tf.data.make_initializable_iterator(fed.batch(4))
        one, other = tf.data.Dataset.range(3), tf.data.Dataset.range(5, 9)
        either = tf.data.Iterator.from_structure(one.output_types, one.output_shapes)
        begin_one = either.make_initializer(one)
        begin_other = either.make_initializer(other)

        features, labels = input_fn(20)
        w = tf.get_variable('w', [6, 1])
        loss = tf.reduce_mean(tf.abs(tf.matmul(features, w) - labels))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        total = tf.reduce_sum(tf.matmul(epochs.get_next(), w))
        _, fed_rows = of_fed.get_next()
        size = tf.reduce_sum(fed_rows)
        start = tf.data.Dataset.from_tensor_slices(rows).batch(5).make_initializable_iterator()
        first = tf.reduce_sum(start.get_next())
        number = either.get_next()

        def evaluate(sess, which):
            sess.run([of_fed.initializer], feed_dict={rows: data[:9], fold: which})
            while True:
                try:
                    print('size', sess.run(size))
                except tf.errors.OutOfRangeError:
                    return

        with tf.Session() as sess:
            sess.run([start.initializer, tf.global_variables_initializer()], feed_dict={rows: data})
            print('first', sess.run(first), sess.run(first))
            for epoch in range(2):
                sess.run(epochs.initializer)
                try:
                    while True:
                        print('total', sess.run(total), sess.run([train, loss])[1])
                except tf.errors.OutOfRangeError:
                    evaluate(sess, epoch)
                sess.run(begin_one)
                print(sess.run(number), sess.run(number))
                sess.run(begin_other)
                print(sess.run(number), sess.run(number))
        """
    ),
    "functions of a data set that begins anew, which are traced once": program(
        """
        def scaled(row):
            print('traced', row.dtype)
            return row * 1.5

        rows = tf.placeholder(tf.float32, [None, 6])
        iterator = tf.data.Dataset.from_tensor_slices(rows).map(scaled).batch(4).make_initializable_iterator()
        total = tf.reduce_sum(tf.layers.dense(iterator.get_next(), 1))

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for size in (5, 9, 7):
                sess.run(iterator.initializer, {rows: data[:size]})
                print(sess.run(total), sess.run(total))
        """
    ),
    "metrics and local variables that begin anew": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        labels = tf.placeholder(tf.int32, [None])
        scores = tf.layers.dense(x, 2)
        loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=scores)
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        predicted = tf.argmax(scores, axis=1)
        with tf.name_scope('metrics'):
            accuracy, update = tf.metrics.accuracy(labels=labels,
                                                   predictions=predicted)
            mean, _ = tf.metrics.mean(loss)
            _, other = tf.metrics.mean(loss * 2.0)
            table = tf.get_variable('table', [2, 2], tf.int32, tf.zeros_initializer(), trainable=False,
                                    collections=[tf.GraphKeys.LOCAL_VARIABLES])
            count = tf.assign_add(table, tf.confusion_matrix(labels, predicted, num_classes=2))
        reset = tf.variables_initializer(tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for epoch in range(2):
                sess.run(reset)
                for i in range(4):
                    feed = {x: data[i * 10:][:10], labels: target[i * 10:][:10, 0]}
                    print(sess.run([train, update, other, count], feed)[1:])
                print('epoch', epoch, sess.run(accuracy), sess.run([accuracy, mean, table]))
        """
    ),
    "losses that the graph keeps": program(
        """
        def penalty(w):
            return 0.1 * tf.nn.l2_loss(w)

        def losses(out, y, w):
            first = tf.losses.mean_squared_error(y, out)
            tf.losses.add_loss(penalty(w))
            return first, tf.losses.get_total_loss()

        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.Variable(tf.ones([6, 1]))
        out = tf.matmul(x, w)
        error, total = losses(out, y, w)
        extra = tf.reduce_mean(tf.abs(out))
        tf.losses.add_loss(extra)
        with tf.name_scope('losses'):
            second = tf.losses.get_total_loss(name='total')
        third = tf.reduce_max(tf.losses.get_losses())
        train = tf.train.GradientDescentOptimizer(0.01).minimize(second)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for k in range(3):
                print(sess.run([train, total, second, third, error], {x: data, y: target})[1:])
        """
    ),
    "learning rates that change": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.placeholder(tf.float32, [None, 1])
        rate = tf.placeholder(tf.float32, [])
        a, b = tf.Variable(tf.ones([6, 1])), tf.Variable(tf.ones([6, 1]))
        c, d = tf.Variable(tf.ones([6, 1])), tf.Variable(tf.ones([6, 1]))
        slow = tf.Variable(0.01, trainable=False)
        step = tf.train.get_or_create_global_step()
        decayed = tf.train.exponential_decay(0.05, step, 1, 0.5)
        loss_a = tf.reduce_mean(tf.square(tf.matmul(x, a) - y))
        loss_b = tf.reduce_mean(tf.square(tf.matmul(x, b) - y))
        loss_c = tf.reduce_mean(tf.square(tf.matmul(x, c) - y))
        loss_d = tf.reduce_mean(tf.square(tf.matmul(x, d) - y))
        momentum = tf.train.MomentumOptimizer(decayed, 0.9, use_nesterov=True)
        train_a = momentum.minimize(loss_a, global_step=step)
        train_b = tf.train.RMSPropOptimizer(learning_rate=rate).minimize(loss_b)
        train_c = tf.train.MomentumOptimizer(learning_rate=slow, momentum=0.9).minimize(loss_c)
        train_d = tf.train.FtrlOptimizer(rate * 2).minimize(loss_d)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for k in range(4):
                print(sess.run([train_a, loss_a], {x: data, y: target})[1])
                feed = {x: data, y: target, rate: 0.01 / (k + 1)}
                print(sess.run([train_b, loss_b], feed)[1], sess.run([train_d, loss_d], feed)[1])
                sess.run(slow.assign(0.02 * k))
                print(sess.run([train_c, loss_c], {x: data, y: target})[1])
            a, slow = sess.run([a, slow])
        x, rate = data[:, :1], 3.0
        print(a.ravel(), np.add(x * rate, slow).sum())
        """
    ),
    "moving averages of variables": program(
        """
        import os
        import tempfile

        def training(loss, step):
            optimizer = tf.train.GradientDescentOptimizer(0.1)
            pairs = optimizer.compute_gradients(loss)
            apply_gradients = optimizer.apply_gradients(pairs, global_step=step)
            averages = tf.train.ExponentialMovingAverage(0.9, step)
            with tf.control_dependencies([apply_gradients]):
                update = averages.apply(tf.trainable_variables())
            with tf.control_dependencies([update]):
                train = tf.no_op(name='train')
            return train, averages

        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.get_variable('w', [4, 1], initializer=tf.ones_initializer())
        h = tf.layers.dense(x, 4, tf.nn.tanh)
        loss = tf.reduce_mean(tf.square(tf.matmul(h, w) - y))
        step = tf.train.get_or_create_global_step()
        train, ema = training(loss, step)
        half = tf.train.ExponentialMovingAverage(0.5)
        with tf.control_dependencies([train]):
            both = half.apply([w])
        mean_w = half.average(w)
        mean_loss = tf.reduce_mean(tf.square(tf.matmul(h, mean_w) - y))
        feed = {x: data, y: target}
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for k in range(4):
                print(sess.run([both, loss], feed_dict=feed)[1])
                print(sess.run(mean_loss, feed_dict=feed), sess.run(mean_w).ravel(), sess.run(ema.average(w)).ravel())
            path = tf.train.Saver().save(sess, os.path.join(tempfile.mkdtemp(), 'model'))
            averaged = ema.variables_to_restore()
            tf.train.Saver(averaged).restore(sess, path)
            print('averaged', sess.run(loss, feed_dict=feed), sess.run(step), sess.run([w, mean_w]))
        """
    ),
    "batch normalisation in training without its updates": program(
        """
        def network(x, training):
            for i in range(2):
                with tf.variable_scope('layer%d' % i):
                    x = tf.layers.dense(x, 4)
                    x = tf.layers.batch_normalization(x, training=training, momentum=0.8)
            return tf.layers.dense(tf.nn.relu(x), 1, name='out')

        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.placeholder(tf.float32, [None, 1])
        training = tf.placeholder(tf.bool, [])
        flag = tf.placeholder_with_default(True, [])
        loss = tf.losses.mean_squared_error(y, network(x, training))
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train = tf.train.AdagradOptimizer(0.3).minimize(loss)
        with tf.variable_scope('forgotten'):
            normalised = tf.layers.batch_normalization(x, training=flag)
        forgotten = tf.reduce_mean(tf.square(tf.layers.dense(normalised, 1, name='last') - y))
        train_forgotten = tf.train.AdagradOptimizer(0.3).minimize(forgotten)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(4):
                print('training', sess.run([train, loss], {x: data, y: target, training: True})[1])
                print('a batch', sess.run(loss, {x: data[:5], y: target[:5], training: True}))
                print('not', sess.run(loss, {x: data, y: target, training: False}))
                print('forgotten', sess.run([train_forgotten, forgotten], {x: data, y: target})[1])
                print('forgotten', sess.run(forgotten, {x: data, y: target, flag: False}))
            mean = tf.get_default_graph().get_tensor_by_name('layer1/batch_normalization/moving_mean:0')
            print(sess.run(mean))
        """
    ),
    "queue runners whose threads the program starts": program(
        """
        def sums(rows, numbers):
            total = tf.get_variable('total', [6], initializer=tf.zeros_initializer())
            count = tf.Variable(0, name='count', trainable=False)
            step = tf.group(tf.assign_add(total, tf.reduce_sum(rows, 0)), tf.assign_add(count, tf.size(numbers)))
            return step, total, count

        x = tf.placeholder(tf.float32, [None, 6])
        first = tf.FIFOQueue(50, tf.float32, shapes=[[6]])
        second = tf.FIFOQueue(4, [tf.float32, tf.int32], shapes=[[6], []])
        put, close = first.enqueue_many([x]), first.close()
        third = tf.FIFOQueue(60, tf.float32, shapes=[[6]])
        move = third.enqueue(first.dequeue())
        # Two threads.
        filler = tf.train.QueueRunner(third, [move] * 2)
        runner = tf.train.QueueRunner(second, [second.enqueue([third.dequeue() * 2.0, 1]) for _ in range(2)])
        step, total, count = sums(*second.dequeue_up_to(3))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            coord = tf.train.Coordinator()
            threads = runner.create_threads(sess, coord=coord, start=True)
            others = filler.create_threads(sess, coord=coord, daemon=True, start=True)
            sess.run(put, {x: data})
            sess.run(close)
            try:
                while not coord.should_stop():
                    sess.run(step)
            except tf.errors.OutOfRangeError:
                print('no more')
            finally:
                coord.request_stop()
            coord.join(threads + others)
            total, count = sess.run([total, count])
        print(total, count)
        """
    ),
    "counters that wait for what fails": program(
        """
        rows = tf.data.Dataset.from_tensor_slices(data[:6, 0]).batch(2)
        again = rows.make_initializable_iterator()
        queue = tf.FIFOQueue(9, [tf.float32], shapes=[[]])
        put, close = queue.enqueue_many([data[:3, 1]]), queue.close()
        fed = tf.placeholder(tf.float32, [None])
        w = tf.Variable(1.0)
        total = tf.Variable(0.0, trainable=False)
        step, queued, once, steps, seen, more, checked = [tf.Variable(0, trainable=False) for _ in range(7)]

        def loss(x):
            return tf.reduce_mean(tf.square(w * x - 1))

        elements = again.get_next()
        decay = tf.train.exponential_decay(0.1, step, 3, 0.9)
        train = tf.train.RMSPropOptimizer(decay).minimize(loss(elements), global_step=step)
        sgd = tf.train.GradientDescentOptimizer(0.01)
        pairs = sgd.compute_gradients(loss(queue.dequeue()))
        of_queue = sgd.apply_gradients(pairs, global_step=queued)
        adam = tf.train.AdamOptimizer(0.1).minimize(loss(rows.make_one_shot_iterator().get_next()), global_step=once)
        with tf.control_dependencies([adam]):
            both = tf.group(tf.assign_add(steps, 1))
        with tf.control_dependencies([tf.assign_add(total, tf.reduce_sum(elements))]):
            count = tf.assign_add(seen, 1)
            count_more = tf.assign_add(more, 2)
        with tf.control_dependencies([tf.Assert(tf.reduce_sum(fed) > 2.0, [fed])]):
            train_fed = sgd.minimize(loss(fed), global_step=checked)

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(put)
            sess.run(close)
            for _ in range(9):
                sess.run(again.initializer)
                while True:
                    try:
                        sess.run(train)
                    except tf.errors.OutOfRangeError:
                        break
                sess.run(again.initializer)
                while True:
                    try:
                        sess.run([count, count_more])
                    except tf.errors.OutOfRangeError:
                        break
                while True:
                    try:
                        sess.run(of_queue)
                    except tf.errors.OutOfRangeError:
                        break
                while True:
                    try:
                        sess.run(both)
                    except tf.errors.OutOfRangeError:
                        break
                try:
                    sess.run(train_fed, {fed: [1.0]})
                except tf.errors.InvalidArgumentError:
                    sess.run(train_fed, {fed: [3.0]})
                print(sess.run([step, seen, more, queued, once, steps, checked]), sess.run([w, total]))
        """
    ),
    "layers that functions make as objects": program(
        """
        def network(x, units):
            hidden = tf.layers.Dense(units, tf.nn.tanh)
            x = tf.layers.dense(hidden(x), 6)
            x = hidden(x)
            for _ in range(2):
                layer = tf.layers.Dense(3)
                x = tf.layers.Dropout(0.5)(layer(x))
            last = tf.layers.Dense(1, name='last')
            return last(x)

        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.placeholder(tf.float32, [None, 1])
        loss = tf.reduce_mean(tf.square(network(x, 4) - y))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                print(sess.run([train, loss], {x: data, y: target})[1])
        """
    ),
    "checks and orders in functions that make layers": program(
        """
        def network(x):
            hidden = tf.layers.dense(x, 4, tf.nn.tanh)
            with tf.control_dependencies([tf.assert_less(x, 500.0)]):
                return tf.layers.dense(hidden, 1)


        def counted(x):
            with tf.variable_scope('counted'):
                count = tf.get_variable('count', [], initializer=tf.zeros_initializer(), trainable=False)
                before = count + 0.0
                with tf.control_dependencies([before]):
                    up = tf.assign_add(count, 1.0)
                with tf.control_dependencies([up, tf.assert_less(x, 500.0)]):
                    hidden = tf.layers.dense(x, 2) * before
                return tf.layers.dense(hidden, 1)

        x = tf.placeholder(tf.float32, [None, 6])
        y = network(x)
        z = counted(x)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for scale in (1.0, 1000.0, 2.0):
                try:
                    print(sess.run(y, {x: data * scale}).sum())
                    print(sess.run(z, {x: data * scale}).sum())
                except tf.errors.InvalidArgumentError:
                    print('refused', scale)
        """
    ),
    "checkpoints without numbers": program(
        """
        import os
        import tempfile
        w = tf.get_variable('w', [3])
        up = tf.assign_add(w, [1.0, 2.0, 3.0])
        saver = tf.train.Saver()
        folder = tempfile.mkdtemp()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(up)
            print(saver.save(sess, os.path.join(folder, 'first')) == os.path.join(folder, 'first'), sess.run(w))
            print(os.path.basename(tf.train.latest_checkpoint(folder)))
            sess.run(up)
            saver.save(sess, os.path.join(folder, 'second'), write_meta_graph=False)
            sess.run(up)
            saver.restore(sess, tf.train.latest_checkpoint(folder))
            print(os.path.basename(tf.train.latest_checkpoint(folder)), sess.run(w))
            print(os.path.exists(os.path.join(folder, 'checkpoint')))
        """
    ),
    "checkpoints without numbers, of which old ones are deleted": program(
        """
        import os
        import tempfile
        w = tf.get_variable('w', [3])
        saver = tf.train.Saver(max_to_keep=2)
        all_saver = tf.train.Saver(max_to_keep=None)
        five_saver = tf.train.Saver()
        folder = tempfile.mkdtemp()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run(w * 2.0).shape)
            for i in [1, 2, 1, 10, 3]:
                saver.save(sess, os.path.join(folder, 'a_%d' % i))
                all_saver.save(sess, os.path.join(folder, 'b_%d' % i))
            for i in range(7):
                print(os.path.basename(five_saver.save(sess, folder + '/c_' + str(i))))
            print(sorted(each for each in os.listdir(folder) if '.index' in each or '.data' in each))
        """
    ),
    "checkpoints that are written before the first step, or by a run that has nothing left to do": program(
        """
        import os
        import tempfile
        folder = tempfile.mkdtemp()

        def main(last):
            tf.reset_default_graph()
            x = tf.placeholder(tf.float32, [None, 6])
            step = tf.train.get_or_create_global_step()
            eight = tf.data.Dataset.from_tensor_slices(data[:8]).batch(4)
            rows = eight.make_initializable_iterator()
            hidden = tf.layers.dense(x, 3, tf.nn.tanh, kernel_initializer=tf.constant_initializer(0.1), name='h')
            out = tf.layers.dense(hidden, 1, kernel_initializer=tf.constant_initializer(0.2), name='out')
            loss = tf.reduce_mean(tf.square(out - 1.0))
            drift = tf.get_variable('drift', [6], initializer=tf.zeros_initializer())
            away = tf.reduce_mean(tf.square(rows.get_next() - drift))
            rate = tf.train.exponential_decay(0.1, step, 2, 0.5)
            train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
            drifting = tf.train.RMSPropOptimizer(0.1, momentum=0.5).minimize(away)
            saver = tf.train.Saver()
            with tf.Session() as sess:
                path = os.path.join(folder, 'model')
                if os.path.exists(path + '.index'):
                    saver.restore(sess, path)
                else:
                    sess.run(tf.global_variables_initializer())
                    saver.save(sess, path + '_first')
                while sess.run(step) < last:
                    sess.run(train, {x: data})
                    sess.run(rows.initializer)
                    _, _ = sess.run([drifting, step.op])
                    print(*sess.run([loss, rate], {x: data}), sess.run(drift).sum())
                saver.save(sess, path)
                saver.restore(sess, path + '_first')
                print(sess.run(loss, {x: data}), sess.run(step), sess.run(drift).sum())

        if __name__ == '__main__':
            for last in (2, 2, 4):
                main(last)
        """
    ),
    "operations are fetched, and the list of them is unpacked or kept": program(
        """
        n = tf.Variable(0)
        m = tf.Variable(1.0)
        count = tf.assign_add(n, 1)
        first = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(m - 3.0))
        with tf.control_dependencies([count]):
            total = tf.identity(m) * 2.0
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(2):
                _, _ = sess.run([first, m.op])
                _ = sess.run((first, n.op))
                print(sess.run(m), sess.run([total, m.op]), sess.run(n))
                kept = sess.run([count.op, total.op])
                print(kept, sess.run((n.op, m.op)), sess.run(n))
            sess.run([n.op, n.assign(4).op])
            print(sess.run(n))
            sess.run(n.assign_add(1).op)
            sess.run(tf.assign_add(n, 9).op)
            print(sess.run(n), sess.run(count.op), sess.run(n))
            print(sess.run([m.op, n])[0], sess.run([m.op, n])[-1], sess.run([m.op, n]))
        """
    ),
    "lists of tensors that are joined, and functions that call themselves": program(
        """
        x = tf.placeholder(tf.float32, [None])
        w = tf.Variable(1.5)

        def heads(t):
            return [t * w, t + w]

        def power(t, n):
            return power(t * t, n - 1) if n > 0 else t

        outs = heads(x)
        more = [each * 2.0 for each in outs]
        pair = (outs[0], more[0])
        fetches = outs + more
        total = tf.reduce_sum(outs[0]) + 1.0
        raised = power(x, 2) + 1.0
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for fed in ([1.0, 2.0], [3.0]):
                print(sess.run(outs + [total], {x: fed}), sess.run([*more, total], {x: fed}))
                print(sess.run(fetches, {x: fed}), sess.run(pair + (total,), {x: fed}), sess.run(outs * 2, {x: fed})[3])
                print(sess.run(outs[1:] + more[:1], {x: fed}))
                print(sess.run(raised, {x: fed}), sess.run(total * 2.0, {x: fed}))
        """
    ),
    "savers of some of the variables": program(
        """
        import os
        import tempfile
        a = tf.get_variable('a', [2], initializer=tf.constant_initializer(1.0))
        b = tf.get_variable('b', [2], initializer=tf.constant_initializer(3.0))
        with tf.variable_scope('net'):
            c = tf.get_variable('c', [2], initializer=tf.constant_initializer(5.0))
        loss = tf.reduce_sum(tf.square(a) + tf.square(b) + tf.square(c))
        train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
        full = tf.train.Saver()
        every = tf.train.Saver(tf.global_variables())
        one = tf.train.Saver([a])
        pair = tf.train.Saver([b, c])
        scoped = tf.train.Saver(tf.trainable_variables('net'))
        rest = tf.train.Saver([each for each in tf.trainable_variables() if not each.name.startswith('net')])
        folder = tempfile.mkdtemp()

        def train():
            print(*sess.run([a, b, c]))
            for _ in range(2):
                print(sess.run(loss))
                sess.run(train_op)

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run(loss))
            sess.run(train_op)
            full.save(sess, os.path.join(folder, 'full'))
            one.save(sess, os.path.join(folder, 'one'))
            pair.save(sess, os.path.join(folder, 'pair'))
            scoped.save(sess, os.path.join(folder, 'scoped'))
            rest.save(sess, os.path.join(folder, 'rest'))
            train()
            one.restore(sess, os.path.join(folder, 'full'))
            train()
            one.restore(sess, os.path.join(folder, 'one'))
            train()
            pair.restore(sess, os.path.join(folder, 'full'))
            train()
            every.restore(sess, os.path.join(folder, 'full'))
            train()
            scoped.restore(sess, os.path.join(folder, 'scoped'))
            train()
            rest.restore(sess, os.path.join(folder, 'rest'))
            train()
            full.restore(sess, os.path.join(folder, 'full'))
            train()
            try:
                one.restore(sess, os.path.join(folder, 'pair'))
            except Exception:
                print('one does not fit pair', 0)
            try:
                pair.restore(sess, os.path.join(folder, 'one'))
            except Exception:
                print('pair does not fit one', 0)
            try:
                full.restore(sess, os.path.join(folder, 'pair'))
            except Exception:
                print('full does not fit pair', 0)
            try:
                scoped.restore(sess, os.path.join(folder, 'rest'))
            except Exception:
                print('scoped does not fit rest', 0)
            try:
                full.restore(sess, os.path.join(folder, 'rest'))
            except Exception:
                print('full does not fit rest', 0)
            full.restore(sess, os.path.join(folder, 'full'))
            train()
        """
    ),
    "functions that read variables, and are handed on": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        w = tf.get_variable('w', [6, 1], initializer=tf.constant_initializer(0.1))

        def body(i, total):
            return i + 1, total + tf.reduce_sum(w)

        def scaled(value):
            return value * tf.reduce_sum(w)

        def none():
            return tf.constant(0.5)

        def some():
            return scaled(2.0)

        def twice(function):
            return function(tf.constant(1.0)) + function(tf.constant(2.0))

        def mapped():
            def inner(value):
                return value - tf.reduce_sum(w)
            return tf.reduce_sum(tf.map_fn(inner, tf.constant([1.0, 2.0])))

        _, total = tf.while_loop(lambda i, total: i < 3, body, [0, 0.0])
        parts = tf.map_fn(fn=scaled, elems=tf.constant([1.0, 2.0]))
        chosen = tf.cond(tf.constant(True), some, none)
        both = twice(scaled)
        rest = mapped()
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - total + chosen - both + rest)) + tf.reduce_sum(parts)
        train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(train_op, {x: data})
                print(*sess.run([total, parts[0], chosen, both, rest]))
        """
    ),
}
