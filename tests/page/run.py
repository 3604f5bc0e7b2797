#!/usr/bin/env python3
"""Tries the page of `karmada-lens serve` in a real Chromium, over a sandbox with a broken fleet.

    tests/page/run.py [--pictures FOLDER] [CASE...]

CASE is a part of a name; without one all run. Pictures of the page are written into FOLDER, or a folder that is removed.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import advice_rows
import cases
import plane


class World:
    """What all cases share."""

    def __init__(self, folder, pictures):
        self.folder = pathlib.Path(folder)
        self.pictures = pathlib.Path(pictures or folder)
        self.pictures.mkdir(parents=True, exist_ok=True)
        self.spec = plane.SPEC
        self.sandbox = plane.Sandbox(self.folder / "sandbox")
        self.sandbox.create_all(plane.manifests("fleet.yaml"))
        self.gate = plane.Gate(self.sandbox)
        self.certificate = self._certificate()
        self.page = plane.Page(self.sandbox.kubeconfig)
        self._rows = None
        self._is_complete = False
        plane.eventually("the good Deployment has arrived and the bad ones have not", self._is_settled)

    def complete(self):
        """What no picture of the documents is to show, from the first call on."""
        if not self._is_complete:
            self.sandbox.create_all(plane.manifests("roles.yaml"))
            self._is_complete = True

    def rows(self):
        """Some eighty situations more in which something is wrong, from the first call on; each is what it is to be."""
        if self._rows is None:
            self._rows = advice_rows.make_all(self.sandbox)
            for row in self._rows:
                said = {}

                def is_said(row=row, said=said):
                    said.update(self.page.ask(f"object?{row.query}"))
                    return row.says(said["headline"])

                plane.eventually(lambda row=row, said=said: f"{row.name}: {row.headline!r}; it says {said.get('headline')!r}", is_said)
        return self._rows

    def _is_settled(self):
        causes = self.page.ask("fleet")["groups"]
        names = {one["name"] for cause in causes for one in cause["templates"] if cause["templates"][0]["grade"] == "stuck"}
        return "catalogue" not in names and {"web", "lonely", "nowhere", "picky"} <= names

    def _certificate(self):
        cert, key = self.folder / "tls.crt", self.folder / "tls.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1", "-keyout", key,
                        "-out", cert], check=True, capture_output=True)
        return ["--tls-cert-file", cert, "--tls-private-key-file", key]

    def end(self):
        self.page.stop()
        self.gate.stop()
        self.sandbox.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    for program in ("chromedriver", "openssl"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed: make test-page installs it")
    chosen = [case for case in cases.ALL if not options.cases or any(part in case.__name__ for part in options.cases)]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="page-") as folder:
        world = World(folder, options.pictures)
        try:
            for case in chosen:
                start = time.monotonic()
                try:
                    if case is not cases.test_pictures_for_the_documents:
                        world.complete()
                    case(world)
                    print(f"ok      {case.__name__}  {time.monotonic() - start:.1f} s", flush=True)
                except Exception:  # A case must not hide the others.
                    failed += 1
                    traceback.print_exc()
                    print(f"FAILED  {case.__name__}", flush=True)
        finally:
            world.end()
    print(f"{len(chosen)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
