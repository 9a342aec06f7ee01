"""Copies the project without what git does not keep: python copy FROM TO."""

import shutil
import sys

LEFT_OUT = (".git", "build", "dist", "env", "runs", "*.egg-info", "__pycache__", ".*_cache")
shutil.copytree(sys.argv[1], sys.argv[2], symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
