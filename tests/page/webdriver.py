"""A small client of W3C WebDriver, which Debian's chromium-driver speaks: HTTP and JSON, no library."""

import base64
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# Keys as WebDriver names them.
ENTER, ESCAPE, TAB = "\ue007", "\ue00c", "\ue004"
PATIENCE = 60.0  # Seconds; only a busy machine needs them.


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """One browser with one tab, without a window on the screen. Ends with the `with` block."""

    def __init__(self, *, width=1200, height=900, more=()):
        port = free_port()
        self._base = f"http://127.0.0.1:{port}"
        self._driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
                     f"--window-size={width},{height}", *more]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # Chromium's own sandbox does not work as root.
        options = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"}, "acceptInsecureCerts": True,
                   "goog:chromeOptions": {"args": arguments}}
        self._wait_for_driver()
        self._session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._do("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait()

    def _wait_for_driver(self):
        until = time.monotonic() + PATIENCE
        while True:
            try:
                urllib.request.urlopen(f"{self._base}/status", timeout=5).read()
                return
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, method=method, data=data, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from error

    def _do(self, method, path, body=None):
        return self._call(method, f"/session/{self._session}{path}", body)

    def go(self, address):
        self._do("POST", "/url", {"url": address})

    def address(self):
        return self._do("GET", "/url")

    def run(self, script, *arguments):
        return self._do("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def press(self, *keys):
        """Presses and lets go of each key, wherever the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._do("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def write(self, text):
        self.press(*text)

    def wait(self, what, script, *arguments):
        """Waits until the script returns something true, and returns that."""
        until = time.monotonic() + PATIENCE
        while True:
            found = self.run(script, *arguments)
            if found:
                return found
            if time.monotonic() > until:
                raise AssertionError(f"waited in vain: {what}; the page says: {self.text('main')[:500]!r}, {self.text('#alert')!r}")
            time.sleep(0.05)

    def wait_for_text(self, selector, part):
        self.wait(f"{part!r} in {selector}", "return (document.querySelector(arguments[0])?.textContent ?? '').includes(arguments[1])",
                  selector, part)

    def resize(self, width, height):
        self._do("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def prefer(self, scheme):
        """The system is light or dark."""
        self._do("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]}})

    def run_first(self, script):
        """Runs the script in each page that is opened from now on, before those of the page."""
        self._do("POST", "/goog/cdp/execute", {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": script}})

    def told(self):
        """What the browser tells a screen reader of the page, in order: (role, name, properties) of each thing that is not left out."""
        nodes = self._do("POST", "/goog/cdp/execute", {"cmd": "Accessibility.getFullAXTree", "params": {}})["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "").strip(),
                 {one["name"]: one["value"].get("value") for one in node.get("properties", [])}) for node in nodes if not node["ignored"]]

    def picture(self):
        return base64.b64decode(self._do("GET", "/screenshot"))

    def complaints(self):
        """What the browser has written into its console since the last call."""
        return [entry["message"] for entry in self._do("POST", "/se/log", {"type": "browser"})]
