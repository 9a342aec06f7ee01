"""Runs the programs of cases/ported_programs.py on genuine TensorFlow 1.15.5, into data/ported_programs.json.

python tests/golden/make/make_ported_programs.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(GOLDEN / "cases"))
from ported_programs import NOTEBOOK, PROGRAMS  # noqa: E402


def printed(script: str, files: dict[str, str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, script], cwd=folder, stdout=subprocess.PIPE, check=True, text=True)
        return done.stdout


def main() -> None:
    found = {name: printed(*program) for name, program in PROGRAMS.items()}
    found["notebook"] = printed("cells.py", {"cells.py": "\n".join(NOTEBOOK) + "\n"})
    path = GOLDEN / "data" / "ported_programs.json"
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
