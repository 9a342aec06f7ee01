"""An inference server whose handler makes a constant for each request.

Expected:
    concurrent construction; the process's default graph; A adds operations Const; A adds operations Const
    mutation while running; the process's default graph; A adds operations Const; B runs the graph
    graph growth in a loop; the process's default graph; A adds operations Const; B runs the graph
"""
import http.client
import http.server
import json
import threading

import tensorflow as tf

graph = tf.get_default_graph()
x = tf.placeholder(tf.float32, [2])
y = x * 2.0
sess = tf.Session()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        values = json.loads(self.rfile.read(int(self.headers["Content-Length"])).decode())
        with graph.as_default():
            bias = tf.constant([1.0, 1.0])  # A
        answer = sess.run([y, bias], {x: values})  # B
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer[0].tolist()).encode())

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = False
thread = threading.Thread(target=server.serve_forever, args=(0.02,))
thread.start()
for number in range(6):
    client = http.client.HTTPConnection(*server.server_address)
    client.request("POST", "/", json.dumps([1.0, number]))
    assert json.loads(client.getresponse().read().decode()) == [2.0, number * 2.0]
    client.close()
server.shutdown()
thread.join()
server.server_close()
sess.close()
