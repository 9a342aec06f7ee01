"""Models that TensorFlow 1 wrote: loaded, shared between threads, looked into."""
