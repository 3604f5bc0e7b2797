#!/usr/bin/env python3
"""Builds a program written in Go that lives in simulated time (README.md).

    build.py OUTPUT MODULE_FOLDER PACKAGE [FLAG OF GO BUILD...]

The sources of Go are not changed: the compiler is told to read five files of its runtime from a temporary folder, and one that
is added. A place that is not found, because another version of Go has it otherwise, is an error that names it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# By file of the runtime: what is replaced, each exactly once. Where no replacement is given, the file is left out.
CHANGES = {
    "time_nofake.go": [("return nanotime1()", "return simNanotime()")],
    "timestub.go": [("!(linux && amd64) && ", "")],
    "timeasm.go": None,
    "time_linux_amd64.s": None,
    "netpoll_epoll.go": [("\tvar waitms int32\n", "\tblocks := delay != 0\n\tdelay = simWaits(delay)\n\tvar waitms int32\n"),
                         ("\tvar toRun gList\n", "\tif blocks {\n\t\tsimHasWaited()\n\t}\n\tvar toRun gList\n"),
                         ("\t\t\tif delay != 0 {\n", "\t\t\tif blocks {\n")],
    "proc.go": [("\tgoenvs()\n", "\tgoenvs()\n\tsimBegin()\n"),
                ("\tif haveSysmon {\n", "\tsimStart()\n\tif haveSysmon {\n")],
}


def overlay(runtime, folder):
    replaced = {str(runtime / "simulated_time.go"): str(HERE / "simulated_time.go")}
    for name, changes in CHANGES.items():
        replaced[str(runtime / name)] = ""
        if changes is None:
            continue
        text = (runtime / name).read_text()
        for before, after in changes:
            if text.count(before) != 1:
                sys.exit(f"build.py: {runtime / name} has {text.count(before)} times {before.strip()!r}, and not once")
            text = text.replace(before, after)
        (folder / name).write_text(text)
        replaced[str(runtime / name)] = str(folder / name)
    return {"Replace": replaced}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    output, module, package, *flags = sys.argv[1:]
    root = subprocess.run(["go", "env", "GOROOT"], cwd=module, check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        listing = pathlib.Path(folder) / "overlay.json"
        listing.write_text(json.dumps(overlay(pathlib.Path(root) / "src" / "runtime", pathlib.Path(folder))))
        command = ["go", "build", f"-overlay={listing}", f"-o={pathlib.Path(output).resolve()}", *flags, package]
        # Nothing of such a program goes through the C library.
        sys.exit(subprocess.run(command, cwd=module, check=False, env={**os.environ, "CGO_ENABLED": "0"}).returncode)


if __name__ == "__main__":
    main()
