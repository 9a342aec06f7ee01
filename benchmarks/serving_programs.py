"""Programs that serve a model by hand, for serving.py: each gets the path of a frozen graph, a port and a width."""

from __future__ import annotations

BY_HAND = """
import json, sys
import tensorflow.compat.v1 as tf
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route

tf.disable_v2_behavior()
graph_def = tf.GraphDef()
graph_def.ParseFromString(open(sys.argv[1], "rb").read())
tf.import_graph_def(graph_def, name="")
session = tf.Session()

async def predict(request):
    rows = json.loads(await request.body())["instances"]
    found = await run_in_threadpool(session.run, "y:0", {"x:0": rows})
    return JSONResponse({"predictions": found.tolist()})

app = Starlette(routes=[Route("/{path:path}", predict, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False)
"""

#: What the HTTP server alone takes.
NO_MODEL = """
import sys, uvicorn

async def app(scope, receive, send):
    await receive()
    head = [(b"content-type", b"application/json"), (b"content-length", b"20")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": b'{"predictions": [0]}'})

uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False, lifespan="off")
"""

#: The usual program: a plain function, which FastAPI runs in a thread for each request.
FASTAPI = """
import sys
import tensorflow.compat.v1 as tf
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

tf.disable_v2_behavior()
graph_def = tf.GraphDef()
graph_def.ParseFromString(open(sys.argv[1], "rb").read())
tf.import_graph_def(graph_def, name="")
session = tf.Session()
app = FastAPI()

class Request(BaseModel):
    instances: list[list[float]]

@app.post("/v1/models/m:predict")
def predict(request: Request):
    return {"predictions": session.run("y:0", {"x:0": request.instances}).tolist()}

uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False)
"""

#: The same with Flask, under gunicorn with a worker of 64 threads.
FLASK = """
import sys
import tensorflow.compat.v1 as tf
from flask import Flask, jsonify, request
from gunicorn.app.base import BaseApplication

tf.disable_v2_behavior()
graph_def = tf.GraphDef()
graph_def.ParseFromString(open(sys.argv[1], "rb").read())
tf.import_graph_def(graph_def, name="")
app = Flask(__name__)
sessions = []

@app.post("/v1/models/m:predict")
def predict():
    found = sessions[0].run("y:0", {"x:0": request.get_json(force=True)["instances"]})
    return jsonify({"predictions": found.tolist()})

class Program(BaseApplication):
    def load_config(self):
        for name, value in {
            "bind": f"127.0.0.1:{sys.argv[2]}", "worker_class": "gthread", "threads": 64, "keepalive": 75,
            "post_worker_init": lambda worker: sessions.append(tf.Session()),
        }.items():
            self.cfg.set(name, value)

    def load(self):
        return app

Program().run()
"""

#: As by hand, with TensorFlow's own batching around the graph.
BATCH_OP = BY_HAND.replace('tf.import_graph_def(graph_def, name="")', """
@tf.nondifferentiable_batch_function(1, 64, 2000, [1, 2, 4, 8, 16, 32, 64], 1000)
def whole(rows):
    return tf.import_graph_def(graph_def, {"x:0": rows}, ["y:0"], name="")[0]

x = tf.placeholder(tf.float32, [None, int(sys.argv[3])])
y = whole(x)""").replace('"y:0", {"x:0": rows}', "y, {x: rows}")  # fmt: skip

WSGI = """
import os
import numpy as np

def application(predict):
    def app(environ, start_response):
        for _ in range(20):
            predict(np.zeros([1, WIDTH], np.float32))
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [str(os.getpid()).encode()]
    return app

def shared(address):
    import tf1sessions as t1
    client = t1.SessionClient(address)
    return application(lambda x: client(x=x))

def by_hand():
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    graph_def = tf.GraphDef()
    graph_def.ParseFromString(open("m.pb", "rb").read())
    tf.import_graph_def(graph_def, name="")
    session = tf.Session()
    return application(lambda x: session.run("y:0", {"x:0": x}))
"""

RAY_SERVE = """
import asyncio, sys, threading
from ray import serve

@serve.deployment(max_ongoing_requests=1000)
class Model:
    def __init__(self, path):
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        graph_def = tf.GraphDef()
        graph_def.ParseFromString(open(path, "rb").read())
        tf.import_graph_def(graph_def, name="")
        self.session = tf.Session()

    @serve.batch(max_batch_size=64, batch_wait_timeout_s=0.002)
    async def run(self, rows):
        return self.session.run("y:0", {"x:0": rows}).tolist()

    async def __call__(self, request):
        rows = (await request.json())["instances"]
        return {"predictions": await asyncio.gather(*map(self.run, rows))}

serve.start(http_options={"host": "127.0.0.1", "port": int(sys.argv[2])})
serve.run(Model.bind(sys.argv[1]), route_prefix="/")
threading.Event().wait()
"""
