"""Who may act as whom: the same requests, with the same rights, to a kube-apiserver with constrained impersonation
(Kubernetes 1.36 and newer) and to karmada-search itself. Both decide about impersonation before anything else, so the
answers have to be equal: the code and, of a refusal, its message."""

import http.client
import json
import urllib.parse
from dataclasses import dataclass

import yaml

from .kube import client_tls
from .process import wait_until
from .search import REGISTRIES, SearchSite

_RBAC = "rbac.authorization.k8s.io"
_AUTHENTICATION = "authentication.k8s.io"
_TARGET = "e2e-target"
_ACCOUNT = "system:serviceaccount:default:e2e-target"
_NODE = "system:node:e2e-target"
_GROUPS = ["team-1", "team-2", "team-3", "team-4"]


def _may(verb, resource, *names, group=_AUTHENTICATION):
    return {"verbs": [verb], "apiGroups": [group], "resources": [resource], "resourceNames": list(names)}


def _may_list_as(mode, verb="list"):
    """What a mode takes besides the right to the identity: the right to do there what the request does."""
    return {"verbs": [f"impersonate-on:{mode}:{verb}"], "apiGroups": ["search.karmada.io"], "resources": ["resourceregistries"]}


_USER = _may("impersonate:user-info", "users", _TARGET)
_LIST = _may_list_as("user-info")


@dataclass(frozen=True)
class Row:
    """Whether somebody with these rights may list as somebody."""

    about: str
    rights: list
    fields: list  # (name, value) of the request; those of Impersonate- without that prefix.
    is_allowed: bool


ROWS = [
    Row("no right", [], [("User", _TARGET)], False),
    Row("the right of old", [_may("impersonate", "users", _TARGET, group="")], [("User", _TARGET)], True),
    Row("both rights of a mode", [_USER, _LIST], [("User", _TARGET)], True),
    Row("the right to the identity alone", [_USER], [("User", _TARGET)], False),
    Row("the right to the verb alone", [_LIST], [("User", _TARGET)], False),
    Row("the right to another verb", [_USER, _may_list_as("user-info", "get")], [("User", _TARGET)], False),
    Row("another user", [_USER, _LIST], [("User", "e2e-other")], False),
    Row("a group without a right", [_USER, _LIST], [("User", _TARGET), ("Group", "team-1")], False),
    Row("a group with its right", [_USER, _LIST, _may("impersonate:user-info", "groups", "team-1")],
        [("User", _TARGET), ("Group", "team-1")], True),
    Row("four groups by the right to all", [_USER, _LIST, _may("impersonate:user-info", "groups", "*")],
        [("User", _TARGET), *(("Group", group) for group in _GROUPS)], True),
    Row("four groups, each with its right", [_USER, _LIST, _may("impersonate:user-info", "groups", *_GROUPS)],
        [("User", _TARGET), *(("Group", group) for group in _GROUPS)], True),
    Row("four groups of which one lacks", [_USER, _LIST, _may("impersonate:user-info", "groups", *_GROUPS[:3])],
        [("User", _TARGET), *(("Group", group) for group in _GROUPS)], False),
    Row("the administrators", [_USER, _LIST, _may("impersonate:user-info", "groups", "system:masters")],
        [("User", _TARGET), ("Group", "system:masters")], False),
    Row("a uid", [_USER, _LIST, _may("impersonate:user-info", "uids", "4711")], [("User", _TARGET), ("Uid", "4711")], True),
    Row("a uid without a right", [_USER, _LIST], [("User", _TARGET), ("Uid", "4711")], False),
    Row("extra", [_USER, _LIST, _may("impersonate:user-info", "userextras/acme.io/foo", "bar")],
        [("User", _TARGET), ("Extra-acme.io%2Ffoo", "bar")], True),
    Row("extra without a right", [_USER, _LIST], [("User", _TARGET), ("Extra-acme.io%2Ffoo", "bar")], False),
    Row("extra without a domain", [_USER, _LIST, _may("impersonate:user-info", "userextras/foo", "bar")],
        [("User", _TARGET), ("Extra-foo", "bar")], False),
    Row("a service account", [_may("impersonate:serviceaccount", "serviceaccounts", "e2e-target"), _may_list_as("serviceaccount")],
        [("User", _ACCOUNT)], True),
    Row("a service account by the rights to users", [_USER, _LIST, _may("impersonate:user-info", "users", _ACCOUNT)],
        [("User", _ACCOUNT)], False),
    Row("a service account with a group",
        [_may("impersonate:serviceaccount", "serviceaccounts", "e2e-target"), _may_list_as("serviceaccount"),
         _may("impersonate:serviceaccount", "groups", "team-1")],
        [("User", _ACCOUNT), ("Group", "team-1")], False),
    Row("a node", [_may("impersonate:arbitrary-node", "nodes", "e2e-target"), _may_list_as("arbitrary-node")],
        [("User", _NODE)], True),
    Row("a node by the rights to users", [_may("impersonate:user-info", "users", _NODE), _LIST], [("User", _NODE)], False),
    Row("nobody, who may not list", [_may("impersonate:user-info", "users", "system:anonymous"), _LIST],
        [("User", "system:anonymous")], False),
]


class Impersonation:
    """A karmada-search of Karmada v1.19 on a plane, and a user with the rights of each row. close() takes all away."""

    def __init__(self, plane):
        self._host = plane.host
        self._site = SearchSite(plane)
        self._search = self._site.start(flags=["--emulated-karmada-version=v1.19"])
        self._actors = []
        self._objects = [*_role("e2e-everybody", [{"verbs": ["list"], "apiGroups": ["search.karmada.io"],
                                                   "resources": ["resourceregistries"]}],
                                {"kind": "Group", "name": "system:authenticated"})]
        for number, row in enumerate(ROWS):
            name = f"e2e-actor-{number}"
            self._actors.append(client_of(plane.user(name, name, group=None)))
            self._objects += _role(name, row.rights, {"kind": "User", "name": name})
        self._host.apply(self._objects)
        self._search.wait_ready()
        self._site.wait_served()

    def close(self):
        for item in self._objects:
            self._host.delete(f"/apis/{_RBAC}/v1/{item['kind'].lower()}s/{item['metadata']['name']}")
        self._site.close()

    def answers(self, number, timeout=40):
        """What the control plane and karmada-search answer to the row of this number, when both have heard of its rights."""
        row, actor = ROWS[number], self._actors[number]
        servers = (self._host.server, self._search.direct.server)
        found = []

        def are_decided():
            found[:] = [_ask(actor, server, row.fields) for server in servers]
            return all((code == 200) == row.is_allowed for code, _ in found)
        try:
            wait_until(row.about, are_decided, timeout)
        except AssertionError:
            pass  # The answers say it better.
        return found


def client_of(kubeconfig):
    """TLS as the user of a kubeconfig."""
    with open(kubeconfig, encoding="utf-8") as file:
        return client_tls(yaml.safe_load(file))


def _ask(tls, server, fields):
    """The code of a list as somebody, and the message of an error."""
    connection = http.client.HTTPSConnection(urllib.parse.urlparse(server).netloc, context=tls, timeout=30)
    connection.putrequest("GET", REGISTRIES)
    connection.putheader("Accept", "application/json")
    for name, value in fields:
        connection.putheader(f"Impersonate-{name}", value)
    connection.endheaders()
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, "" if response.status == 200 else answer["message"]


def _role(name, rules, subject):
    """A ClusterRole that a user or a group has."""
    return [{"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules},
            {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
             "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
             "subjects": [{"apiGroup": _RBAC, **subject}]}]
