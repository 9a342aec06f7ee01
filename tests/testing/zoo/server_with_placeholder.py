"""An inference server that feeds what it gets; its graph is finalized.

Expected: nothing
"""
import http.client
import http.server
import json
import threading

import tensorflow as tf

x = tf.placeholder(tf.float32, [2])
y = x * 2.0
tf.get_default_graph().finalize()
sess = tf.Session()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        values = json.loads(self.rfile.read(int(self.headers["Content-Length"])).decode())
        answer = sess.run(y, {x: values})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer.tolist()).encode())

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
