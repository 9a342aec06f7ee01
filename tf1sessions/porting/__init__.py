"""Leaving TensorFlow 1, a proven step at a time.

``graphs/`` graphs of TensorFlow 1 as functions of TensorFlow 2 · ``checkpoints/`` its checkpoints for objects of
TensorFlow 2, and back · ``recorder.py`` for the old machine: what a program computes there, as a trace
"""
