"""Records programs on genuine TensorFlow 1.15.5: ``python tests/golden/make/make_recorded.py [name of a golden]``."""

import os
import subprocess
import sys

from folders import CASES, DATA, TESTS

RECORDER = os.path.join(os.path.dirname(TESTS), "tf1sessions", "porting", "recorder.py")

#: Golden -> the program, the recorder's options, the program's arguments.
RECORDED = {
    "recorded": ("recorded_program.py", ["--whole-kb", "4", "--tensors", "hidden/*"], ["6"]),
    "verify": ("verify_program.py", ["--tensors", "hidden/*", "--tensors", "out/*", "--variables-every", "1"], []),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(RECORDED):
        program, options, arguments = RECORDED[name]
        command = [sys.executable, RECORDER, "--out", os.path.join(DATA, name + ".npz"), "--force"]
        subprocess.check_call(command + options + [os.path.join(CASES, program), "--"] + arguments)
