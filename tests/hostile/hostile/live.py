"""Reads that want to see what the members have now."""

from search.load import middle

from .attack import attack
from .site import PROXY

_POD = PROXY + "/api/v1/namespaces/team-7/pods/web-7d4b9c6f5d-7"


@attack("live gets", sizes={"short": 300, "long": 3000}, at_most={"growth MB": 40, "bystander failed": 0},
        at_most_long={"median ms": 10, "median ms of 20 clients": 50})
def live_gets(attacked, count):
    """One reader gets a pod without a resourceVersion again and again, then twenty at once do: many more than
    --cluster-api-burst."""
    load = attacked.load()
    alone, together = load.requests(_POD, count), load.requests(_POD, count, connections=20)
    return {"median ms": middle(alone) * 1e3, "requests per s": count / alone["wall"],
            "median ms of 20 clients": middle(together) * 1e3, "requests per s of 20 clients": count / together["wall"]}
