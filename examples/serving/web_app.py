"""A web program with several workers that share one copy of a model.

With --preload gunicorn calls application() once, before it forks its workers, and one server is started for all of them:

    gunicorn --preload --chdir examples/serving --workers 4 --threads 8 "web_app:application()"
    curl -d '[[1.0, 2.0]]' http://localhost:8000

Workers need no TensorFlow: the client loads NumPy alone. Without --preload give them the address of a server that runs,
in SERVER_ADDRESS.
"""

from __future__ import annotations

import atexit
import json
import os

import tf1sessions as t1


def model(gs):
    """Runs once in the server's process: builds what is served. A file would do as well: SessionServer("frozen.pb")."""
    tf = t1.tf1
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    return {"predict": ({"x": x}, {"sum": tf.reduce_sum(x, 1)})}


def application():
    address = os.environ.get("SERVER_ADDRESS")
    if address is None:
        server = t1.SessionServer(requests=model, restart=True)
        atexit.register(_close, server, os.getpid())
        address = server.address
    client = t1.SessionClient(address)  # forked workers may use it: each makes connections of its own
    predict = client.request("predict")

    def answer(environ, start_response):
        try:
            length = int(environ.get("CONTENT_LENGTH") or 0)
            rows = json.loads(environ["wsgi.input"].read(length))
            found = {"sum": predict(x=rows)["sum"].tolist(), "worker": os.getpid()}
            status = "200 OK"
        except (ValueError, TypeError) as error:
            found, status = {"error": str(error)}, "400 Bad Request"
        except (t1.errors.Overloaded, t1.errors.PeerGoneError, t1.errors.DeadlineError) as error:
            found, status = {"error": str(error)}, "503 Service Unavailable"
        body = json.dumps(found).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    return answer


def _close(server, pid):
    if os.getpid() == pid:  # and not in a worker
        server.close()
