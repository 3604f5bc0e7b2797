"""Who wrote what at an API server, and what our daemon asked for, from its audit log."""

import json
from collections import Counter
from typing import NamedTuple

from .plane import HOST


READS = {"get", "list", "watch"}  # Logged of our daemon's users only.


class Write(NamedTuple):
    """One request that would change something, whatever came of it."""

    verb: str
    resource: str  # With its subresource: "works/status".
    name: str  # namespace/name
    code: int
    user: str
    agent: str


class Audit:
    """Reads the log of a cluster from where it stood when this was made (or last rewound)."""

    def __init__(self, plane, cluster=HOST):
        self._file = plane.audit_log(cluster)
        self.rewind()

    def rewind(self):
        """Forgets what has been written so far."""
        self._start = self._file.stat().st_size

    def rewind_to_the_beginning(self):
        """Takes in what was written before this was made, too."""
        self._start = 0

    def events(self):
        """The events since, as the API server writes them."""
        with open(self._file, "rb") as log:
            log.seek(self._start)
            lines = log.read().split(b"\n")
        return map(json.loads, filter(None, lines[:-1]))

    def writes(self, user=None):
        """The writes since, of one user or of all."""
        for event in self.events():
            if event["verb"] in READS or "objectRef" not in event:
                continue
            if user is None or event["user"]["username"] == user:
                reference = event.get("objectRef", {})
                resource = "/".join(filter(None, (reference.get("resource"), reference.get("subresource"))))
                name = f"{reference.get('namespace', '')}/{reference.get('name', '')}"
                yield Write(event["verb"], resource, name, event["responseStatus"]["code"],
                            event["user"]["username"], event.get("userAgent", ""))

    def count(self, user=None, apart=()):
        """How often each (verb, resource, code) was written, without the resources named apart."""
        return Counter((write.verb, write.resource, write.code) for write in self.writes(user)
                       if write.resource.split("/")[0] not in apart)
