"""Inner modules of 1.15.5 that are gone, written anew; a program gets them at their old addresses.

::

    small_modules.py          modules with a name or two
    framework.py              what framework.common_shapes, op_def_registry, op_def_library and ops had
    graph_transforms.py       tools.graph_transforms
    graph_rewrites.py         its transforms of nodes, attributes, devices and names
    graph_folding.py          its transforms of constants
    keras_files.py            HDF5Matrix and H5Dict of keras.utils
    keras_functions.py        functions of Keras 2 for authors of layers and weights
    keras_legacy.py           keras.legacy.interfaces
    keras_mixed_precision.py  keras.mixed_precision.experimental
    keras_multi_gpu.py        multi_gpu_model
    keras_network.py          the base class of models
    keras_old_layers.py       keras.legacy.layers
    keras_one.py              arguments by their names in Keras 1
    keras_package.py          what the package keras had beside tf.keras
    keras_saved_models.py     export_saved_model, load_from_saved_model
    keras_scikit.py           keras.wrappers.scikit_learn
    keras_test_utils.py       keras.utils.test_utils
    keras_wrappers.py         keras.wrappers
    layers_utils.py           layers.utils
    lost_names.py             public names, put back
    old_flags.py              what flags were before 1.5
    rnn_cells.py              private names of ops.rnn_cell_impl
    tpu_embedding.py          tpu.tpu_embedding
"""
