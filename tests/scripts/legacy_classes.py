"""Test classes as TensorFlow 1 programs had them; run with genuine 1.15.5 too, and by test_legacy_tests.py."""

from __future__ import absolute_import, division, print_function

import os
import threading
import unittest

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from tensorflow.python.framework import test_util
from tensorflow.python.platform import googletest, test

_setup = []


def setUpModule():
    _setup.append(1)


class SessionsTest(tf.test.TestCase):
    def setUp(self):
        super(SessionsTest, self).setUp()
        self.x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)

    def testSetUpModule(self):
        self.assertEqual([1], _setup)

    def testTestSession(self):
        with self.test_session() as sess:
            y = tf.square(self.x)
            self.assertAllClose(self.x**2, sess.run(y))
            self.assertAllEqual(self.x**2, y.eval())

    def testTestSessionIsCached(self):
        with self.test_session() as first:
            v = tf.Variable(3.0)
            v.initializer.run()
            graph = first.graph
        with self.test_session() as second:
            self.assertIs(graph, second.graph)
            self.assertIs(first, second)
            self.assertEqual(3.0, v.eval())

    def testTestSessionWithGraphIsAnother(self):
        graph = tf.Graph()
        with graph.as_default():
            y = tf.constant(2.0)
        with self.test_session(graph=graph) as sess:
            self.assertIs(graph, sess.graph)
            self.assertEqual(2.0, y.eval())

    def testGraphOfCachedSessionMustNotChange(self):
        with self.cached_session():
            pass
        with self.assertRaises(ValueError):
            with self.cached_session(graph=tf.Graph()):
                pass

    def testDevices(self):
        with self.session():
            self.assertEqual("/device:CPU:0", tf.constant(1).device)
        with self.session(use_gpu=True):
            self.assertEqual("", tf.constant(1).device)
        with self.cached_session(use_gpu=False):
            self.assertEqual("/device:CPU:0", tf.constant(1).device)

    def testConfigOfCachedSessionMustNotChange(self):
        with self.cached_session():
            pass
        with self.assertRaises(ValueError):
            with self.cached_session(config=tf.ConfigProto(log_device_placement=True)):
                pass

    def testForceGpuMustNotChange(self):
        with self.cached_session(use_gpu=False):
            pass
        with self.assertRaises(ValueError):
            with self.cached_session(use_gpu=False, force_gpu=True):
                pass

    def testSessionIsNew(self):
        with self.session() as first:
            graph = first.graph
        with self.session(use_gpu=True) as second:
            self.assertIsNot(first, second)
            self.assertIs(graph, second.graph)

    def testSessionWithGraph(self):
        with self.session(graph=tf.Graph(), use_gpu=False) as sess:
            self.assertEqual(5, sess.run(tf.constant(5)))

    def testCachedSessionKeepsVariables(self):
        with self.cached_session():
            v = tf.get_variable("v", initializer=1.0)
            self.evaluate(v.initializer)
        with self.cached_session() as sess:
            self.assertEqual(1.0, sess.run(v))
            self.assertEqual(2.0, self.evaluate(v + 1))

    def testGraphIsFreshInEachTest1(self):
        self.assertEqual(0, len(tf.get_default_graph().get_operations()))
        tf.constant(1)

    def testGraphIsFreshInEachTest2(self):
        self.assertEqual(0, len(tf.get_default_graph().get_operations()))
        tf.constant(1)

    def testDefaultGraphIsThatOfTheSession(self):
        with self.cached_session() as sess:
            self.assertIs(tf.get_default_graph(), sess.graph)
            self.assertIs(tf.get_default_session(), sess)
        self.assertIsNone(tf.get_default_session())

    def testErrorInSession(self):
        with self.test_session():
            x = tf.placeholder(tf.float32, [2])
            with self.assertRaises(tf.errors.InvalidArgumentError):
                x.eval()

    def testRefVariables(self):
        with self.test_session():
            self.assertEqual("float32_ref", tf.Variable(1.0).dtype.name)

    def testEager(self):
        self.assertFalse(tf.executing_eagerly())


