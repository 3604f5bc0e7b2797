"""Where things lie, and how a command is run."""
import os
import pathlib
import subprocess
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BIN = SOURCE / "build" / "release" / "bin"
IMAGES = SOURCE / "build" / "image"
PACKAGES = SOURCE / "build" / "packages"
SCRATCH = SOURCE / "build" / "packaging"  # Of the tests.
DAEMONS = ("karmada-controller-manager", "karmada-search", "karmada-agent")
TOOLS = ("karmada-interpret", "karmada-lens", "karmada-sandbox")
PLUGINS = ("karmada-interpret", "karmada-lens")
DEADLINE = 120  # Seconds; whatever takes longer is stuck.


def run(*words, check=True, timeout=DEADLINE, **more):
    """Runs a command and returns it when it has ended; its output is text. With `check` a failure shows it all."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, check=False,
                          stdin=subprocess.DEVNULL, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def need_root():
    """For tests that change their root."""
    if os.geteuid() != 0:
        raise AssertionError("only root may change its root: run this test as root")


def version():
    """{name: value} of scripts/version.sh."""
    lines = run(SOURCE / "scripts" / "version.sh", "all").stdout.splitlines()
    return dict(line.split("=", 1) for line in lines)


def eventually(what, check, timeout=DEADLINE):
    """Returns what `check` returns as soon as that is true."""
    end = time.monotonic() + timeout
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout} s for {what}")
        time.sleep(0.1)


def scratch(name):
    """A folder of the tests that lives until the next `make clean`."""
    place = SCRATCH / name
    os.makedirs(place, exist_ok=True)
    return place
