"""Augmenting images one by one: crops, flips, brightness, contrast, hue, resizing, standardisation, decoding."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(88)
rng = np.random.RandomState(88)
photo = rng.randint(0, 256, size=(24, 20, 3)).astype(np.uint8)

raw = tf.placeholder(tf.uint8, [24, 20, 3])
png = tf.image.encode_png(raw)
decoded = tf.image.decode_png(png, channels=3)
image = tf.image.convert_image_dtype(decoded, tf.float32)
image = tf.random_crop(image, [16, 16, 3])
image = tf.image.random_flip_left_right(image)
image = tf.image.random_flip_up_down(image)
light = tf.image.random_brightness(image, max_delta=0.3)
contrast = tf.image.random_contrast(light, lower=0.5, upper=1.5)
coloured = tf.image.random_saturation(tf.image.random_hue(contrast, 0.1), 0.8, 1.2)
clipped = tf.clip_by_value(coloured, 0.0, 1.0)
standard = tf.image.per_image_standardization(image)
small = tf.image.resize_images(image, [5, 7])
nearest = tf.image.resize_images(image, [6, 6], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
bicubic = tf.image.resize_images(image, [6, 6], method=tf.image.ResizeMethod.BICUBIC, align_corners=True)
padded = tf.image.resize_image_with_crop_or_pad(image, 20, 12)
turned = tf.image.rot90(tf.image.transpose_image(image), 3)
begin, size, box = tf.image.sample_distorted_bounding_box(
    tf.shape(raw), bounding_boxes=[[[0.1, 0.1, 0.9, 0.9]]], min_object_covered=0.4, area_range=[0.3, 0.9], seed=3)
grey = tf.image.rgb_to_grayscale(image)
batch = tf.map_fn(tf.image.random_flip_left_right, tf.stack([image, image, image]), parallel_iterations=1)

with tf.Session() as sess:
    for i in range(3):
        fetched = sess.run([image, light, contrast, clipped, standard, small, nearest, bicubic, padded, turned,
                            grey, batch, begin, size, box], {raw: photo})
        for name, value in zip("image light contrast clipped standard small nearest bicubic padded turned grey "
                               "batch".split(), fetched):
            print(name, value.shape, "max %.6f" % value.max(), value.ravel()[:3])
        print("box", fetched[-3], fetched[-2], fetched[-1].ravel())
    print("png", len(sess.run(png, {raw: photo})) > 100, np.array_equal(sess.run(decoded, {raw: photo}), photo))