class ArraysTest(tf.test.TestCase):
    """Lists of a graph's tensors, and arrays whose shapes do not fit."""

    def testTensorsAreObjectsOfArrays(self):
        pair = [tf.zeros([2]), tf.placeholder(tf.float32, [None])]
        self.assertAllEqual([pair, pair], [pair, pair])
        array = np.array([pair, tuple(pair)])
        self.assertEqual((array.shape, array.dtype), ((2, 2), np.dtype(object)))
        self.assertIs(array[1, 0], pair[0])
        uneven = np.array([pair, pair[:1]])
        self.assertEqual(uneven.shape, (2,))
        self.assertIs(uneven[1][0], pair[0])
        self.assertEqual(np.asarray([pair[0], 1.0]).tolist()[1], 1.0)
        for wrong in (lambda: np.array(pair[0]), lambda: np.stack(pair)):
            with self.assertRaises(NotImplementedError):
                wrong()

    def testShapesThatDoNotFitAreNotEqual(self):
        self.assertNotEqual(np.zeros([2, 3]), np.zeros([4]))
        self.assertFalse(np.zeros([2, 3]) == np.zeros([4]))


class SeedsTest(tf.test.TestCase):
    def testGraphSeed(self):
        self.assertEqual(87654321, tf.get_default_graph().seed)

    def testRandomIsReproducible(self):
        with self.test_session():
            first = tf.random_normal([3], seed=1).eval()
        with self.session(graph=tf.Graph()):
            tf.set_random_seed(87654321)
            self.assertAllEqual(first, tf.random_normal([3], seed=1).eval())

    def testSeedOfNumpy(self):
        first = np.random.rand(2)
        np.random.seed(87654321)
        self.assertAllEqual(np.random.rand(2), first)

    def testSeedOfPython(self):
        import random

        first = random.random()
        random.seed(87654321)
        self.assertEqual(random.random(), first)


class EvaluateTest(tf.test.TestCase):
    def testNested(self):
        with self.test_session():
            got = self.evaluate({"a": tf.constant(1), "b": [tf.constant(2.0), tf.constant([3, 4])]})
        self.assertEqual(1, got["a"])
        self.assertAllEqual([3, 4], got["b"][1])

    def testOperation(self):
        v = tf.Variable(2.0)
        with self.session():
            self.assertIsNone(self.evaluate(v.initializer))
            self.assertEqual(2.0, self.evaluate(v))

    def testWithoutSession(self):
        v = tf.constant(3.0)
        self.assertEqual(3.0, self.evaluate(v * 1.0))

    def testSparse(self):
        with self.session():
            got = self.evaluate(tf.SparseTensor([[0, 1]], [2.0], [1, 3]))
        self.assertAllEqual([[0, 1]], got.indices)
        self.assertIsInstance(got, tf.SparseTensorValue)


