"""The client that puts load on a server: build/release/bin/search_load, as a process of its own."""

import json
import subprocess
from statistics import median


class Load:
    """A server as search_load reaches it: its address, and the certificate (files) or token to show."""

    def __init__(self, exe, address, certificate=None, key=None, token=None):
        self._exe, self.address = str(exe), address
        self._identity = [f"--address={address}"]
        if certificate:
            self._identity += [f"--cert={certificate}", f"--key={key}"]
        if token:
            self._identity.append(f"--token={token}")

    def requests(self, path, count=1, connections=1, **options):
        """Sends so many requests; {n} in the path and in the body (body_file=...) is the number of each. Returns seconds
        of each, wall time and bytes."""
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        done = subprocess.run([self._exe, "requests", *self._identity, f"--path={path}", f"--count={count}",
                               f"--connections={connections}", *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=1200)
        if done.returncode:
            raise SystemExit(f"bench: {self.address}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def watches(self, path, count, member, member_watch, member_path, groups):
        """Opens so many watches; see Watches."""
        return Watches([self._exe, "watches", *self._identity, f"--path={path}", f"--connections={count}",
                        f"--member-address={member}", f"--member-watch={member_watch}", f"--member-path={member_path}",
                        f"--groups={groups}"])


class Watches:
    """Open watches. Use as a context manager; change() changes objects and returns how long that took to be seen."""

    def __init__(self, command):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def change(self, count):
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("bench: the watches failed, see above")
        return json.loads(line)


def middle(measured):
    """The median time of the requests, in seconds."""
    return median(measured["seconds"])


def slowest(measured, share=0.99):
    """The time that this share of the requests did not exceed."""
    ordered = sorted(measured["seconds"])
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
