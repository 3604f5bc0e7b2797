"""The tests of statuses, which run on the sandbox too, on a real API server."""

from . import paths
from .process import run


def write_to(case, kubeconfig, log, what="", env=None):
    """Runs the tests whose name begins with `what` on the server; the case fails if one of them does."""
    done = run(["env", "-C", paths.ROOT, paths.STATUSES_TEST, f"{what}*"], timeout=900,
               env={"STATUS_SERVER": str(kubeconfig), **(env or {})})
    log.write_text(done.stdout)
    for line in done.stdout.splitlines():
        if "version 1." in line or "passed" in line:
            print(line.strip(), flush=True)
    case.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
