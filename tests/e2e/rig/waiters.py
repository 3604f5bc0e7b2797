"""Tools that wait for templates: the programs of tests/waiters, built once."""

import functools
import json
import pathlib
import subprocess

from . import paths
from .process import must

_FOLDER = paths.ROOT / "tests" / "waiters"


@functools.cache
def folder():
    """Builds the programs that are missing; returns their folder."""
    done = subprocess.run([_FOLDER / "build.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("rig: the tools that wait could not be built, see above")
    return pathlib.Path(done.stdout.strip())


def verdict(program, item):
    """What `argo` or `kstatus` makes of the object: (status, message)."""
    answer = json.loads(must([folder() / program], json.dumps(item)))
    return answer["status"], answer["message"]
