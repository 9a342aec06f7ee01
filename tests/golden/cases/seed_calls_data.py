"""Calls for seed_calls.py: images, input pipelines, queues, data sets, summaries, strings and tables."""

import numpy as np
import tensorflow as tf
from seed_calls import call, calls, ints, x

# -- images -----------------------------------------------------------------------------------------------------------


def image(*shape):
    return x(*shape or (8, 8, 3))


def images():
    return x(None, 8, 8, 3)


calls(
    image_resize_known=lambda: tf.image.resize_images(x(2, 8, 8, 3), [4, 4]),
    image_resize_same=lambda: tf.image.resize_images(images(), [8, 8]),
    image_resize_nearest=lambda: tf.image.resize_images(images(), [4, 4], tf.image.ResizeMethod.NEAREST_NEIGHBOR),
    image_resize_bicubic=lambda: tf.image.resize_images(images(), [4, 4], method=2, align_corners=True),
    image_resize_area=lambda: tf.image.resize_images(images(), [4, 4], method=3),
    image_resize_keep=lambda: tf.image.resize_images(images(), [4, 6], preserve_aspect_ratio=True),
    image_resize_tensor=lambda: tf.image.resize_images(images(), ints(2)),
    image_resize_unknown=lambda: tf.image.resize_images(x(None, None, 3), [4, 4]),
    image_resize_ints=lambda: tf.image.resize_images(tf.placeholder(tf.uint8, [8, 8, 3]), [4, 4]),
    image_resize_v2=lambda: tf.compat.v2.image.resize(images(), [4, 4]),
    image_resize_op_nearest=lambda: tf.image.resize_nearest_neighbor(images(), [4, 4]),
    image_resize_op_bicubic=lambda: tf.image.resize_bicubic(images(), [4, 4]),
    image_resize_with_pad=lambda: tf.image.resize_image_with_pad(images(), 12, 10),
    image_resize_with_pad_unknown=lambda: tf.image.resize_image_with_pad(x(None, None, 3), 12, 10),
    image_flip=lambda: tf.image.flip_left_right(image()),
    image_flip_batch=lambda: tf.image.flip_left_right(images()),
    image_flip_unknown=lambda: tf.image.flip_up_down(tf.placeholder(tf.float32)),
    image_flip_up=lambda: tf.image.flip_up_down(image()),
    image_transpose=lambda: tf.image.transpose_image(image()),
    image_transpose_batch=lambda: tf.image.transpose_image(images()),
    image_rot90=lambda: tf.image.rot90(image()),
    image_rot90_batch=lambda: tf.image.rot90(images(), 2),
    image_rot90_tensor=lambda: tf.image.rot90(image(), ints()),
    image_crop_to=lambda: tf.image.crop_to_bounding_box(image(), 1, 1, 4, 4),
    image_crop_to_batch=lambda: tf.image.crop_to_bounding_box(images(), 1, 1, 4, 4),
    image_crop_to_unknown=lambda: tf.image.crop_to_bounding_box(x(None, None, 3), 1, 1, 4, 4),
    image_crop_to_tensor=lambda: tf.image.crop_to_bounding_box(image(), ints(), ints(), 4, 4),
    image_pad_to=lambda: tf.image.pad_to_bounding_box(image(), 1, 1, 12, 12),
    image_pad_to_unknown=lambda: tf.image.pad_to_bounding_box(x(None, None, 3), 1, 1, 12, 12),
    image_crop_or_pad_batch=lambda: tf.image.resize_image_with_crop_or_pad(images(), 10, 6),
    image_crop_or_pad_same=lambda: tf.image.resize_image_with_crop_or_pad(image(), 8, 8),
    image_crop_or_pad_larger=lambda: tf.image.resize_image_with_crop_or_pad(image(32, 32, 3), 36, 36),
    image_crop_or_pad_unknown=lambda: tf.image.resize_image_with_crop_or_pad(x(None, None, 3), 10, 6),
    image_crop_or_pad_any=lambda: tf.image.resize_image_with_crop_or_pad(tf.placeholder(tf.float32), 10, 6),
    image_central_crop_batch=lambda: tf.image.central_crop(images(), 0.5),
    image_central_crop_unknown=lambda: tf.image.central_crop(x(None, None, 3), 0.5),
    image_central_crop_whole=lambda: tf.image.central_crop(image(), 1.0),
    image_crop_and_resize=lambda: tf.image.crop_and_resize(images(), x(5, 4), ints(5), [4, 4]),
    image_extract_glimpse=lambda: tf.image.extract_glimpse(images(), [4, 4], x(None, 2)),
    image_extract_patches=lambda: tf.extract_image_patches(images(), [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
    image_random_up_batch=lambda: tf.image.random_flip_up_down(images()),
    image_random_flip_unknown=lambda: tf.image.random_flip_left_right(tf.placeholder(tf.float32)),
    image_random_flip_seed=lambda: tf.image.random_flip_left_right(image(), seed=3),
    image_random_crop=lambda: tf.random_crop(tf.image.resize_image_with_crop_or_pad(image(), 12, 12), [8, 8, 3]),
    image_random_crop_unknown=lambda: tf.random_crop(x(None, None, 3), [6, 6, 3]),
    image_random_crop_tensor=lambda: tf.image.random_crop(image(), tf.stack([6, ints(), 3])),
    image_random_brightness_ints=lambda: tf.image.random_brightness(tf.placeholder(tf.uint8, [8, 8, 3]), 0.2),
    image_random_contrast_ints=lambda: tf.image.random_contrast(tf.placeholder(tf.uint8, [8, 8, 3]), 0.2, 1.8),
    image_random_jpeg=lambda: tf.image.random_jpeg_quality(image(), 50, 90),
    image_adjust_jpeg=lambda: tf.image.adjust_jpeg_quality(image(), 50),
    image_brightness=lambda: tf.image.adjust_brightness(image(), 0.1),
    image_contrast=lambda: tf.image.adjust_contrast(image(), 0.1),
    image_contrast_ints=lambda: tf.image.adjust_contrast(tf.placeholder(tf.uint8, [8, 8, 3]), 2.0),
    image_hue=lambda: tf.image.adjust_hue(image(), 0.1),
    image_hue_ints=lambda: tf.image.adjust_hue(tf.placeholder(tf.uint8, [8, 8, 3]), 0.1),
    image_saturation=lambda: tf.image.adjust_saturation(image(), 0.1),
    image_gamma=lambda: tf.image.adjust_gamma(image(), 2.0, 1.5),
    image_standardization_batch=lambda: tf.image.per_image_standardization(images()),
    image_standardization_unknown=lambda: tf.image.per_image_standardization(x(None, None, 3)),
    image_grayscale_back=lambda: tf.image.grayscale_to_rgb(x(8, 8, 1)),
    image_grayscale_batch=lambda: tf.image.rgb_to_grayscale(images()),
    image_grayscale_ints=lambda: tf.image.rgb_to_grayscale(tf.placeholder(tf.uint8, [8, 8, 3])),
    image_hsv=lambda: tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(image())),
    image_yiq=lambda: tf.image.rgb_to_yiq(image()),
    image_yuv=lambda: tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(image())),
    image_dtype_up=lambda: tf.image.convert_image_dtype(image(), tf.uint8),
    image_dtype_saturate=lambda: tf.image.convert_image_dtype(image(), tf.uint8, saturate=True),
    image_dtype_ints=lambda: tf.image.convert_image_dtype(tf.placeholder(tf.uint8, [8, 8, 3]), tf.int32),
    image_dtype_same=lambda: tf.image.convert_image_dtype(image(), tf.float32),
    image_decode_png=lambda: tf.image.decode_png(tf.placeholder(tf.string, []), channels=3),
    image_decode_any=lambda: tf.image.decode_image(tf.placeholder(tf.string, [])),
    image_decode_channels=lambda: tf.image.decode_image(tf.placeholder(tf.string, []), channels=3),
    image_decode_gif=lambda: tf.image.decode_gif(tf.placeholder(tf.string, [])),
    image_encode=lambda: [
        tf.image.encode_jpeg(tf.placeholder(tf.uint8, [8, 8, 3])),
        tf.image.encode_png(tf.placeholder(tf.uint8, [8, 8, 3])),
    ],
    image_jpeg_shape=lambda: tf.image.extract_jpeg_shape(tf.placeholder(tf.string, [])),
    image_boxes=lambda: tf.image.draw_bounding_boxes(images(), x(None, 5, 4)),
    image_distorted_box=lambda: tf.image.sample_distorted_bounding_box(
        tf.shape(image()), x(1, 1, 4), min_object_covered=0.1
    ),
    image_suppression=lambda: tf.image.non_max_suppression(x(5, 4), x(5), 3),
    image_suppression_padded=lambda: tf.image.non_max_suppression_padded(x(5, 4), x(5), 3, pad_to_max_output_size=True),
    image_suppression_combined=lambda: tf.image.combined_non_max_suppression(x(1, 5, 1, 4), x(1, 5, 2), 3, 3),
    image_psnr=lambda: tf.image.psnr(images(), images(), 1.0),
    image_ssim=lambda: tf.image.ssim(x(2, 16, 16, 3), x(2, 16, 16, 3), 1.0),
    image_ssim_multiscale=lambda: tf.image.ssim_multiscale(x(2, 256, 256, 1), x(2, 256, 256, 1), 1.0),
    image_total_variation=lambda: tf.image.total_variation(images()),
    image_total_variation_one=lambda: tf.image.total_variation(image()),
    image_gradients=lambda: tf.image.image_gradients(x(2, 8, 8, 3)),
    image_sobel=lambda: tf.image.sobel_edges(images()),
    image_dilation=lambda: tf.nn.dilation2d(images(), x(3, 3, 3), [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
)


@call
def image_cifar_pipeline():
    """What the tutorial's training reader does with an image."""
    distorted = tf.random_crop(image(32, 32, 3), [24, 24, 3])
    distorted = tf.image.random_flip_left_right(distorted)
    distorted = tf.image.random_brightness(distorted, max_delta=63)
    distorted = tf.image.random_contrast(distorted, lower=0.2, upper=1.8)
    float_image = tf.image.per_image_standardization(distorted)
    float_image.set_shape([24, 24, 3])
    tf.train.shuffle_batch([float_image, tf.constant(1)], 16, 100, 50, num_threads=4)


@call
def image_inception_pipeline():
    box, size, _ = tf.image.sample_distorted_bounding_box(
        tf.shape(image(None, None, 3)), x(1, 1, 4), min_object_covered=0.1, area_range=(0.05, 1.0), max_attempts=100
    )
    distorted = tf.slice(image(None, None, 3), box, size)
    distorted = tf.image.resize_images(distorted, [8, 8])
    distorted = tf.image.random_flip_left_right(distorted)
    distorted = tf.image.random_saturation(distorted, lower=0.5, upper=1.5)
    distorted = tf.image.random_hue(distorted, max_delta=0.2)
    tf.multiply(tf.subtract(tf.clip_by_value(distorted, 0.0, 1.0), 0.5), 2.0)


# -- queues and input pipelines ---------------------------------------------------------------------------------------

calls(
    queue_producer_rounds=lambda: tf.train.string_input_producer(["a", "b"], num_epochs=2),
    queue_producer_plain=lambda: tf.train.string_input_producer(["a", "b"], shuffle=False),
    queue_producer_tensor=lambda: tf.train.string_input_producer(tf.placeholder(tf.string, [3])),
    queue_producer_seed=lambda: tf.train.string_input_producer(["a", "b"], seed=3),
    queue_input_producer=lambda: tf.train.input_producer(x(4, 3)),
    queue_range_producer=lambda: tf.train.range_input_producer(10),
    queue_range_producer_plain=lambda: tf.train.range_input_producer(10, shuffle=False).dequeue(),
    queue_slices=lambda: tf.train.slice_input_producer([tf.zeros([4, 3]), tf.range(4)]),
    queue_slices_plain=lambda: tf.train.slice_input_producer([x(4, 3)], num_epochs=1, shuffle=False),
    queue_slices_batch=lambda: tf.train.batch(tf.train.slice_input_producer([x(4, 3), ints(4)]), 2),
    queue_batch_threads=lambda: tf.train.batch([x(3), ints()], 2, num_threads=2, capacity=32),
    queue_batch_smaller=lambda: tf.train.batch([x(3)], 2, allow_smaller_final_batch=True),
    queue_batch_many=lambda: tf.train.batch([x(5, 3)], 2, enqueue_many=True),
    queue_batch_pad=lambda: tf.train.batch([x(None)], 2, dynamic_pad=True),
    queue_batch_dict=lambda: tf.train.batch({"a": x(3), "b": ints()}, 2),
    queue_batch_sparse=lambda: tf.train.batch([tf.sparse_placeholder(tf.float32, [3])], 2),
    queue_maybe_batch=lambda: tf.train.maybe_batch([x(3)], tf.placeholder(tf.bool, []), 2),
    queue_batch_join=lambda: tf.train.batch_join([[x(3), ints()], [x(3), ints()]], 2),
    queue_shuffle_batch_many=lambda: tf.train.shuffle_batch([x(5, 3), ints(5)], 2, 20, 5, enqueue_many=True),
    queue_shuffle_batch_seed=lambda: tf.train.shuffle_batch([x(3)], 2, 20, 5, seed=3),
    queue_shuffle_batch_smaller=lambda: tf.train.shuffle_batch(
        [x(3), ints()], 2, 20, 5, num_threads=3, allow_smaller_final_batch=True
    ),
    queue_shuffle_batch_join=lambda: tf.train.shuffle_batch_join([[x(3)], [x(3)]], 2, 20, 5),
    queue_maybe_shuffle_batch=lambda: tf.train.maybe_shuffle_batch(
        [x(3)], 2, 20, 5, keep_input=tf.placeholder(tf.bool, [])
    ),
    queue_limit=lambda: tf.train.limit_epochs(x(3), 2),
    queue_matching=lambda: tf.train.match_filenames_once("*.none"),
    queue_padding=lambda: tf.PaddingFIFOQueue(5, [tf.float32], [[None]]).dequeue_many(2),
    queue_priority=lambda: tf.PriorityQueue(5, [tf.float32], [[]]).dequeue(),
    queue_runner=lambda: tf.train.add_queue_runner(
        tf.train.QueueRunner(tf.FIFOQueue(5, [tf.float32]), [tf.FIFOQueue(5, [tf.float32]).enqueue([x()])] * 2)
    ),
    reader_records=lambda: tf.TFRecordReader().read(tf.train.string_input_producer(["a"])),
    reader_lines=lambda: tf.TextLineReader(skip_header_lines=1).read(tf.train.string_input_producer(["a"])),
    reader_whole=lambda: tf.WholeFileReader().read(tf.train.string_input_producer(["a"])),
    reader_fixed=lambda: tf.decode_raw(
        tf.FixedLengthRecordReader(5).read(tf.train.string_input_producer(["a"]))[1], tf.uint8
    ),
    reader_up_to=lambda: tf.TFRecordReader().read_up_to(tf.train.string_input_producer(["a"]), 3),
    decode_csv=lambda: tf.decode_csv(tf.placeholder(tf.string, [None]), [[1.0], [""], [0]]),
    decode_raw=lambda: tf.decode_raw(tf.placeholder(tf.string, [None]), tf.uint8),
    parse_single=lambda: tf.parse_single_example(
        tf.placeholder(tf.string, []), {"a": tf.FixedLenFeature([3], tf.float32), "b": tf.VarLenFeature(tf.int64)}
    ),
    parse_single_defaults=lambda: tf.parse_single_example(
        tf.placeholder(tf.string, []),
        {"a": tf.FixedLenFeature([], tf.string, ""), "b": tf.FixedLenFeature([], tf.int64, 3)},
    ),
    parse_fixed=lambda: tf.parse_example(
        tf.placeholder(tf.string, [None]),
        {"a": tf.FixedLenFeature([], tf.int64), "b": tf.FixedLenFeature([2], tf.float32, [0.0, 1.0])},
    ),
    parse_variable=lambda: tf.parse_example(tf.placeholder(tf.string, [None]), {"a": tf.VarLenFeature(tf.string)}),
    parse_sparse=lambda: tf.parse_example(
        tf.placeholder(tf.string, [None]), {"s": tf.SparseFeature("i", "v", tf.float32, 10)}
    ),
    parse_fixed_sequence=lambda: tf.parse_example(
        tf.placeholder(tf.string, [None]), {"a": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    ),
    parse_sequence=lambda: tf.parse_single_sequence_example(
        tf.placeholder(tf.string, []),
        {"n": tf.FixedLenFeature([], tf.int64)},
        {"a": tf.FixedLenSequenceFeature([], tf.int64), "b": tf.VarLenFeature(tf.float32)},
    ),
    parse_tensor=lambda: tf.parse_tensor(tf.serialize_tensor(x(3)), tf.float32),
    read_file=lambda: tf.read_file(tf.placeholder(tf.string, [])),
    write_file=lambda: tf.write_file("a", tf.placeholder(tf.string, [])),
    matching_files=lambda: tf.matching_files("*.none"),
    barrier_record_input=lambda: tf.contrib.training.bucket_by_sequence_length(
        ints(), [x(None)], 2, [3, 5], dynamic_pad=True
    ),
    training_bucket=lambda: tf.contrib.training.bucket([x(3)], ints(), 2, 3),
    training_rejection=lambda: tf.contrib.training.rejection_sample([x(3)], lambda value: tf.reduce_sum(value[0]), 2),
    training_stratified=lambda: tf.contrib.training.stratified_sample(
        [x(3)], ints(), [0.5, 0.5], 2, init_probs=[0.5, 0.5]
    ),
    training_resample=lambda: tf.contrib.training.resample_at_rate([x(4, 3)], x(4)),
    training_weighted_resample=lambda: tf.contrib.training.weighted_resample([x(4, 3)], x(4), 1.0),
)

# -- data sets --------------------------------------------------------------------------------------------------------


def numbers(size=10):
    return tf.data.Dataset.range(size)


def once(of):
    """A case: what is made for a data set that an iterator is initialised with by itself."""
    return lambda: of(numbers()).make_one_shot_iterator().get_next()


def again(of):
    """A case: the same for an iterator that a program initialises."""
    return lambda: of(numbers()).make_initializable_iterator().get_next()


calls(
    data_once_batch=once(lambda data: data.repeat().batch(3)),
    data_once_slices=lambda: (
        tf.data.Dataset.from_tensor_slices(np.ones([4, 3], np.float32))
        .shuffle(4)
        .repeat()
        .batch(2)
        .make_one_shot_iterator()
        .get_next()
    ),
    data_again_batch=again(lambda data: data.batch(3)),
    data_again_batch_drop=again(lambda data: data.batch(3, drop_remainder=True)),
    data_again_repeat=again(lambda data: data.repeat(2)),
    data_again_repeat_always=again(lambda data: data.repeat()),
    data_again_take=again(lambda data: data.take(3).skip(1)),
    data_again_shard=again(lambda data: data.shard(2, 1)),
    data_again_map=again(lambda data: data.map(lambda value: value * 2)),
    data_again_map_parallel=again(lambda data: data.map(lambda value: value * 2, num_parallel_calls=2)),
    data_again_map_random=again(lambda data: data.map(lambda value: tf.random_uniform([2]))),
    data_again_filter=again(lambda data: data.filter(lambda value: value > 2)),
    data_again_flat_map=again(lambda data: data.flat_map(lambda value: tf.data.Dataset.range(value))),
    data_again_interleave=again(lambda data: data.interleave(lambda value: tf.data.Dataset.range(value), 2)),
    data_again_interleave_parallel=again(
        lambda data: data.interleave(lambda value: tf.data.Dataset.range(value), 2, num_parallel_calls=2)
    ),
    data_again_zip=again(lambda data: tf.data.Dataset.zip((data, data))),
    data_again_concatenate=again(lambda data: data.concatenate(numbers())),
    data_again_prefetch=again(lambda data: data.prefetch(2)),
    data_again_prefetch_auto=again(lambda data: data.prefetch(tf.data.experimental.AUTOTUNE)),
    data_again_cache=again(lambda data: data.cache()),
    data_again_shuffle=again(lambda data: data.shuffle(5)),
    data_again_shuffle_seed=again(lambda data: data.shuffle(5, seed=3)),
    data_again_shuffle_once=again(lambda data: data.shuffle(5, reshuffle_each_iteration=False)),
    data_again_shuffle_repeat=again(lambda data: data.shuffle(5).repeat().batch(2).prefetch(1)),
    data_again_shuffle_and_repeat=again(lambda data: data.apply(tf.data.experimental.shuffle_and_repeat(5, 2))),
    data_again_map_and_batch=again(
        lambda data: data.apply(tf.data.experimental.map_and_batch(lambda value: value * 2, 3))
    ),
    data_again_contrib_map_and_batch=again(
        lambda data: data.apply(tf.contrib.data.map_and_batch(lambda value: value * 2, 3))
    ),
    data_again_contrib_shuffle_and_repeat=again(lambda data: data.apply(tf.contrib.data.shuffle_and_repeat(5))),
    data_again_parallel_interleave=again(
        lambda data: data.apply(tf.data.experimental.parallel_interleave(lambda value: tf.data.Dataset.range(value), 2))
    ),
    data_again_padded=again(lambda data: data.map(lambda value: tf.range(value)).padded_batch(3, [None])),
    data_again_padded_values=again(
        lambda data: data.map(lambda value: tf.fill([tf.to_int32(value)], 1.0)).padded_batch(3, [5], -1.0)
    ),
    data_again_window=again(lambda data: data.window(3).flat_map(lambda window: window.batch(3))),
    data_again_unbatch=again(lambda data: data.batch(2).apply(tf.data.experimental.unbatch())),
    data_again_ignore=again(lambda data: data.apply(tf.data.experimental.ignore_errors())),
    data_again_enumerate=again(lambda data: data.apply(tf.data.experimental.enumerate_dataset())),
    data_again_scan=again(
        lambda data: data.apply(
            tf.data.experimental.scan(tf.zeros([], tf.int64), lambda state, value: (state + value,) * 2)
        )
    ),
    data_again_group=again(
        lambda data: data.apply(
            tf.data.experimental.group_by_window(lambda value: value % 2, lambda _, window: window.batch(2), 2)
        )
    ),
    data_again_bucket=again(
        lambda data: data.map(lambda value: tf.range(value)).apply(
            tf.data.experimental.bucket_by_sequence_length(lambda value: tf.size(value), [3, 6], [2, 2, 2])
        )
    ),
    data_again_reduce=lambda: numbers().reduce(tf.zeros([], tf.int64), lambda total, value: total + value),
    data_again_options=again(lambda data: data.with_options(tf.data.Options())),
    data_slices=lambda: tf.data.Dataset.from_tensor_slices((x(4, 3), ints(4))).make_initializable_iterator().get_next(),
    data_slices_dict=lambda: (
        tf.data.Dataset.from_tensor_slices({"a": x(4, 3), "b": ints(4)}).make_initializable_iterator().get_next()
    ),
    data_slices_list=lambda: tf.data.Dataset.from_tensor_slices(["a", "b"]).make_initializable_iterator().get_next(),
    data_tensors=lambda: tf.data.Dataset.from_tensors(x(4, 3)).make_initializable_iterator().get_next(),
    data_generator=lambda: (
        tf.data.Dataset.from_generator(lambda: iter([1, 2]), tf.int64).make_initializable_iterator().get_next()
    ),
    data_lines=lambda: tf.data.TextLineDataset("a").skip(1).make_initializable_iterator().get_next(),
    data_records=lambda: tf.data.TFRecordDataset(["a", "b"]).make_initializable_iterator().get_next(),
    data_records_parallel=lambda: (
        tf.data.TFRecordDataset(["a", "b"], num_parallel_reads=2).make_initializable_iterator().get_next()
    ),
    data_fixed=lambda: tf.data.FixedLengthRecordDataset("a", 5).make_initializable_iterator().get_next(),
    data_files=lambda: tf.data.Dataset.list_files("*.none").make_initializable_iterator().get_next(),
    data_files_plain=lambda: (
        tf.data.Dataset.list_files("*.none", shuffle=False).make_initializable_iterator().get_next()
    ),
    data_csv=lambda: (
        tf.data.experimental.CsvDataset("a", [tf.float32, tf.int32]).make_initializable_iterator().get_next()
    ),
    data_sample=lambda: (
        tf.data.experimental.sample_from_datasets([numbers(), numbers()], [0.5, 0.5])
        .make_initializable_iterator()
        .get_next()
    ),
    data_sample_equal=lambda: (
        tf.data.experimental.sample_from_datasets([numbers(), numbers()]).make_initializable_iterator().get_next()
    ),
    data_choose=lambda: (
        tf.data.experimental.choose_from_datasets([numbers(), numbers()], numbers(2))
        .make_initializable_iterator()
        .get_next()
    ),
    data_counter=lambda: tf.data.experimental.Counter().make_initializable_iterator().get_next(),
    data_random=lambda: tf.data.experimental.RandomDataset().make_initializable_iterator().get_next(),
    data_rejection=again(
        lambda data: data.apply(
            tf.data.experimental.rejection_resample(lambda value: tf.to_int32(value % 2), [0.5, 0.5], [0.4, 0.6])
        )
    ),
    data_reinitializable=lambda: tf.data.Iterator.from_structure(tf.int64, []).make_initializer(numbers()),
    data_handle=lambda: tf.data.Iterator.from_string_handle(
        tf.placeholder(tf.string, []), tf.int64, tf.TensorShape([])
    ).get_next(),
    data_string_handle=lambda: numbers().make_initializable_iterator().string_handle(),
    data_get_single=lambda: tf.data.experimental.get_single_element(numbers().take(1)),
    data_images=lambda: (
        tf.data.Dataset.from_tensor_slices((x(4, 8, 8, 3), ints(4)))
        .shuffle(4)
        .map(lambda image, label: (tf.image.random_flip_left_right(image), label))
        .repeat()
        .batch(2)
        .make_initializable_iterator()
        .get_next()
    ),
)

# -- summaries, strings, tables ---------------------------------------------------------------------------------------

calls(
    summary_image=lambda: tf.summary.image("a", x(None, 8, 8, 3), 2),
    summary_audio=lambda: tf.summary.audio("a", x(None, 8), 100),
    summary_text=lambda: tf.summary.text("a", tf.placeholder(tf.string, [])),
    summary_tensor=lambda: tf.summary.tensor_summary("a", x(3)),
    summary_family=lambda: tf.summary.scalar("a", x(), family="b"),
    summary_twice=lambda: [tf.summary.scalar("a", x()), tf.summary.histogram("b", x(3)), tf.summary.merge_all()],
    summary_contrib=lambda: tf.contrib.summary.scalar("a", x()),
    summary_optimized=lambda: tf.contrib.layers.summarize_tensors([x(3), x()]),
    string_join=lambda: tf.string_join([tf.placeholder(tf.string, [3]), "a"], "-"),
    string_reduce_join=lambda: tf.reduce_join(tf.placeholder(tf.string, [3, 2]), 1),
    string_reduce_join_all=lambda: tf.reduce_join(tf.placeholder(tf.string, [3, 2])),
    string_substr=lambda: tf.substr(tf.placeholder(tf.string, [3]), 0, 2),
    string_regex=lambda: tf.regex_replace(tf.placeholder(tf.string, [3]), "a", "b"),
    string_length=lambda: tf.strings.length(tf.placeholder(tf.string, [3])),
    string_to_number=lambda: tf.string_to_number(tf.placeholder(tf.string, [3])),
    string_as=lambda: tf.as_string(x(3)),
    string_format=lambda: tf.strings.format("{}", x(3)),
    string_hash=lambda: tf.string_to_hash_bucket_fast(tf.placeholder(tf.string, [3]), 10),
    string_strip=lambda: tf.string_strip(tf.placeholder(tf.string, [3])),
    string_lower=lambda: tf.strings.lower(tf.placeholder(tf.string, [3])),
    string_base64=lambda: tf.decode_base64(tf.encode_base64(tf.placeholder(tf.string, [3]))),
    string_split_ragged=lambda: tf.strings.split(tf.placeholder(tf.string, [3])),
    string_split_result=lambda: tf.strings.split(tf.placeholder(tf.string, [3]), result_type="RaggedTensor"),
    string_split_characters=lambda: tf.string_split(tf.placeholder(tf.string, [3]), ""),
    string_bytes_split=lambda: tf.strings.bytes_split(tf.placeholder(tf.string, [3])),
    string_unicode=lambda: tf.strings.unicode_decode(tf.placeholder(tf.string, [3]), "UTF-8"),
    string_ngrams=lambda: tf.strings.ngrams(
        tf.strings.split(tf.placeholder(tf.string, [3]), result_type="RaggedTensor"), 2
    ),
    table_file=lambda: tf.contrib.lookup.index_table_from_file("none", num_oov_buckets=1, vocab_size=10),
    table_tensor_buckets=lambda: tf.contrib.lookup.index_table_from_tensor(["a", "b"], 2).lookup(
        tf.placeholder(tf.string, [2])
    ),
    table_tensor_default=lambda: tf.contrib.lookup.index_table_from_tensor(["a", "b"], default_value=0),
    table_strings=lambda: tf.contrib.lookup.index_to_string_table_from_tensor(["a", "b"]).lookup(
        tf.placeholder(tf.int64, [2])
    ),
    table_strings_file=lambda: tf.contrib.lookup.index_to_string_table_from_file("none", vocab_size=3),
    table_static=lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1).lookup(
        tf.placeholder(tf.string, [2])
    ),
    table_hash=lambda: tf.contrib.lookup.HashTable(
        tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1
    ).lookup(tf.placeholder(tf.string, [2])),
    table_mutable=lambda: tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1).insert(["a"], [1]),
    table_sparse=lambda: tf.contrib.lookup.index_table_from_tensor(["a", "b"]).lookup(tf.sparse_placeholder(tf.string)),
    tables_initializer=lambda: [tf.contrib.lookup.index_table_from_tensor(["a", "b"]), tf.tables_initializer()],
)


# -- neighbours --------------------------------------------------------------------------------------------------------


def decoded():
    return tf.image.decode_jpeg(tf.placeholder(tf.string, []), channels=3)


def text():
    return tf.placeholder(tf.string, [])


training = tf.contrib.training
calls(
    image_central_crop_decoded=lambda: tf.image.central_crop(decoded(), 0.875),
    image_central_crop_rows=lambda: tf.image.central_crop(x(8, None, 3), 0.5),
    image_standardization_decoded=lambda: tf.image.per_image_standardization(decoded()),
    image_flip_left_unknown=lambda: tf.image.flip_left_right(tf.placeholder(tf.float32)),
    image_random_up_unknown=lambda: tf.image.random_flip_up_down(tf.placeholder(tf.float32)),
    image_suppression_scores=lambda: tf.image.non_max_suppression_padded(x(None, 4), x(None), ints(), 0.6),
    data_again_options_twice=again(
        lambda data: data.with_options(tf.data.Options()).map(lambda value: value + 1).with_options(tf.data.Options())
    ),
    data_again_enumerate_from=again(lambda data: data.enumerate(start=3)),
    data_once_enumerate=once(lambda data: data.enumerate()),
    data_once_interleave=once(lambda data: data.interleave(lambda value: numbers(), 2, num_parallel_calls=2)),
    data_again_contrib_interleave=again(
        lambda data: data.apply(tf.contrib.data.parallel_interleave(lambda value: numbers(), 4, sloppy=True))
    ),
    data_again_rejection_counted=again(
        lambda data: data.apply(tf.data.experimental.rejection_resample(lambda value: tf.to_int32(value % 2), x(2)))
    ),
    data_again_device=again(lambda data: data.apply(tf.data.experimental.prefetch_to_device("/cpu:0"))),
    data_csv_columns=lambda: (
        tf.data.experimental.CsvDataset(["a", "b"], [tf.float32, [0]], header=True, select_cols=[1, 2])
        .make_initializable_iterator()
        .get_next()
    ),
    data_lines_parallel=lambda: (
        tf.data.TextLineDataset(tf.placeholder(tf.string, [None]), num_parallel_reads=2)
        .make_initializable_iterator()
        .get_next()
    ),
    parse_sequence_context=lambda: tf.parse_single_sequence_example(text(), {"n": tf.FixedLenFeature([], tf.int64)}),
    parse_sequence_many=lambda: tf.parse_single_sequence_example(
        text(),
        {"n": tf.FixedLenFeature([], tf.int64), "v": tf.VarLenFeature(tf.string)},
        {"a": tf.FixedLenSequenceFeature([3], tf.float32), "b": tf.FixedLenSequenceFeature([], tf.int64)},
    ),
    parse_sequences=lambda: tf.io.parse_sequence_example(
        tf.placeholder(tf.string, [None]),
        {"n": tf.FixedLenFeature([], tf.int64)},
        {"a": tf.FixedLenSequenceFeature([], tf.int64)},
    ),
    training_bucket_kept=lambda: training.bucket([x(3), ints()], ints(), 2, 4, keep_input=tf.placeholder(tf.bool, [])),
    training_bucket_two=lambda: training.bucket_by_sequence_length(ints(), [x(None)], 2, [3], dynamic_pad=True),
    training_resample_two=lambda: training.resample_at_rate([x(None, 3), ints(None)], x(None)),
    training_weighted_resample_two=lambda: training.weighted_resample([x(None, 3), ints(None)], x(None), 0.5),
    training_stratified_counted=lambda: training.stratified_sample([x(3), x(2)], ints(), [0.2, 0.3, 0.5], 2),
    training_stratified_many=lambda: training.stratified_sample(
        [x(5, 3)], ints(5), [0.5, 0.5], 2, init_probs=[0.5, 0.5], enqueue_many=True
    ),
)
