"""Rules of the steps, a rule a file; ``RULES`` of ..steps has them all.

Files::

    python_two_names.py      builtins, attributes and methods that only Python 2 has
    python_two_modules.py    modules of Python 2's standard library
    stdlib_names.py          what Python 3.7 to 3.13 removed
    numpy_names.py           NumPy
    scipy_names.py           SciPy
    sklearn_names.py         scikit-learn
    pandas_names.py          pandas
    networkx_names.py        networkx
    pillow_names.py          Pillow
    h5py_names.py            h5py
    small_names.py           PyYAML, matplotlib, seaborn, librosa and others with a row or two
    seaborn_arguments.py     arguments of seaborn's plots
    v1_first_names.py        what left with TensorFlow 1.0
    v1_arguments.py          arguments of 1.15 that today's functions lack or take elsewhere
    v1_imports.py            TensorFlow from compat.v1, with version 2 switched off
    v1_keras.py              the package Keras
    v1_contrib.py            tf.contrib
    v1_estimator.py          tf.estimator
    v1_examples.py           the tutorials' MNIST
    v1_inner.py              tensorflow.python
    v1_missing.py            what nothing has today
    replacement.py           what a use of a name becomes, for the rules of clean
    clean_contrib.py         second names that tf.contrib had
    clean_names.py           names of TensorFlow 2 where they are equal
    clean_arguments.py       calls of functions whose arguments changed
    clean_flags.py           tf.flags and tf.app as absl
    inputs_queues.py         queues of files and arrays as tf.data
    functions_requests.py    requests to a session as functions; what keeps a program from it
    native_code.py           a LegacyGraph as plain TensorFlow 2
"""
