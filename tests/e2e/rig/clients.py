"""Real clients of Kubernetes, the programs of tests/clients, and conversations with them."""

import json
import os
import pathlib
import select
import subprocess
import time

from . import paths
from .process import Timeout, die_with_parent

FOLDER = paths.ROOT / "tests" / "clients"
NEWEST = "newest"


def build(every_version=False):
    """Builds the programs that are missing; returns their folder."""
    command = [str(FOLDER / "build.sh")] + (["--all"] if every_version else [])
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("rig: the clients could not be built, see above")
    return pathlib.Path(done.stdout.strip())


def versions():
    """The names of the older versions of client-go that there are, such as 0.30."""
    return sorted(file.stem for file in (FOLDER / "versions").glob("*.mod"))


class Client:
    """A running program that answers each command with one line of JSON. It dies with us."""

    def __init__(self, name, command, log, env=None):
        self.name, self.log, self.first = name, pathlib.Path(log), None
        with open(self.log, "wb") as errors:
            self._popen = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env={**os.environ, **(env or {})}, preexec_fn=die_with_parent)

    def say(self, *words):
        """Sends a command; heard() has its answer."""
        self._popen.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self._popen.stdin.flush()

    def heard(self, timeout=90):
        """The answer to the oldest command that has none."""
        end, line = time.monotonic() + timeout, b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self._popen.stdout], [], [], max(0, end - time.monotonic()))
            piece = os.read(self._popen.stdout.fileno(), 1 << 20) if ready else b""
            if not piece:
                raise Timeout(f"{self.name} does not answer; its log ends with:\n{self.log.read_text()[-2000:]}")
            line += piece
        return json.loads(line)

    def ask(self, *words, timeout=90):
        self.say(*words)
        return self.heard(timeout)

    def stop(self):
        self._popen.kill()
        self._popen.wait()
        self._popen.stdin.close()
        self._popen.stdout.close()


def informers(folder, log_folder, kubeconfig, selector, version=NEWEST, watch_list=True, flags=()):
    """Starts the informers of a version of client-go."""
    program = "informers" if version == NEWEST else f"informers-{version}"
    first = "watch-list" if watch_list else "list"  # The kind of its first request.
    name = f"{program}-{first}"
    env = {"KUBE_FEATURE_WatchListClient": str(watch_list).lower()}
    if watch_list:
        env["ENABLE_CLIENT_GO_WATCH_LIST_ALPHA"] = "true"  # What client-go 0.30 looks at.
    client = Client(name, [folder / program, "-kubeconfig", kubeconfig, "-selector", selector, *flags],
                    log_folder / f"{name}.log", env)
    client.first = first
    return client


def manager(folder, log_folder, kubeconfig, selector, namespace="default"):
    """Starts the manager of controller-runtime."""
    return Client("manager", [folder / "manager", "-kubeconfig", kubeconfig, "-selector", selector, "-namespace",
                              namespace], log_folder / "manager.log")
