"""How long one reconcile takes: from a template's creation until its object is in a member."""

import json
import ssl
import threading
import time

from rig.process import wait_until

from . import load

EVERY = 0.05  # Seconds between two templates.
LATE = 60     # Seconds after which one counts as lost.


class Probe:
    """Creates small templates one after the other and watches for them in one member."""

    def __init__(self, stage, member):
        self._host = stage.kube("karmada")
        self._host.create(load.POLICIES.format(load.NAMESPACE),
                          load.policy("probe", [member], "v1", "ConfigMap", "probe"))
        self._member = stage.kube(member)
        self._seen, self._made, self._changed = {}, {}, threading.Condition()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._create()
        path = load.CONFIG_MAPS.format(load.NAMESPACE)
        wait_until("the first probe", lambda: self._member.find(f"{path}/probe-0"), 60)
        self._thread.start()
        return self

    def __exit__(self, *_):
        pass  # The watch ends with the sandbox.

    def longest(self, seconds):
        """The longest time in seconds of the templates made from now on for so many seconds."""
        mine, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            mine.append(self._create())
            time.sleep(EVERY)
        with self._changed:
            self._changed.wait_for(lambda: all(name in self._seen for name in mine), LATE)
            now = time.monotonic()
            return max(self._seen.get(name, now) - self._made[name] for name in mine)

    def _create(self):
        name = f"probe-{len(self._made)}"
        self._made[name] = time.monotonic()
        self._host.create(load.CONFIG_MAPS.format(load.NAMESPACE), load.config_map(name, "probe"))
        return name

    def _watch(self):
        """One line per event; a time is when the line was here, not when it had been parsed."""
        path = load.CONFIG_MAPS.format(load.NAMESPACE)
        version = self._member.get(path)["metadata"]["resourceVersion"]
        try:
            for line, now in self._member.stream(f"{path}?watch=1&resourceVersion={version}&timeoutSeconds=900"):
                name = json.loads(line)["object"]["metadata"]["name"]
                with self._changed:
                    self._seen.setdefault(name, now)
                    self._changed.notify_all()
        except (OSError, ssl.SSLError, ValueError):
            pass  # The sandbox has ended.
