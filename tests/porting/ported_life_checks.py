"""Converted models are written here, and live on in plain_tf2.py, a process without this package."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import tensorflow as tf
from ported_sources import MODELS, inference, record_of, training

NAMES = ("mlp", "cnn", "lstm", "words", "gan")


def check_life_after_conversion() -> None:
    with tempfile.TemporaryDirectory(prefix="converted-") as folder:
        for name in NAMES:
            record = record_of(name)
            for kind, module in (("inference", inference(record)), ("training", training(record))):
                target = str(Path(folder, name, kind))
                tf.saved_model.save(module, target, signatures=module.export_signatures())
        program = [sys.executable, str(Path(__file__).with_name("plain_tf2.py")), folder, str(MODELS), *NAMES]
        done = subprocess.run(program, capture_output=True, text=True, timeout=160)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == dict.fromkeys(NAMES, "lives"), "\n".join(found.values())
