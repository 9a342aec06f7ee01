"""``tf.contrib.image``: projective transforms, warps, colours in YIQ, matching and connected components.

A transform is 8 numbers [a0, a1, a2, b0, b1, b2, c0, c1]: the output pixel (x, y) comes from the input pixel
``((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)``, where ``k = c0 x + c1 y + 1``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..runtime import tf1 as tf

__all__ = [
    "adjust_hsv_in_yiq",
    "angles_to_projective_transforms",
    "bipartite_match",
    "compose_transforms",
    "connected_components",
    "dense_image_warp",
    "flat_transforms_to_matrices",
    "interpolate_spline",
    "matrices_to_flat_transforms",
    "random_hsv_in_yiq",
    "rotate",
    "sparse_image_warp",
    "transform",
    "translate",
    "translations_to_projective_transforms",
]

_TYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


# ------------------------------------------------------------------------------------------------------- transforms


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> Any:
    """Turns images counterclockwise around their middle.

    Args:
        images: [B, H, W, C], [H, W, C] or [H, W].
        angles: In radians: a scalar, or [B].
        interpolation: "NEAREST" or "BILINEAR".
        name: Of the operations.
    """
    with tf.name_scope(name or "rotate"):
        images = tf.convert_to_tensor(images)
        shape = tf.shape(_batch_of(images))
        height, width = tf.cast(shape[1], tf.float32), tf.cast(shape[2], tf.float32)
        return transform(images, angles_to_projective_transforms(angles, height, width), interpolation=interpolation)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> Any:
    """Moves images.

    Args:
        images: [B, H, W, C], [H, W, C] or [H, W].
        translations: [dx, dy], or one for each image, [B, 2].
        interpolation: "NEAREST" or "BILINEAR".
        name: Of the operations.
    """
    with tf.name_scope(name or "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation=interpolation)


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any, name: str | None = None) -> Any:
    """Transforms [B, 8] that turn images of one size around their middle.

    Args:
        angles: In radians: a scalar, or [B].
        image_height: A float.
        image_width: A float.
        name: Of the operations.
    """
    with tf.name_scope(name or "angles_to_projective_transforms"):
        angles = tf.convert_to_tensor(angles, tf.float32, name="angles")
        if angles.shape.rank not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        angles = tf.reshape(angles, [-1])
        right, bottom = image_width - 1, image_height - 1
        cos, sin, zeros = tf.cos(angles), tf.sin(angles), tf.zeros_like(angles)
        x = (right - (cos * right - sin * bottom)) / 2.0
        y = (bottom - (sin * right + cos * bottom)) / 2.0
        return tf.stack([cos, -sin, x, sin, cos, y, zeros, zeros], axis=1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Any:
    """Transforms [B, 8] that move images by ``translations``, [dx, dy] or [B, 2]."""
    with tf.name_scope(name or "translations_to_projective_transforms"):
        translations = tf.convert_to_tensor(translations, tf.float32, name="translations")
        if translations.shape.rank not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        translations = tf.reshape(translations, [-1, 2])
        dx, dy = translations[:, 0], translations[:, 1]
        ones, zeros = tf.ones_like(dx), tf.zeros_like(dx)
        return tf.stack([ones, zeros, -dx, zeros, ones, -dy, zeros, zeros], axis=1)


def transform(
    images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None, name: str | None = None
) -> Any:
    """Applies transforms to images; what comes from outside of an image is 0. There is no gradient for the transforms.

    Args:
        images: [B, H, W, C], [H, W, C] or [H, W].
        transforms: [8], or one for each image, [B, 8].
        interpolation: "NEAREST" or "BILINEAR".
        output_shape: [height, width]; those of the images without it.
        name: Of the operations.

    Raises:
        TypeError: A type or a rank that it does not have.
        ValueError: ``output_shape`` is not two numbers.
    """
    with tf.name_scope(name or "transform"):
        images = tf.convert_to_tensor(images, name="images")
        if images.dtype.base_dtype not in _TYPES:
            raise TypeError(f"Invalid dtype {images.dtype}.")
        batch = _batch_of(images)
        transforms = tf.convert_to_tensor(transforms, tf.float32, name="transforms")
        if transforms.shape.rank == 1:
            transforms = transforms[None]
        elif transforms.shape.rank != 2:
            raise TypeError("Transforms should have rank 1 or 2.")
        size = tf.shape(batch)[1:3] if output_shape is None else tf.convert_to_tensor(output_shape, tf.int32)
        if size.shape.as_list() != [2]:
            raise ValueError("output_shape must be a 1-D Tensor of 2 elements: new_height, new_width")
        output = tf.raw_ops.ImageProjectiveTransformV2(
            images=batch, transforms=transforms, output_shape=size, interpolation=interpolation.upper()
        )
        height_width = tf.get_static_value(size)
        if output_shape is None:
            output.set_shape([None, *batch.shape.as_list()[1:3], None])
        elif height_width is not None:
            output.set_shape([None, *height_width, None])
        if images.shape.rank == 2:
            return output[0, :, :, 0]
        return output[0] if images.shape.rank == 3 else output


def _batch_of(images: Any) -> Any:
    rank = images.shape.rank
    if rank is None:
        raise TypeError("Images' rank must be statically known")
    if rank == 2:
        return images[None, :, :, None]
    if rank == 3:
        return images[None]
    if rank == 4:
        return images
    raise TypeError("Images should have rank between 2 and 4.")


def compose_transforms(*transforms: Any) -> Any:
    """The transforms [B, 8] that do the same as ``transforms``, each [8] or [B, 8], one after another."""
    if not transforms:
        raise ValueError("transforms cannot be empty")
    with tf.name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for other in transforms[1:]:
            composed = tf.matmul(composed, flat_transforms_to_matrices(other))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: Any) -> Any:
    """Matrices [B, 3, 3] from output to input pixels for transforms [8] or [B, 8]."""
    with tf.name_scope("flat_transforms_to_matrices"):
        transforms = tf.convert_to_tensor(transforms, name="transforms")
        if transforms.shape.rank not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        flat = tf.reshape(transforms, [-1, 8])
        return tf.reshape(tf.concat([flat, tf.ones_like(flat[:, :1])], axis=1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: Any) -> Any:
    """Transforms [B, 8] for matrices [3, 3] or [B, 3, 3] from output to input pixels."""
    with tf.name_scope("matrices_to_flat_transforms"):
        matrices = tf.convert_to_tensor(transform_matrices, name="matrices")
        if matrices.shape.rank not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = tf.reshape(matrices, [-1, 9])
        return (flat / flat[:, 8:9])[:, :8]


# ------------------------------------------------------------------------------------------------------------ warps


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Any:
    """``output[b, y, x] = image[b, y - flow[b, y, x, 0], x - flow[b, y, x, 1]]``, interpolated between pixels.

    Args:
        image: [B, H, W, C], floats; H and W are 2 at least.
        flow: [B, H, W, 2], floats.
        name: Of the operations.
    """
    with tf.name_scope(name):
        image, flow = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        if image.shape.rank != 4 or flow.shape.rank != 4:
            raise ValueError(f"image and flow should have 4 dimensions, got {image.shape} and {flow.shape}")
        batch, height, width, channels = tf.unstack(tf.shape(image))
        y, x = tf.meshgrid(tf.range(height), tf.range(width), indexing="ij")
        grid = tf.cast(tf.stack([y, x], axis=2), flow.dtype)
        points = tf.reshape(grid[None] - flow, [batch, height * width, 2])
        warped = _interpolate_bilinear(image, points)
        result = tf.reshape(warped, [batch, height, width, channels])
        result.set_shape(image.shape)
        return result


def _interpolate_bilinear(image: Any, points: Any) -> Any:
    """The values [B, N, C] of ``image`` [B, H, W, C] at ``points`` [B, N, 2], (y, x); the nearest edge outside it."""
    shape = tf.shape(image)
    batch, count = tf.shape(points)[0], tf.shape(points)[1]
    ends = shape[1:3]
    corner = tf.minimum(tf.maximum(tf.floor(points), 0.0), tf.cast(ends - 2, points.dtype))
    weights = tf.clip_by_value(points - corner, 0.0, 1.0)
    # an edge case of one pixel only has no second corner
    low = tf.maximum(tf.cast(corner, tf.int32), 0)
    high = tf.minimum(low + 1, ends - 1)
    numbers = tf.tile(tf.range(batch)[:, None], [1, count])

    def at(rows: Any, columns: Any) -> Any:
        return tf.gather_nd(image, tf.stack([numbers, rows, columns], axis=2))

    right = tf.cast(weights[..., 1:2], image.dtype)
    down = tf.cast(weights[..., 0:1], image.dtype)
    top = at(low[..., 0], low[..., 1])
    top += right * (at(low[..., 0], high[..., 1]) - top)
    bottom = at(high[..., 0], low[..., 1])
    bottom += right * (at(high[..., 0], high[..., 1]) - bottom)
    return top + down * (bottom - top)


_TINY = 1e-10


def _basis(squared: Any, order: int) -> Any:
    """The radial basis function of ``order`` at the squared distances."""
    if order == 1:
        return tf.sqrt(tf.maximum(squared, _TINY))
    if order == 2:
        return 0.5 * squared * tf.math.log(tf.maximum(squared, _TINY))
    squared = tf.maximum(squared, _TINY)
    if order % 2 == 0:
        return 0.5 * tf.pow(squared, 0.5 * order) * tf.math.log(squared)
    return tf.pow(squared, 0.5 * order)


def _squared_distances(a: Any, b: Any) -> Any:
    """[B, N, M] for points [B, N, D] and [B, M, D]."""
    a_norms, b_norms = tf.reduce_sum(tf.square(a), 2), tf.reduce_sum(tf.square(b), 2)
    return a_norms[:, :, None] - 2 * tf.matmul(a, b, transpose_b=True) + b_norms[:, None, :]


def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Any:
    """A polyharmonic spline through ``train_values`` at ``train_points``, evaluated at ``query_points``.

    Args:
        train_points: [B, N, D].
        train_values: [B, N, K].
        query_points: [B, M, D].
        order: 1 for r, 2 for ``r² log r`` (the thin-plate spline), 3 for r³ ...
        regularization_weight: Above 0, the spline is smoother and only near the values.
        name: Of the operations.

    Returns:
        [B, M, K].
    """
    with tf.name_scope(name):
        points, values, queries = (tf.convert_to_tensor(x) for x in (train_points, train_values, query_points))
        batch, count, size = tf.shape(points)[0], tf.shape(points)[1], points.shape.as_list()[2]
        dtype = points.dtype
        with tf.name_scope("solve"):
            matrix = _basis(_squared_distances(points, points), order)
            if regularization_weight > 0:
                matrix += regularization_weight * tf.eye(count, batch_shape=[batch], dtype=dtype)
            linear = tf.concat([points, tf.ones_like(points[..., :1])], 2)
            corner = tf.zeros([batch, size + 1, size + 1], dtype)
            left = tf.concat(
                [tf.concat([matrix, linear], 2), tf.concat([tf.transpose(linear, [0, 2, 1]), corner], 2)], 1
            )
            right = tf.concat([values, tf.zeros([batch, size + 1, tf.shape(values)[2]], dtype)], 1)
            solution = tf.linalg.solve(left, right)
            w, v = solution[:, :count], solution[:, count:]
        with tf.name_scope("predict"):
            radial = tf.matmul(_basis(_squared_distances(queries, points), order), w)
            found = radial + tf.matmul(tf.concat([queries, tf.ones_like(queries[..., :1])], 2), v)
        found.set_shape([None, queries.shape.as_list()[1], values.shape.as_list()[2]])
        return found


def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Any, Any]:
    """Warps images so that points move to other points, and what is between them moves smoothly.

    Args:
        image: [B, H, W, C], floats; H and W are known.
        source_control_point_locations: [B, N, 2], (y, x).
        dest_control_point_locations: [B, N, 2].
        interpolation_order: As in :func:`interpolate_spline`.
        regularization_weight: As there.
        num_boundary_points: 0, or how many points at each edge stay where they are: 1 for the corners, n for n - 1
            more.
        name: Of the operations.

    Returns:
        The images, [B, H, W, C], and the flow, [B, H, W, 2], that :func:`dense_image_warp` used.
    """
    image = tf.convert_to_tensor(image)
    source = tf.convert_to_tensor(source_control_point_locations)
    dest = tf.convert_to_tensor(dest_control_point_locations)
    if num_boundary_points < 0:
        raise ValueError("num_boundary_points must be at least 0")
    with tf.name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        flows = dest - source
        if num_boundary_points:
            edge = tf.cast(_edge(height, width, num_boundary_points), dest.dtype)
            edge = tf.tile(edge[None], [tf.shape(dest)[0], 1, 1])
            dest, flows = tf.concat([dest, edge], 1), tf.concat([flows, tf.zeros_like(edge)], 1)
        y, x = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
        grid = tf.constant(np.stack([y, x], -1).reshape(1, -1, 2), dest.dtype)
        grid = tf.tile(grid, [tf.shape(image)[0], 1, 1])
        flow = interpolate_spline(dest, flows, grid, interpolation_order, regularization_weight)
        flow = tf.reshape(flow, [tf.shape(image)[0], height, width, 2])
        flow.set_shape([batch, height, width, 2])
        return dense_image_warp(image, tf.cast(flow, image.dtype)), flow


def _edge(height: int, width: int, count: int) -> Any:
    """The corners and ``count - 1`` points between two of them, [N, 2]."""
    y, x = np.linspace(0, height - 1, count + 1), np.linspace(0, width - 1, count + 1)
    grid = np.stack(np.meshgrid(y, x, indexing="ij"), -1).reshape(-1, 2)
    on_edge = (np.isin(grid[:, 0], (y[0], y[-1]))) | (np.isin(grid[:, 1], (x[0], x[-1])))
    return grid[on_edge]


# ---------------------------------------------------------------------------------------------------------- colours

_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])


def adjust_hsv_in_yiq(
    image: Any, delta_hue: Any = 0, scale_saturation: Any = 1, scale_value: Any = 1, name: str | None = None
) -> Any:
    """Turns the hue, and scales saturation and value, of RGB images in the colour space YIQ.

    Args:
        image: [..., 3].
        delta_hue: In radians.
        scale_saturation: A factor.
        scale_value: A factor.
        name: Of the operations.
    """
    with tf.name_scope(name or "adjust_hsv_in_yiq"):
        image = tf.convert_to_tensor(image, name="image")
        if image.shape.rank is not None and image.shape.as_list()[-1] not in (None, 3):
            raise ValueError(f"input must have 3 channels but instead has {image.shape.as_list()[-1]} channels")
        colours = tf.image.convert_image_dtype(image, tf.float32)
        hue, saturation, value = (tf.cast(x, tf.float32) for x in (delta_hue, scale_saturation, scale_value))
        cos, sin = saturation * tf.cos(hue), saturation * tf.sin(hue)
        zero, one = tf.zeros_like(cos), tf.ones_like(cos)
        turn = value * tf.stack([[one, zero, zero], [zero, cos, -sin], [zero, sin, cos]])
        there, back = (tf.constant(m, tf.float32) for m in (_TO_YIQ, np.linalg.inv(_TO_YIQ)))
        matrix = tf.matmul(back, tf.matmul(turn, there))
        adjusted = tf.tensordot(colours, matrix, [[-1], [1]])
        adjusted.set_shape(image.shape)
        return tf.image.convert_image_dtype(adjusted, image.dtype)


def random_hsv_in_yiq(
    image: Any,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Any:
    """:func:`adjust_hsv_in_yiq` by random amounts: ±``max_delta_hue``, and factors between the bounds.

    Raises:
        ValueError: A bound is negative, or above the other one.
    """
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    for what, lower, upper in (
        ("saturation", lower_saturation, upper_saturation),
        ("value", lower_value, upper_value),
    ):
        if lower < 0:
            raise ValueError(f"lower_{what} must be non-negative.")
        if lower > upper:
            raise ValueError(f"lower_{what} must be < upper_{what}.")

    def between(low: float, high: float, fixed: float) -> Any:
        return tf.constant(fixed) if low == high else tf.random.uniform([], low, high, seed=seed)

    return adjust_hsv_in_yiq(
        image,
        between(-max_delta_hue, max_delta_hue, 0.0),
        between(lower_saturation, upper_saturation, float(lower_saturation)),
        between(lower_value, upper_value, float(lower_value)),
    )


# ------------------------------------------------------------------------------------------ matching and components


class BipartiteMatch(NamedTuple):
    """The result of :func:`bipartite_match`: int32 vectors, -1 where there is no match."""

    row_to_col_match_indices: Any
    col_to_row_match_indices: Any


def bipartite_match(
    distance_mat: Any, num_valid_rows: Any, top_k: int = -1, name: str = "bipartite_match"
) -> BipartiteMatch:
    """Matches rows and columns greedily: the least distance first, and each row and column once.

    Args:
        distance_mat: [N, M], floats.
        num_valid_rows: Only so many of the first rows are matched; all if it is negative.
        top_k: The most matches; as many as there can be if it is negative.
        name: Of the operations.
    """
    with tf.name_scope(name):
        distances = tf.convert_to_tensor(distance_mat, tf.float32)
        rows, columns = tf.unstack(tf.shape(distances))
        valid = tf.cast(tf.reshape(num_valid_rows, []), tf.int32)
        valid = tf.where(valid < 0, rows, tf.minimum(valid, rows))
        most = tf.minimum(valid, columns)
        most = tf.where(top_k < 0, most, tf.minimum(top_k, most))
        far = tf.constant(float("inf"))
        start = tf.where(
            tf.tile((tf.range(rows) < valid)[:, None], [1, columns]), distances, far * tf.ones_like(distances)
        )

        def match(count: Any, left: Any, to_column: Any, to_row: Any) -> tuple[Any, Any, Any, Any]:
            place = tf.argmin(tf.reshape(left, [-1]), output_type=tf.int32)
            row, column = place // columns, place % columns
            in_row, in_column = tf.equal(tf.range(rows), row), tf.equal(tf.range(columns), column)
            taken = tf.logical_or(in_row[:, None], in_column[None])
            return (
                count + 1,
                tf.where(taken, far * tf.ones_like(left), left),
                tf.where(in_row, tf.fill([rows], column), to_column),
                tf.where(in_column, tf.fill([columns], row), to_row),
            )

        _, _, to_column, to_row = tf.while_loop(
            lambda count, *_: count < most, match, [0, start, tf.fill([rows], -1), tf.fill([columns], -1)]
        )
        shape = distances.shape.with_rank(2).as_list()
        to_column.set_shape([shape[0]])
        to_row.set_shape([shape[1]])
        return BipartiteMatch(to_column, to_row)


def connected_components(images: Any) -> Any:
    """Numbers the components: pixels of one value other than 0 (or False) that touch at their sides.

    Args:
        images: [H, W] or [B, H, W].

    Returns:
        int32 of the same shape: 0 where the image is, and 1, 2 ... in the order of the components' first pixels, on
        through the batch.

    Raises:
        TypeError: Another rank.
    """
    with tf.name_scope("connected_components"):
        images = tf.convert_to_tensor(images, name="images")
        if images.shape.rank not in (2, 3):
            raise TypeError(f"images should have rank 2 (HW) or 3 (NHW). Static shape is {images.shape}")
        batch = images[None] if images.shape.rank == 2 else images
        shape = tf.shape(batch)
        empty = tf.equal(batch, tf.zeros_like(batch))
        pixels = tf.size(batch)
        joined = [
            tf.logical_and(tf.equal(batch[:, 1:], batch[:, :-1]), tf.logical_not(empty[:, 1:])),
            tf.logical_and(tf.equal(batch[:, :, 1:], batch[:, :, :-1]), tf.logical_not(empty[:, :, 1:])),
        ]

        def spread(_: Any, labels: Any) -> tuple[Any, Any]:
            """Each pixel gets the least label of its neighbours, and then the label that this label has."""
            new = labels
            for axis, links in ((1, joined[0]), (2, joined[1])):
                first, second = (new[:, :-1], new[:, 1:]) if axis == 1 else (new[:, :, :-1], new[:, :, 1:])
                least = tf.where(links, tf.minimum(first, second), tf.fill(tf.shape(links), pixels))
                pads = [[0, 0]] * 3
                before, after = list(pads), list(pads)
                before[axis], after[axis] = [0, 1], [1, 0]
                new = tf.minimum(new, tf.pad(least, before, constant_values=np.iinfo(np.int32).max))
                new = tf.minimum(new, tf.pad(least, after, constant_values=np.iinfo(np.int32).max))
            new = tf.gather(tf.reshape(new, [-1]), new)
            return tf.reduce_any(tf.not_equal(new, labels)), new

        start = tf.reshape(tf.range(pixels), shape)
        _, labels = tf.while_loop(lambda going, _: going, spread, [True, start])
        roots = tf.logical_and(tf.equal(labels, start), tf.logical_not(empty))
        numbers = tf.cumsum(tf.cast(tf.reshape(roots, [-1]), tf.int32))
        found = tf.where(empty, tf.zeros_like(labels), tf.gather(numbers, labels))
        found = found[0] if images.shape.rank == 2 else found
        found.set_shape(images.shape)
        return found
