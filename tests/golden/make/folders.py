"""The folders of goldens, for the scripts beside this file; its import puts what they record on the path.

Python 3.7 and later, as TensorFlow 1.15.5 runs there.
"""

import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = os.path.join(TESTS, "golden", "cases")
DATA = os.path.join(TESTS, "golden", "data")

sys.path[1:1] = [CASES, os.path.join(TESTS, "contrib"), os.path.join(TESTS, "estimator")]
