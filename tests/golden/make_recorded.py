"""Records ``recorded_program.py`` on genuine TensorFlow 1.15.5: ``python tests/golden/make_recorded.py``."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDER = os.path.join(HERE, "..", "..", "tf1sessions", "porting", "recorder.py")

if __name__ == "__main__":
    options = ["--out", os.path.join(HERE, "recorded.npz"), "--force", "--whole-kb", "4", "--tensors", "hidden/*"]
    script = os.path.join(HERE, "recorded_program.py")
    sys.exit(subprocess.call([sys.executable, RECORDER] + options + [script, "--", "6"]))
