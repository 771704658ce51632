#!/usr/bin/env python3
"""Runs the README of an export where athenan is not: a new environment for each runtime.

    scripts/check_export.py checkpoints/connect_four/RUN/export_N

Each environment has numpy and one runtime only. The Python blocks of the export's README.md are run
there as they stand; each prints its largest difference from the test vectors.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path


def main() -> int:
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "README.md").exists():
        print("Give the folder of an export.", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).resolve()
    text = (folder / "README.md").read_text()
    blocks = re.findall(
        r"## (\w+)\n.*?pip install ([\w-]+) .*?```python\n(.*?)```", text, re.DOTALL
    )
    failed = 0
    # Nothing of this repository or of the environment it is run from is to be found there.
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for package in sorted({package for _, package, _ in blocks}):
        with tempfile.TemporaryDirectory(prefix="athenan-") as place:
            venv.create(place, with_pip=True)
            python = str(Path(place) / "bin" / "python")
            install = [python, "-m", "pip", "install", "-q", package, "numpy"]
            subprocess.run(install, check=True, env=clean, stderr=subprocess.DEVNULL)
            alone = subprocess.run([python, "-c", "import athenan"], cwd=place, env=clean,
                                   stderr=subprocess.DEVNULL, check=False)  # fmt: skip
            assert alone.returncode != 0, "athenan is not to be found in the new environment"
            for name, needs, code in blocks:
                if needs != package:
                    continue
                run = subprocess.run([python, "-c", code], cwd=folder, env=clean, text=True,
                                     capture_output=True, check=False)  # fmt: skip
                answer = run.stdout.strip() or (run.stderr.strip().splitlines() or ["nothing"])[-1]
                tolerance = 0.1 if name == "tflite_int8" else 1e-4
                failed += run.returncode != 0 or not float(answer) <= tolerance
                print(f"{package:16} {name:12} largest difference {answer}", flush=True)
    return 1 if failed or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