class AssertionsTest(tf.test.TestCase):
    def fails(self, assertion, *args, **kwargs):
        with self.assertRaises(AssertionError):
            assertion(*args, **kwargs)

    def testAllClose(self):
        self.assertAllClose([1.0, 2.0], [1.0, 2.0 + 1e-7])
        self.assertAllClose({"a": [1.0], "b": (2.0,)}, {"a": [1.0], "b": (2.0,)})
        self.fails(self.assertAllClose, [1.0], [1.1])
        self.fails(self.assertAllClose, {"a": 1.0}, {"b": 1.0})
        self.fails(self.assertAllClose, [1.0, 2.0], [1.0])
        self.assertAllClose([1.0], [1.05], rtol=0.1)
        self.assertAllClose(np.float16([1.0]), np.float16([1.0005]), atol=1e-2)
        with self.cached_session():
            self.assertAllClose(tf.constant([1.0]), [1.0])

    def testAllCloseMessage(self):
        with self.assertRaisesRegexp(AssertionError, "my message"):
            self.assertAllClose([1.0], [2.0], msg="my message")

    def testNotAllClose(self):
        self.assertNotAllClose([1.0], [2.0])
        self.fails(self.assertNotAllClose, [1.0], [1.0])

    def testAllCloseAccordingToType(self):
        self.assertAllCloseAccordingToType(np.float16([1.0]), np.float16([1.0005]))
        self.fails(self.assertAllCloseAccordingToType, np.float32([1.0]), np.float32([1.0005]))

    def testAllEqual(self):
        self.assertAllEqual([1, 2], np.array([1, 2]))
        self.assertAllEqual([b"a"], np.array([b"a"]))
        self.assertAllEqual(np.nan, np.nan)
        self.fails(self.assertAllEqual, [1, 2], [1, 3])
        self.fails(self.assertAllEqual, [1, 2], [[1, 2]])
        self.assertNotAllEqual([1], [2])
        self.fails(self.assertNotAllEqual, [1], [1])

    def testComparisons(self):
        self.assertAllGreater([2, 3], 1)
        self.assertAllLess([2, 3], 4)
        self.assertAllGreaterEqual([2, 3], 2)
        self.assertAllLessEqual([2, 3], 3)
        self.assertAllInRange([0.1, 0.9], 0.0, 1.0)
        self.assertAllInSet([1, 2, 1], [1, 2])
        self.fails(self.assertAllGreater, [1, 2], 1)
        self.fails(self.assertAllInRange, [2.0], 0.0, 1.0)
        self.fails(self.assertAllInSet, [3], [1, 2])

    def testNear(self):
        self.assertNear(1.0, 1.001, 0.01)
        self.fails(self.assertNear, 1.0, 2.0, 0.1)
        self.assertArrayNear([1.0, 2.0], [1.0, 2.0005], 0.001)
        self.fails(self.assertArrayNear, [1.0], [2.0], 0.1)
        self.assertNDArrayNear(np.ones([2, 2]), np.ones([2, 2]), 1e-6)
        self.fails(self.assertNDArrayNear, np.ones([2]), np.zeros([2]), 1e-6)

    def testShapes(self):
        self.assertShapeEqual(np.zeros([2, 3]), tf.zeros([2, 3]))
        self.fails(self.assertShapeEqual, np.zeros([2]), tf.zeros([3]))

    def testStartsWith(self):
        self.assertStartsWith("abc", "ab")
        self.fails(self.assertStartsWith, "abc", "b")

    def testProtos(self):
        proto = tf.ConfigProto(allow_soft_placement=True)
        self.assertProtoEquals("allow_soft_placement: true", proto)
        self.assertProtoEquals(tf.ConfigProto(allow_soft_placement=True), proto)
        self.fails(self.assertProtoEquals, "allow_soft_placement: false", proto)
        event = tf.Event(wall_time=1.0)
        self.assertProtoEquals(tf.Event(wall_time=1.0 + 1e-9), event)
        self.fails(self.assertProtoEquals, tf.Event(wall_time=1.1), event)
        summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])
        self.assertProtoEquals("value { tag: 'loss' simple_value: 0.5 }", summary)
        self.fails(self.assertProtoEquals, "value { tag: 'loss' simple_value: 0.6 }", summary)
        histogram = tf.HistogramProto(min=0.0, bucket=[1.0, 2.0])
        self.assertProtoEquals(tf.HistogramProto(min=0.0, bucket=[1.0, 2.0 + 1e-9]), histogram)
        node = tf.NodeDef(name="n", attr={"a": tf.AttrValue(f=0.5)})
        self.fails(self.assertProtoEquals, tf.NodeDef(name="n", attr={"a": tf.AttrValue(f=0.75)}), node)
        graph_def = tf.Graph().as_graph_def()
        self.assertProtoEqualsVersion("", graph_def)

    def testRaisesOpError(self):
        with self.test_session():
            x = tf.placeholder(tf.int32, [], name="divisor")
            y = tf.floordiv(6, x)
            with self.assertRaisesOpError("zero"):
                y.eval({x: 0})
            with self.assertRaisesWithPredicateMatch(tf.errors.InvalidArgumentError, lambda e: "zero" in str(e)):
                y.eval({x: 0})
            with self.assertRaisesWithPredicateMatch(tf.errors.InvalidArgumentError, "zero"):
                y.eval({x: 0})

    def testDevices(self):
        with tf.device("/cpu:0"):
            c = tf.constant(1)
        self.assertDeviceEqual("/device:CPU:0", c.device)
        self.assertDeviceEqual("/cpu:0", tf.DeviceSpec(device_type="CPU", device_index=0))
        self.fails(self.assertDeviceEqual, "/cpu:0", "/cpu:1")

    def testSameElements(self):
        self.assertItemsEqual([1, 2], [2, 1])
        self.assertCountEqual([1, 2], [2, 1])
        self.assertSameElements([1, 1, 2], [2, 1])
        self.assertLen([1, 2], 2)
        self.assertEmpty([])
        self.assertDictContainsSubset({"a": 1}, {"a": 1, "b": 2})

    def testOldNames(self):
        self.assertEquals(1, 1)
        self.assertNotEquals(1, 2)
        self.assertAlmostEquals(1.0, 1.0 + 1e-9)
        self.assert_(True)
        self.assertRegexpMatches("abc", "b")
        self.assertNotRegexpMatches("abc", "d")
        self.assertRaisesRegexp(ValueError, "bad", self.raise_bad)

    def raise_bad(self):
        raise ValueError("bad")

    def testKeywords(self):
        self.assertShapeEqual(np_array=np.zeros([2]), tf_tensor=tf.zeros([2]))
        self.assertProtoEquals("", message=tf.ConfigProto())
        self.assertProtoEquals(expected_message_maybe_ascii="", message=tf.ConfigProto(), msg="m")
        self.assertNotAllClose([1.0], [2.0], rtol=1e-3)

    def testBetween(self):
        self.assertBetween(2, 1, 3)
        self.assertSequenceStartsWith([1], [1, 2])


