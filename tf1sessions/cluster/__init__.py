"""Distributed TensorFlow 1 programs: their tasks as processes of this machine, as ``tf1sessions launch`` starts them.

In the caller's process, without TensorFlow::

    ports.py         ports of the loopback interface that stay ours until the tasks listen on them
    tasks.py         the tasks of a cluster: their addresses, TF_CONFIG, roles
    flags.py         the flags from which a program learns which task it is
    launching.py     runs the tasks, and decides when the cluster is done, or has failed
    marks.py         which tasks are through; for both sides
    horovod_launch.py  runs the ranks of a program that uses Horovod, and decides when they are done
    recipes.py       the command lines that start the same cluster on several machines

In a task's process::

    task_main.py     runs the program, with its server bound to the loopback interface
    sync_tokens.py   lets the last worker of a SyncReplicasOptimizer go on
    tf2_main.py      runs a program of TensorFlow 2, by plain Python
"""
