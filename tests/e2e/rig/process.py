"""Child processes that write logs, answer deadlines and are never left behind."""

import ctypes
import http.client
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class Timeout(AssertionError):
    """Something did not happen in time."""


def wait_until(what, condition, timeout=60.0, every=0.2):
    """Calls condition() until it returns something true, and returns that.

    A condition may raise OSError, HTTPException (an answer that breaks off) or AssertionError for "not yet"; the last one is told
    when time is up.
    """
    end, last = time.monotonic() + timeout, None
    while True:
        try:
            value = condition()
            if value:
                return value
            last = value
        except (OSError, http.client.HTTPException, AssertionError) as error:
            last = error
        if time.monotonic() > end:
            raise Timeout(f"{what}: not within {timeout:g} s; last seen: {str(last)[:2000]}")
        time.sleep(every)


def free_port():
    """A port that nothing listens on, from below the range the kernel hands out to clients."""
    for _ in range(200):
        port = random.randrange(18000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Timeout("no free port found in 200 tries")


def die_with_parent():
    """For Popen: ends the child when this process ends, whatever ends it."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A started program. Its output is in the log file; it dies with us, whatever happens."""

    def __init__(self, name, command, log, env=None):
        self.name = name
        self.command = [str(word) for word in command]
        self.log = pathlib.Path(log)
        with open(self.log, "ab") as out:
            self._popen = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                env={**os.environ, **(env or {})}, preexec_fn=die_with_parent)

    @property
    def pid(self):
        return self._popen.pid

    def alive(self):
        return self._popen.poll() is None

    def check_alive(self):
        """Raises, with the end of the log, if the program has ended."""
        if not self.alive():
            raise SystemExit(f"rig: {self.name} ended with {self._popen.returncode}:\n{self.tail()}")

    def tail(self, count=30):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])

    def signal(self, number):
        if self.alive():
            self._popen.send_signal(number)

    def wait(self, timeout):
        """The exit code; raises Timeout if the program does not end."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Timeout(f"{self.name} did not end within {timeout:g} s") from None

    def stop(self, timeout=15.0):
        """SIGTERM, then SIGKILL. Returns the exit code."""
        self.signal(signal.SIGTERM)
        try:
            return self.wait(timeout)
        except Timeout:
            return self.kill()

    def kill(self):
        self.signal(signal.SIGKILL)
        return self.wait(10)

    def pause(self):
        """Freezes the program: a server that is there and does not answer."""
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)

    def cpu_seconds(self):
        """User and system time used so far."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_bytes(self):
        """Resident memory now."""
        return int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def peak_rss_bytes(self):
        """The most resident memory there ever was."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024


def run(command, text=None, timeout=60, env=None):
    """Runs a command to its end; returns subprocess.CompletedProcess with text output."""
    try:
        return subprocess.run([str(word) for word in command], input=text, text=True, capture_output=True,
                              timeout=timeout, check=False, env={**os.environ, **(env or {})})
    except subprocess.TimeoutExpired:
        raise Timeout(f"{' '.join(map(str, command))[:200]}: not done within {timeout} s") from None


def must(command, text=None, timeout=60):
    """Runs a command that has to succeed; returns what it printed."""
    done = run(command, text, timeout)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))[:300]}: exit {done.returncode}\n"
                             f"{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout
