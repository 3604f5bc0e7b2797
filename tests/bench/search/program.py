"""The memory and CPU time of a measured process."""

import pathlib
import time


class Measured:
    """A process (rig.process.Process) whose memory and CPU time are of interest."""

    # Below this share of a CPU it counts as quiet.
    quiet_share = 0.05

    def __init__(self, process):
        self._process = process

    def check_alive(self):
        self._process.check_alive()

    def rss(self):
        return self._process.rss_bytes()

    def cpu(self):
        return self._process.cpu_seconds()

    def peak(self):
        """The most resident memory since the start, or since forget_peak()."""
        return self._process.peak_rss_bytes()

    def forget_peak(self):
        pathlib.Path(f"/proc/{self._process.pid}/clear_refs").write_text("5")

    def anonymous(self):
        """Resident memory that no file is behind."""
        rollup = pathlib.Path(f"/proc/{self._process.pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Anonymous:"))

    def threads(self):
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("Threads:"))

    def wait_quiet(self, window=2.0, timeout=120):
        """Waits until it uses next to no CPU time."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            self._process.check_alive()
            before, at = self.cpu(), time.monotonic()
            time.sleep(window)
            if self.cpu() - before < self.quiet_share * (time.monotonic() - at):
                return
        raise AssertionError(f"{self._process.name} still busy after {timeout} s")
