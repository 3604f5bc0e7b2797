#!/usr/bin/env python3
"""What `karmada-lens serve` costs on a large control plane: until the page shows something, until a change is shown, and memory with many viewers.

    tests/bench/page.py [--templates 5000] [--clusters 100] [--viewers 100] [--no-browser] [--lens PROGRAM]

The control plane is the stub of fleet.py. With a browser (Debian's chromium and chromium-driver) the times are those of a real page; without
one only memory is measured. Memory is measured twice: with viewers that share the kubeconfig's rights, and with viewers that show a token each,
whose readings are their own. Each of them follows live updates, and has read the fleet and the clusters.
"""

import argparse
import contextlib
import json
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import ThreadingHTTPServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "page"))
import fleet  # noqa: E402

FIRST_PAINT_SECONDS, UPDATE_SECONDS, VIEWERS_MB = 1.0, 0.2, 300
PATIENCE = 900


class Serve:
    """The program, with what it takes."""

    def __init__(self, lens, kubeconfig, *more):
        self._process = subprocess.Popen([lens, "serve", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig, *more],
                                         stdout=subprocess.PIPE, text=True)
        words = self._process.stdout.readline().split()
        if not words:
            sys.exit("karmada-lens serve has ended by itself")
        is_secure = words[0] == "port"
        self.address = f"https://127.0.0.1:{words[1]}/" if is_secure else words[0]
        self._context = ssl._create_unverified_context() if is_secure else None  # The certificate is our own.

    def open(self, path, token):
        request = urllib.request.Request(f"{self.address}api/{path}", headers={"Authorization": f"Bearer {token}"} if token else {})
        return urllib.request.urlopen(request, context=self._context, timeout=PATIENCE)

    def ask(self, path, token=""):
        while True:
            try:
                with self.open(path, token) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code not in (429, 504):  # Many viewers have to wait.
                    raise
                time.sleep(1)

    def memory(self):
        """Now, and the most it has been, in MB."""
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        return tuple(int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) / 1024 for name in ("VmRSS", "VmHWM"))

    def stop(self):
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


def write_kubeconfig(folder, port):
    path = pathlib.Path(folder) / "config"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "a", "clusters": [{"name": "a", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}], "users": [{"name": "a", "user": {"token": "t"}}]}), encoding="utf-8")
    return path


def certificate(folder):
    cert, key = pathlib.Path(folder) / "tls.crt", pathlib.Path(folder) / "tls.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return ["--tls-cert-file", cert, "--tls-private-key-file", key]


def measure_viewers(serve, count, token_of):
    """Has so many viewers look; returns memory before and after, and the most."""
    serve.ask("fleet", token_of(0))
    before = serve.memory()[0]
    with contextlib.ExitStack() as streams:
        for i in range(count):
            streams.enter_context(serve.open("updates", token_of(i)))
        threads = [threading.Thread(target=look, args=(serve, token_of(i))) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after, most = serve.memory()
    return before, after, most


def look(serve, token):
    serve.ask("fleet", token)
    serve.ask("clusters", token)


def measure_page(serve, lists):
    from webdriver import Browser  # Needs a browser.
    with Browser() as browser:
        browser.go(serve.address)
        browser.wait("the view", "return document.body.dataset.shown")
        paints = []
        for _ in range(3):
            browser.go("about:blank")
            browser.go(serve.address)
            browser.wait("the view", "return document.body.dataset.shown")
            paints.append(browser.run("""return [performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
                performance.getEntriesByName("drawn")[0].startTime]"""))
        updates = []
        for i in range(3):
            before = browser.text("main h1")
            break_one(lists, i)
            browser.wait("the change", "return document.querySelector('main h1').textContent !== arguments[0]", before)
            updates.append(browser.run("""return performance.getEntriesByName("drawn").at(-1).startTime
                - performance.getEntriesByName("news").at(-1).startTime"""))
    return [min(times) / 1000 for times in zip(*paints)], max(updates) / 1000


def break_one(lists, i):
    """Makes one more binding unplaced."""
    key = "work.karmada.io/v1alpha2/resourcebindings"
    binding = json.loads(lists[key][20 + i])
    scheduled = binding["status"]["conditions"][0]
    scheduled.update(status="False", reason="NoClusterFit", message="0/100 clusters are available")
    binding["spec"].pop("clusters", None)
    lists[key][20 + i] = json.dumps(binding).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--templates", type=int, default=5000)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--copies", type=int, default=2)
    parser.add_argument("--down", type=int, default=1)
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--lens", default=ROOT / "build" / "release" / "bin" / "karmada-lens")
    options = parser.parse_args()
    fleet.Handler.lists = fleet.Fleet(options).lists
    server = ThreadingHTTPServer(("127.0.0.1", 0), fleet.Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = write_kubeconfig(folder, server.server_port)
        serve = Serve(options.lens, kubeconfig)
        start = time.monotonic()
        answer = serve.ask("fleet")
        print(f"{answer['headline']} The first reading, with the stub: {time.monotonic() - start:.2f} s, by the program {answer['tookSeconds']:.2f} s")
        if not options.no_browser and shutil.which("chromedriver"):
            (paint, drawn), update = measure_page(serve, fleet.Handler.lists)
            print(f"first paint {paint:.2f} s, what is not fine {drawn:.2f} s (budget {FIRST_PAINT_SECONDS:.0f} s); "
                  f"a change is shown {update:.3f} s after the reading that has found it (budget {UPDATE_SECONDS} s)")
        before, after, most = measure_viewers(serve, options.viewers, lambda _: "")
        print(f"{options.viewers} local viewers: {before:.0f} MB before, {after:.0f} MB with them, {most:.0f} MB at most (budget {VIEWERS_MB} MB)")
        serve.stop()
        serve = Serve(options.lens, kubeconfig, *certificate(folder))
        start = time.monotonic()
        before, after, most = measure_viewers(serve, options.viewers, "viewer-{}".format)
        print(f"{options.viewers} viewers with a token each: {before:.0f} MB before, {after:.0f} MB with them, {most:.0f} MB at most "
              f"(budget {VIEWERS_MB} MB); until all had read the fleet {time.monotonic() - start:.0f} s")
        serve.stop()
    server.shutdown()


if __name__ == "__main__":
    main()
