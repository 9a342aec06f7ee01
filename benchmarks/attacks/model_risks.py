"""Attacks on the vetting of models: graphs that touch a file in a random way, by every door."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from attacks.trial import Trial

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "models"))


def by(door: str):
    """Makes a trial of one way in which a model is taken."""

    def act(folder: Path, rng: random.Random) -> str:
        import wicked

        import tf1sessions as t1

        victim = folder / "victim"
        form = rng.choice(wicked.FORMS)
        path = wicked.write(wicked.Graph(str(victim), rng), form, folder)
        outputs = ["y"] if form.startswith("frozen") else None
        try:
            if door == "load and call":
                with t1.load(path, outputs=outputs) as model:
                    model(x=[1.0])
            elif door == "convert":
                t1.porting.convert(path, str(folder / "out"), outputs=outputs)
            elif door == "verify":
                t1.porting.verify(path, path)
            else:
                t1.porting.function(path, outputs=outputs)
        except (t1.errors.UnsafeModelError, t1.errors.ModelFileError):
            return "the file was touched" if victim.exists() else "refused"
        return "taken" + (", and the file was touched" if victim.exists() else "")

    return act


def harmless(folder: Path, rng: random.Random) -> str:
    import wicked

    import tf1sessions as t1

    form = rng.choice(wicked.FORMS)
    path = wicked.write(wicked.Graph("nothing", rng, harmless=True), form, folder)
    t1.load(path, outputs=["y"] if form.startswith("frozen") else None).close()
    return "taken"


TRIALS = [
    Trial("a hidden operation: load and call", "refused", by("load and call"), 300),
    Trial("a hidden operation: convert", "refused", by("convert"), 60),
    Trial("a hidden operation: verify", "refused", by("verify"), 60),
    Trial("a hidden operation: porting.function", "refused", by("function"), 60),
    Trial("a harmless graph of the same structure: load", "taken", harmless, 200),
]
