"""What an attacked process takes: memory, CPU time, threads, descriptors."""

import pathlib
import threading
import time

MB = 1_000_000
# The default size of a thread's stack, and how many the C library keeps for later threads (40 MB in all).
_STACK, KEPT_STACKS = 8 << 20, 5


class Figures:
    """Reads them of `process` (a rig.process.Process) and keeps them in `figures`."""

    def __init__(self):
        self.process = None
        self.figures = {}
        self._threads = None

    def begin_figures(self):
        """From here on peaks count."""
        self.forget_peak()
        self.figures["before MB"] = self.process.rss_bytes() / MB
        self.figures["threads before"] = self.threads()
        self._threads = _MostThreads(self)

    def end_figures(self):
        self.figures["peak MB"] = self.process.peak_rss_bytes() / MB
        self.figures["growth MB"] = self.figures["peak MB"] - self.figures["before MB"]
        self.figures["threads"] = self._threads.stop()

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def threads(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("Threads:"))

    def stacks(self):
        """How many mappings have the size of a thread's stack: those of threads that have ended count until they are given back."""
        stacks = 0
        for line in pathlib.Path(f"/proc/{self.process.pid}/maps").read_text().splitlines():
            begin, end = (int(address, 16) for address in line.split(" ", 1)[0].split("-"))
            stacks += end - begin == _STACK
        return stacks

    def descriptors(self):
        """How many files and connections it has open."""
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def wait_quiet(self, timeout=120):
        """Waits until it uses next to no CPU time for half a second; returns the CPU time used so far."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            before = self.process.cpu_seconds()
            time.sleep(0.5)
            if self.process.cpu_seconds() - before < 0.1:
                break
        return self.process.cpu_seconds()


class _MostThreads:
    """Looks every few milliseconds how many threads a process has."""

    def __init__(self, figures):
        self._figures, self._stop, self._most = figures, threading.Event(), figures.threads()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.wait(0.03):
            try:
                self._most = max(self._most, self._figures.threads())
            except (OSError, StopIteration):
                return  # The process has ended.

    def stop(self):
        self._stop.set()
        self._thread.join()
        return self._most
