"""Brings a plane up and runs a command on it:

    cd tests/e2e && /usr/bin/python3 -m rig [--members N] [--daemon ours|upstream|none] [--versions NAME] -- COMMAND...

The command gets TEST_PLANE (the folder with plane.json) and KUBECONFIG (the control plane). Without a
command the plane stays until Ctrl-C. With --versions its servers are a combination of rig/versions.py.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile

from . import paths, versions
from .daemon import Daemon
from .plane import Plane


def main():
    parser = argparse.ArgumentParser(prog="rig", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, default=2)
    parser.add_argument("--daemon", choices=("ours", "upstream", "none"), default="ours")
    parser.add_argument("--versions", choices=sorted(versions.ALL), help="a plane of two members with servers of other versions")
    parser.add_argument("--folder", default=None, help="where the plane's files go")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    testbed = paths.Testbed.build(with_upstream=options.daemon == "upstream")
    folder = options.folder or tempfile.mkdtemp(prefix="karmada-plane-")
    with (versions.ALL[options.versions].plane(folder, testbed) if options.versions
          else Plane(folder, testbed, members=options.members)) as plane:
        if options.daemon != "none":
            exe = paths.DAEMON if options.daemon == "ours" else testbed.exe("upstream-controller-manager")
            Daemon(plane, exe).wait_healthy()
            plane.wait_members_ready()
        return run(plane, [word for word in options.command if word != "--"])


def run(plane, command):
    env = {**os.environ, "TEST_PLANE": str(plane.folder), "KUBECONFIG": str(plane.kubeconfigs["host"])}
    if command:
        return subprocess.run(command, env=env, check=False).returncode
    print(f"rig: up. export KUBECONFIG={env['KUBECONFIG']} TEST_PLANE={env['TEST_PLANE']}\nrig: Ctrl-C ends it",
          flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
