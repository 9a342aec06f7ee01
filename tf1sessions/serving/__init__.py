"""Serving: one process owns the device and the models, and everyone else calls it.

::

    settings.py          what is served, and the limits of requests; from Python, or a TOML file
    server.py            Server: what `tf1sessions serve` runs
    versions.py          the versions of a model that are on disk
    repository.py        ModelRepository: versions loaded, swapped and drained
    served_model.py      ServedModel: a loaded version, with a batcher for each signature
    service.py           Service: what all protocols share: limits, the call, counts
    answers.py           errors as statuses of HTTP and gRPC
    deadlines.py         what is late, by one timer for all
    metrics.py           counts and latencies, and their text for Prometheus
    json_arrays.py       arrays from JSON and back, as TensorFlow Serving has them
    examples.py          tf.Example messages for classify and regress
    tensorflow_rest.py   TensorFlow Serving's REST API
    kserve.py            KServe's v2 inference protocol
    http_app.py          the addresses of HTTP, tokens, limits of bodies, errors
    http_server.py       a port, by uvicorn, and its graceful end
    grpc_server.py       TensorFlow Serving's gRPC
    page.py              the page at /
    session_server.py    SessionServer: a process for SessionClients; local_main.py is what runs in it
    session_client.py    SessionClient: calls a server's models and requests as the model is called
    local_server.py      the Unix socket and its connections
    local_handshake.py   the key that both sides have to know
    local_format.py      messages: a header in JSON, and raw arrays
    byte_strings.py      arrays of strings as bytes
    descriptors.py       descriptors above those of the standard streams, which may be closed
"""
