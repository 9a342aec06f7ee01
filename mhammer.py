import os, sys, threading, time, random
os.environ["TF_CPP_MIN_LOG_LEVEL"]="3"
import tf1sessions as t1
tf=t1.tf1
with tf.Graph().as_default() as g:
    x=tf.placeholder(tf.float32,[None],name="x"); tf.identity(x*2.0,name="y")
tf.train.write_graph(g,"/tmp","tiny.pb",as_text=False)
for k in range(60):
    m=t1.load("/tmp/tiny.pb")
    ends=[]
    def call():
        try:
            while True: m(x=[1.])
        except Exception as e: ends.append(type(e).__name__)
    ts=[threading.Thread(target=call,daemon=True) for _ in range(3)]
    [t.start() for t in ts]; time.sleep(random.random()/20)
    c=threading.Thread(target=m.close,daemon=True); c.start(); c.join(20)
    if c.is_alive(): print("HANGS", k); import faulthandler; faulthandler.dump_traceback(); os._exit(1)
    [t.join(5) for t in ts]; 
print(set(ends), "ok")
