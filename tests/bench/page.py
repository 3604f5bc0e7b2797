#!/usr/bin/env python3
"""What `karmada-lens serve` costs on a large control plane: until a page shows something, until a change is shown, and memory with many viewers.

    tests/bench/page.py [--templates 5000] [--clusters 100] [--viewers 100] [--no-browser] [--only PART] [--lens PROGRAM]

The control plane is the stub of fleet.py. PART is one of these:

    pages    one viewer with a real browser (Debian's chromium and chromium-driver): first paint, and until a change is shown
    local    so many viewers with the kubeconfig's rights, all with the same page open, which they follow as a browser does: the templates that
             are not fine, then the policies; when each of them has it first, and after a change; the browser is one of them
    tokens   so many viewers with a token each, whose readings are their own, on the same two pages
"""

import collections.abc
import contextlib
import dataclasses
import itertools
import json
import multiprocessing
import os
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
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "page"))
import fleet  # noqa: E402

FIRST_PAINT_SECONDS, UPDATE_SECONDS, VIEWERS_MB = 1.0, 0.2, 300
PARTS = ("pages", "local", "tokens")
PATIENCE = 600


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
        """The answer as it has come: a hundred viewers that parse it would measure this program."""
        while True:
            try:
                with self.open(path, token) as answer:
                    return answer.read()
            except urllib.error.HTTPError as error:
                if error.code not in (429, 504):  # Many viewers have to wait.
                    raise
                time.sleep(1)

    def memory(self):
        """Now, and the most it has been, in MB."""
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        return tuple(int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) / 1024 for name in ("VmRSS", "VmHWM"))

    def cpu(self):
        """Seconds of CPU time, which do not depend on what else the machine does."""
        fields = pathlib.Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


def certificate(folder):
    cert, key = pathlib.Path(folder) / "tls.crt", pathlib.Path(folder) / "tls.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return ["--tls-cert-file", cert, "--tls-private-key-file", key]


class Viewer:
    """Somebody who has a page open: reads it, follows the live updates, and reads it again after each reading of the fleet, as a browser."""

    def __init__(self, serve, page, token):
        self._serve, self._page, self._token = serve, page, token
        self._has_ended = False
        self.reads = []  # When each of its answers had come, and how much of what the page is about was in it.
        threading.Thread(target=self._look, daemon=True).start()

    def _read(self):
        answer = self._serve.ask(self._page.path, self._token)
        self.reads.append((time.monotonic(), self._page.count(answer)))

    def _look(self):
        with contextlib.suppress(OSError, ValueError):  # The server has been stopped.
            self._read()
            while not self._has_ended:
                with self._serve.open("updates", self._token) as stream:
                    for line in stream:
                        if self._has_ended:
                            return
                        if line.startswith(b"event: fleet"):
                            self._read()

    def has_read(self, least):
        """When an answer had come with so much in it; None as long as there is none."""
        return next((at for at, count in list(self.reads) if count >= least), None)

    def end(self):
        self._has_ended = True