class ThreadsTest(tf.test.TestCase):
    def testCheckedThread(self):
        results = []
        with self.test_session() as sess:
            y = tf.constant(1.0) + 1.0
            threads = [self.checkedThread(target=lambda: results.append(sess.run(y))) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual([2.0] * 3, results)

    def testCheckedThreadTellsOfErrors(self):
        thread = self.checkedThread(target=self.fail, args=("on purpose",))
        thread.start()
        with self.assertRaises(AssertionError):
            thread.join()

    def testQueueInThreads(self):
        with self.test_session() as sess:
            queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
            enqueue = queue.enqueue_many(([1.0, 2.0, 3.0],))
            total = queue.dequeue_many(3)
            thread = self.checkedThread(target=sess.run, args=(enqueue,))
            thread.start()
            self.assertAllEqual([1.0, 2.0, 3.0], sess.run(total))
            thread.join()

    def testGraphOfThread(self):
        graphs = []
        with self.test_session():
            thread = threading.Thread(target=lambda: graphs.append(tf.get_default_graph()))
            thread.start()
            thread.join()
            self.assertIsNot(tf.get_default_graph(), graphs[0])


class FilesTest(tf.test.TestCase):
    def testTempDir(self):
        path = os.path.join(self.get_temp_dir(), "file")
        with open(path, "w") as file:
            file.write("text")
        self.assertEqual(self.get_temp_dir(), os.path.dirname(path))
        self.assertTrue(os.path.isdir(tf.test.get_temp_dir()))
        self.assertStartsWith(self.get_temp_dir(), tf.test.get_temp_dir())

    def testTempDirIsEmpty(self):
        self.assertEqual([], os.listdir(self.get_temp_dir()))

    def testSrcDir(self):
        with tf.test.mock.patch.dict(os.environ, {"TEST_SRCDIR": "/src"}):
            self.assertStartsWith(tf.test.test_src_dir_path("core/kernels"), "/src")

    def testSaver(self):
        with self.test_session() as sess:
            v = tf.get_variable("v", initializer=4.0)
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(sess, os.path.join(self.get_temp_dir(), "model"))
        self.assertEqual([("v", [])], tf.train.list_variables(path))
        with self.session(graph=tf.Graph()) as sess:
            v = tf.get_variable("v", [])
            tf.train.Saver().restore(sess, path)
            self.assertEqual(4.0, sess.run(v))

    def testTempDirOfGoogletest(self):
        self.assertEqual(tf.test.get_temp_dir(), googletest.GetTempDir())

    def testCapturedOutput(self):
        os.system("echo said")


class ToolsTest(tf.test.TestCase):
    def testMock(self):
        with tf.test.mock.patch.object(os, "getcwd", return_value="/nowhere"):
            self.assertEqual("/nowhere", os.getcwd())
        stubs = tf.test.StubOutForTesting()
        stubs.Set(os, "getcwd", lambda: "/there")
        self.assertEqual("/there", os.getcwd())
        stubs.UnsetAll()
        self.assertNotEqual("/there", os.getcwd())

    def testComputeGradient(self):
        with self.test_session():
            x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
            y = tf.square(x)
            ones = np.ones([2, 2], np.float32)
            theoretical, numeric = tf.test.compute_gradient(x, [2, 2], y, [2, 2], x_init_value=ones)
            self.assertAllClose(theoretical, numeric, atol=1e-3)
            self.assertLess(tf.test.compute_gradient_error(x, [2, 2], y, [2, 2]), 1e-2)

    def testGpu(self):
        self.assertEqual(tf.test.is_gpu_available(), bool(tf.test.gpu_device_name()))
        self.assertIn(tf.test.is_gpu_available(cuda_only=True), (True, False))
        self.assertIn(tf.test.is_built_with_cuda(), (True, False))

    def testGraphDefs(self):
        with tf.Graph().as_default() as one:
            tf.constant(1.0, name="c")
        with tf.Graph().as_default() as other:
            tf.constant(2.0, name="c")
        tf.test.assert_equal_graph_def(one.as_graph_def(), one.as_graph_def())
        with self.assertRaises(AssertionError):
            tf.test.assert_equal_graph_def(one.as_graph_def(), other.as_graph_def())

    def testCompatV1(self):
        self.assertIs(tf.test.TestCase, tf.compat.v1.test.TestCase)
        self.assertIs(tf.test.TestCase, test.TestCase)
        self.assertIs(tf.test.TestCase, test_util.TensorFlowTestCase)

    def testDimensionsOfOtherNumbers(self):
        self.assertEqual([None, 14, 3], tf.placeholder(tf.float32, [None, 28 / 2, np.float32(3)]).shape.as_list())
        self.assertEqual([2], tf.get_variable("v", [4 / 2]).shape.as_list())
        self.assertTrue(tf.Dimension(1) == 1.0 and tf.Dimension("3") == np.array([3]))
        with self.assertRaisesRegexp(ValueError, "Ambiguous dimension: 2.5"):
            tf.TensorShape([2.5])

    def testNodesOfGraphDef(self):
        with tf.Graph().as_default() as graph:
            tf.constant(1.0, name="c")
        self.assertEqual("Const", test_util.get_node_def_from_graph("c", graph.as_graph_def()).op)
        test_util.assert_ops_in_graph({"c": "Const"}, graph)
        test_util.assert_meta_graph_protos_equal(
            self, tf.train.export_meta_graph(graph=graph), tf.train.export_meta_graph(graph=graph)
        )

    def testGpuDevice(self):
        with test_util.use_gpu():
            self.assertAllEqual([1.0], self.evaluate(tf.ones([1])))
        with self.session(use_gpu=True), test_util.force_cpu():
            self.assertAllEqual([1.0], tf.ones([1]).eval())


class DecoratorsTest(tf.test.TestCase):
    modes = []

    @test_util.run_in_graph_and_eager_modes
    def testBothModes(self):
        self.modes.append(tf.executing_eagerly())
        self.assertAllEqual([2.0], self.evaluate(tf.constant([1.0]) * 2))

    @test_util.run_in_graph_and_eager_modes(use_gpu=False)
    def testBothModesWithArguments(self):
        self.assertEqual(3, self.evaluate(tf.constant(3)))

    @test_util.run_v1_only("because")
    def testV1Only(self):
        self.assertFalse(tf.executing_eagerly())

    @test_util.run_deprecated_v1
    def testDeprecatedV1(self):
        self.assertFalse(tf.executing_eagerly())
        x = tf.placeholder(tf.float32)
        with self.cached_session() as sess:
            self.assertEqual(1.0, sess.run(x, {x: 1.0}))

    @test_util.run_v2_only
    def testV2Only(self):
        self.fail("this is version 1")

    @test_util.run_gpu_only
    def testGpuOnly(self):
        self.assertTrue(tf.test.is_gpu_available())

    @test_util.run_cuda_only
    def testCudaOnly(self):
        self.assertTrue(tf.test.is_gpu_available())

    @test_util.enable_control_flow_v2
    def testControlFlowV2(self):
        with self.session():
            self.assertEqual(2.0, self.evaluate(tf.cond(tf.constant(True), lambda: 2.0, lambda: 3.0)))

    @test_util.disable_control_flow_v2("because")
    def testNoControlFlowV2(self):
        pass

    @test_util.disable_xla("because")
    def testXla(self):
        pass

    @test_util.assert_no_new_tensors
    def testNoNewTensors(self):
        pass

    @test_util.assert_no_new_pyobjects_executing_eagerly
    def testNoNewObjects(self):
        self.modes.append("no new objects")

    def testNoNewObjectsHasRun(self):
        self.testNoNewObjects()
        self.assertIn("no new objects", self.modes)

    @test_util.use_deterministic_cudnn
    def testCudnn(self):
        self.assertTrue(os.environ.get("TF_CUDNN_DETERMINISTIC"))

    @test_util.run_in_graph_and_eager_modes(config=tf.ConfigProto(), use_gpu=True, reset_test=False)
    def testResetOfBothModes(self):
        self.assertEqual(3, self.evaluate(tf.constant(3)))


@test_util.run_all_in_graph_and_eager_modes
class AllModesTest(tf.test.TestCase):
    def testSum(self):
        self.assertEqual(6.0, self.evaluate(tf.reduce_sum([1.0, 2.0, 3.0])))


@test_util.run_v1_only("a class")
class V1ClassTest(tf.test.TestCase):
    def testGraph(self):
        self.assertFalse(tf.executing_eagerly())


class FunctionsTest(tf.test.TestCase, parameterized.TestCase):
    @test_util.build_as_function_and_v1_graph
    def testFunctionAndGraph(self):
        self.assertFalse(tf.executing_eagerly())
        self.assertEqual("Const", tf.constant(1.0).op.type)


class ParameterizedTest(tf.test.TestCase, parameterized.TestCase):
    @parameterized.named_parameters(("One", 1, 1), ("Two", 2, 4))
    def testSquare(self, value, expected):
        with self.test_session():
            self.assertEqual(expected, tf.square(value).eval())

    @parameterized.parameters((1, 2), (2, 3))
    def testIncrement(self, value, expected):
        self.assertEqual(expected, self.evaluate(tf.constant(value) + 1))

    @parameterized.parameters([dict(dtype=tf.float32), dict(dtype=tf.int32)])
    @test_util.run_deprecated_v1
    def testDtypes(self, dtype):
        self.assertEqual(dtype, tf.zeros([2], dtype).dtype)


class MyBenchmark(tf.test.Benchmark):
    def benchmarkAdd(self):
        with tf.Graph().as_default(), tf.Session() as sess:
            self.run_op_benchmark(sess, tf.constant(1.0) + 1.0, burn_iters=1, min_iters=2)


class BenchmarkTest(tf.test.TestCase):
    def testBenchmark(self):
        MyBenchmark().benchmarkAdd()


class SkippedTest(tf.test.TestCase):
    def testSkip(self):
        self.skipTest("because")

    def testDecorated(self):
        raise unittest.SkipTest("too")


if __name__ == "__main__":
    tf.test.main()
