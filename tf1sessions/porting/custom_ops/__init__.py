"""Operations of TensorFlow 1 in C++ and CUDA, compiled against today's headers.

Files::

    code.py        a source, and where in it code stands
    rules.py       what sources need on today's headers: the table of rules
    headers.py     headers that have moved
    rewriting.py   rewrite(): a source by the rules
    sources.py     read_sources(): sources with what they include of the user's own files
    toolchain.py   compilers, their flags, and what they say
    building.py    build(): a library that tf.load_op_library loads
"""
