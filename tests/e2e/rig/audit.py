"""Who wrote what at the control plane, from its audit log."""

import json
from collections import Counter


class Audit:
    """Reads the log from where it stood when this was made (or last rewound)."""

    def __init__(self, plane):
        self._file = plane.audit_log
        self.rewind()

    def rewind(self):
        """Forgets what has been written so far."""
        self._start = self._file.stat().st_size

    def writes(self, user=None):
        """The writes since: [(verb, resource[/subresource], namespace/name, code)], of one user or of all."""
        with open(self._file, "rb") as log:
            log.seek(self._start)
            lines = log.read().split(b"\n")
        for line in filter(None, lines[:-1]):
            event = json.loads(line)
            if user is None or event["user"]["username"] == user:
                reference = event.get("objectRef", {})
                resource = "/".join(filter(None, (reference.get("resource"), reference.get("subresource"))))
                name = f"{reference.get('namespace', '')}/{reference.get('name', '')}"
                yield event["verb"], resource, name, event["responseStatus"]["code"]

    def count(self, user=None, apart=()):
        """How often each (verb, resource, code) was written, without the resources named apart."""
        return Counter((verb, resource, code) for verb, resource, _, code in self.writes(user)
                       if resource.split("/")[0] not in apart)
