"""Lists in an order of the caller's choice."""

from rig.sandbox_search import REGISTRIES

from .attack import attack
from .site import VIEW

_GET = "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"


def _sorted(keys, query="&limit=1"):
    return _GET.format(path=f"{VIEW}/api/v1/pods?resourceVersion=0&sort={keys}{query}").encode()


@attack("sort keys", sizes={"short": 1, "long": 4}, at_most={"growth MB": 60, "unexpected answers": 0, "bystander failed": 0})
def sort_keys(attacked, times):
    """A reader asks for one object, sorted by whole `spec`s, by the most keys that there may be, by thousands of keys, and by
    everything there is."""
    unexpected = 0
    for keys, expected in (("spec," * 9 + "spec", 400), (",".join(["kind"] * 1000), 400), ("spec," * 7 + "spec", 200),
                           ("..name," * 7 + "..image", 200)):
        for _ in range(times):
            code, _ = attacked.answer(_sorted(keys), timeout=120)
            unexpected += code != expected
    return {"unexpected answers": unexpected}


@attack("sorted lists of clients that have gone", sizes={"short": 8, "long": 40},
        at_most={"growth MB": 100, "bystander failed": 0}, at_most_long={"bystander slowest s": 3, "CPU s": 5})
def gone_sorters(attacked, count):
    """So many readers ask for a sorted list each, and hang up at once."""
    before = attacked.process.cpu_seconds()
    for _ in range(count):
        with attacked.connect() as connection:
            connection.sendall(_sorted("-metadata.creationTimestamp,..image,..name,status.phase", "&limit=20"))
    return {"CPU s": attacked.wait_quiet() - before}


@attack("long selectors", sizes={"short": 2, "long": 10}, at_most={"growth MB": 60, "unexpected answers": 0, "bystander failed": 0},
        at_most_long={"CPU s each": 0.5})
def long_selectors(attacked, times):
    """A reader asks for lists with selectors of 30 kB: a set of 2,900 values, the most requirements that there may be, and more;
    the last ones from OpenSearch and of registries, too."""
    before, unexpected = attacked.process.cpu_seconds(), 0
    sets = "app+in+(" + ",".join(f"value-{n:04d}" for n in range(2900)) + ")"
    pods, mirrored = f"{VIEW}/api/v1/pods?resourceVersion=0&", f"{VIEW.replace('/cache', '/opensearch')}/api/v1/pods?"
    lists = ((pods, sets, 200), (pods, _unlike(999) + ",nothing", 200), (pods, _unlike(3600), 400),
             (mirrored, _unlike(3600), 400), (f"{REGISTRIES}?", _unlike(3600), 400))
    for path, selector, expected in lists:
        for _ in range(times):
            code, _ = attacked.answer(_GET.format(path=f"{path}labelSelector={selector}").encode())
            unexpected += code != expected
    return {"unexpected answers": unexpected, "CPU s each": (attacked.process.cpu_seconds() - before) / times / len(lists)}


def _unlike(count):
    """So many requirements that every pod fulfils."""
    return ",".join(f"a{n:03x}!=x" for n in range(count))