def await_all(viewers, least, since):
    """Seconds until half and all of the viewers had an answer with so much in it, and how many had it within PATIENCE."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and any(viewer.has_read(least) is None for viewer in viewers):
        time.sleep(0.05)
    times = sorted(at - since for viewer in viewers if (at := viewer.has_read(least)) is not None)
    return times[len(times) // 2], times[-1], len(times)


@dataclasses.dataclass
class Page:
    """`count` says how many are not fine, or govern nothing; each call of `change` makes it one more."""

    name: str
    path: str
    address: str
    count: collections.abc.Callable
    change: collections.abc.Callable


def is_fine(binding):
    conditions = binding["status"]["conditions"]
    return all(one["status"] == "True" for one in conditions) and all(one["name"] != "member1" for one in binding["spec"]["clusters"])


def break_one(lists, _):
    """Makes one more binding unplaced."""
    bindings = lists["work.karmada.io/v1alpha2/resourcebindings"]
    at, binding = next((at, one) for at, one in enumerate(map(json.loads, bindings)) if is_fine(one))
    scheduled = binding["status"]["conditions"][0]
    scheduled.update(status="False", reason="NoClusterFit", message="0/100 clusters are available")
    binding["spec"].pop("clusters", None)
    bindings[at] = json.dumps(binding).encode()


def add_idle_policy(lists, i):
    """Adds a policy that governs nothing."""
    key = "policy.karmada.io/v1alpha1/propagationpolicies"
    policy = json.loads(lists[key][0])
    policy["metadata"].update(name=f"idle-{i}", uid=f"idle-{i}")
    policy["spec"]["resourceSelectors"] = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": f"absent-{i}"}]
    lists[key] = [*lists[key], json.dumps(policy).encode()]


PAGES = [Page("not fine", "fleet", "#/", lambda answer: int(re.search(rb'"notFine":(\d+)', answer)[1]), break_one),
         Page("policies", "policies", "#/policies", lambda answer: answer.count(b'"claims":0,'), add_idle_policy)]


class Plane:
    """The control plane, in a process of its own: viewers in the same one would take its time."""

    def __init__(self, options):
        self._orders, orders = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=self._run, args=(options, orders), daemon=True)
        self._process.start()
        self.port = self._orders.recv()

    @staticmethod
    def _run(options, orders):
        orders.send(fleet.serve(options).server_port)
        for i in itertools.count():
            PAGES[orders.recv()].change(fleet.Handler.lists, i)
            orders.send("done")

    def change(self, page):
        """Makes one more not fine, or one more that governs nothing."""
        self._orders.send(PAGES.index(page))
        self._orders.recv()

    def stop(self):
        self._process.terminate()


def measure_viewers(serve, plane, page, options, token_of, who):
    """Has so many viewers look at a page, makes a change, and says when they had seen it."""
    begin = time.monotonic()
    viewers = [Viewer(serve, page, token_of(i)) for i in range(options.viewers)]
    half, last, count = await_all(viewers, 0, begin)
    print(f"{count} {who} on \"{page.name}\": the page after {half:.1f} s (half of them) and {last:.1f} s (all); CPU {serve.cpu():.1f} s", flush=True)
    if not token_of(0) and not options.no_browser:
        print_page(serve, plane, page, f"  a browser beside them on \"{page.name}\"")
    now = page.count(serve.ask(page.path, token_of(0)))
    changed, used = time.monotonic(), serve.cpu()
    plane.change(page)
    half, last, count = await_all(viewers, now + 1, changed)
    print(f"  a change after {half:.1f} s (half) and {last:.1f} s (all {count}), with the reading that finds it; CPU {serve.cpu() - used:.1f} s; "
          f"{serve.memory()[1]:.0f} MB at most (budget {VIEWERS_MB} MB)", flush=True)
    for viewer in viewers:
        viewer.end()


def print_page(serve, plane, page, what):
    (paint, drawn), update = measure_page(serve, plane, page)
    print(f"{what}: first paint {paint:.2f} s, all of it {drawn:.2f} s (budget {FIRST_PAINT_SECONDS:.0f} s); a change is shown {update:.3f} s after "
          f"the reading that has found it (budget {UPDATE_SECONDS} s)", flush=True)


def measure_page(serve, plane, page):
    import webdriver  # Needs a browser.
    webdriver.PATIENCE = PATIENCE  # With a large fleet on a busy machine a reading takes long.
    with webdriver.Browser() as browser:
        def look():
            browser.go("about:blank")
            browser.go(serve.address + page.address)
            browser.wait("the view", "return document.body.dataset.shown")
        look()  # What the browser itself needs the first time does not count.
        paints = []
        for _ in range(3):
            look()
            paints.append(browser.run("""return [performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
                performance.getEntriesByName("drawn")[0].startTime]"""))
        updates = []
        for _ in range(3):
            before = browser.text("main h1")
            plane.change(page)
            browser.wait("the change", "return document.querySelector('main h1').textContent !== arguments[0]", before)
            updates.append(browser.run("""return performance.getEntriesByName("drawn").at(-1).startTime
                - performance.getEntriesByName("news").at(-1).startTime"""))
    return [min(times) / 1000 for times in zip(*paints)], max(updates) / 1000


def main():
    parser = fleet.options_parser(__doc__)
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    options.no_browser = options.no_browser or shutil.which("chromedriver") is None
    parts = [options.only] if options.only else PARTS
    plane = Plane(options)
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = fleet.write_kubeconfig(folder, plane.port)
        if "pages" in parts:
            serve = Serve(options.lens, kubeconfig)
            start = time.monotonic()
            answer = json.loads(serve.ask("fleet"))
            print(f"{answer['headline']} The first reading, with the stub: {time.monotonic() - start:.2f} s, by the program "
                  f"{answer['tookSeconds']:.2f} s", flush=True)
            for page in () if options.no_browser else PAGES:
                print_page(serve, plane, page, f"one viewer on \"{page.name}\"")
            serve.stop()
        for part, who, more, token_of in (("local", "viewers with the kubeconfig's rights", [], lambda _: ""),
                                          ("tokens", "viewers with a token each", certificate(folder), "viewer-{}".format)):
            for page in PAGES if part in parts else ():
                serve = Serve(options.lens, kubeconfig, *more)
                measure_viewers(serve, plane, page, options, token_of, who)
                serve.stop()
    plane.stop()


if __name__ == "__main__":
    main()
