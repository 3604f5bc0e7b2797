"""Prometheus text, and what we count in it."""

import re
import urllib.request
from collections import Counter

_SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
WRITE_VERBS = ("POST", "PUT", "PATCH", "DELETE", "APPLY")


def parse(text):
    """(name, labels, value) of each sample."""
    for line in text.splitlines():
        match = _SAMPLE.match(line)
        if match:
            yield match.group(1), dict(_LABEL.findall(match.group(2) or "")), float(match.group(3))


def scrape(port):
    """The samples of a /metrics endpoint of this machine."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return list(parse(answer.read().decode()))


def client_requests(samples):
    """rest_client_requests_total: Counter of (method, code, host)."""
    out = Counter()
    for name, labels, value in samples:
        if name == "rest_client_requests_total":
            out[labels["method"], labels["code"], labels["host"]] += round(value)
    return out


def server_writes(kube):
    """apiserver_request_total of an API server, writes only: Counter of (verb, resource[/subresource], code)."""
    out = Counter()
    for name, labels, value in parse(kube.get("/metrics")):
        if name == "apiserver_request_total" and labels["verb"] in WRITE_VERBS:
            resource = "/".join(filter(None, (labels["resource"], labels["subresource"])))
            out[labels["verb"], resource, labels["code"]] += round(value)
    return out
