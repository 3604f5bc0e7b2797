"""One real OpenSearch on loopback."""

import shutil
import subprocess
import time
import urllib.request

from . import paths
from .process import Process, free_port, wait_until

# The memory of the Java virtual machine.
HEAP = "1g"


class OpenSearch:
    """A node whose data is in `folder`; it can be killed and started again with what it had."""

    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._classes = self._fetch()
        self.process = None

    @staticmethod
    def _fetch():
        done = subprocess.run([str(paths.E2E / "testbed" / "opensearch" / "fetch.sh")], stdout=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode:
            raise SystemExit("rig: OpenSearch could not be fetched, see above")
        return done.stdout.strip()

    def start(self):
        """Returns when it answers."""
        self.process = Process("opensearch", [
            "java", f"-Xms{HEAP}", f"-Xmx{HEAP}", "-cp", f"{self._classes}/*:{self._classes}", "OneNode",
            self.folder / "data", self.port], self.folder / "opensearch.log")
        wait_until("OpenSearch answers", self._answers, timeout=300)

    def _answers(self):
        self.process.check_alive()
        with urllib.request.urlopen(f"{self.url}/_cluster/health?wait_for_status=yellow&timeout=5s", timeout=10) as answer:
            return answer.status == 200

    def kill(self):
        self.process.kill()

    def outage_under_churn(self, binary, outage):
        """Kills it for so many seconds while `binary` (search_opensearch_test) mirrors objects that change all the
        time, before and after it, too. Returns the exit code and the end of the log of that test."""
        churn = Process("churn", [binary, "[restart-opensearch]"], self.folder / "churn.log",
                        env={"OPENSEARCH_URL": self.url, "OPENSEARCH_CHURN_SECONDS": str(outage + 25)})
        try:
            time.sleep(5)
            self.kill()
            time.sleep(outage)
            self.start()
            return churn.wait(timeout=300), churn.tail(60)
        finally:
            churn.kill()

    def stop(self):
        if self.process is not None:
            self.process.stop()
