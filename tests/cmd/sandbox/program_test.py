#!/usr/bin/env python3
"""Runs the built karmada-sandbox as a user does: up, steering from outside, its status, a member that leaves and
joins again, an end by a signal, a second run in the same directory, with karmada-search and flags of the manager, and
one with a member in pull mode.

Usage: program_test.py PROGRAM
"""
import base64
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time

import yaml

DEADLINE = 120  # Seconds; whatever takes longer is stuck.
MEMBER = "/apis/cluster.karmada.io/v1alpha1/clusters/member1"


def eventually(what, check):
    end = time.monotonic() + DEADLINE
    while not check():
        if time.monotonic() > end:
            sys.exit(f"FAIL: waited for {what}")
        time.sleep(0.05)


def check(what, holds, *shown):
    if not holds:
        sys.exit(f"FAIL: {what}: {' '.join(map(str, shown))}")


class Sandbox:
    """A running sandbox with one member; `up` is what it has printed."""

    def __init__(self, program, directory, *more):
        self.program, self.directory = program, directory
        # A file, because a pipe that nobody reads could fill.
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            [program, "up", "--members", "1", "--output", "json", "--dir", directory, *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        check("up prints one JSON object", line.startswith("{"), line, self.said())
        self.up = json.loads(line)
        self.log = self.up["controllerManager"]["log"]

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def steer(self, *words):
        """Returns the exit code and everything that was said."""
        environment = dict(os.environ, KUBECONFIG=self.up["controlPlane"]["kubeconfig"] + ":/other")
        done = subprocess.run([self.program, *words], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=DEADLINE, check=False)
        return done.returncode, done.stdout

    def request(self, method, path, body=None):
        """Asks the control plane, as the administrator of its kubeconfig."""
        with open(self.up["controlPlane"]["kubeconfig"], encoding="utf-8") as file:
            config = yaml.safe_load(file)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        pem = os.path.join(self.directory, "admin.pem")
        with open(pem, "wb") as out:
            for field in ("client-key-data", "client-certificate-data"):
                out.write(base64.b64decode(user[field]))
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
        context.load_cert_chain(pem)
        connection = http.client.HTTPSConnection(
            cluster["server"].removeprefix("https://"), context=context, timeout=DEADLINE)
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def member(self):
        """Returns the uid of its Cluster and whether that is ready; ("", False) without one."""
        code, cluster = self.request("GET", MEMBER)
        if code != 200:
            return "", False
        conditions = cluster.get("status", {}).get("conditions", [])
        ready = [c["status"] for c in conditions if c["type"] == "Ready"]
        return cluster["metadata"]["uid"], ready == ["True"]

    def stop(self, number):
        self.process.send_signal(number)
        return self.process.wait(DEADLINE)


def check_steering(sandbox):
    code, said = sandbox.steer("member", "down", "membr1")
    check("a member that does not exist", code == 2 and "did you mean member1?" in said, code, said)
    code, said = sandbox.steer("member", "join", "member1")
    check("a member that has not left", code == 1 and "has not left" in said, code, said)
    code, said = sandbox.steer("up", "--dir", sandbox.directory)
    check("a second sandbox", code == 1 and "is in use by another" in said, code, said)
    for words in (["member", "down", "member1"], ["member", "up", "member1"], ["manager", "down"]):
        code, said = sandbox.steer(*words)
        check(" ".join(words), code == 0, code, said)
    code, said = sandbox.steer("manager", "up")
    leads = re.search(r"It leads (at once|in \d+ to \d+ seconds)", said)
    check("manager up", code == 0 and leads, code, said)


def check_status(sandbox):
    code, said = sandbox.steer("status")
    check("status for people", code == 0 and "member1" in said and "answers, " in said and "flags: --kubeconfig" in said,
          code, said)

    def status():
        code, said = sandbox.steer("status", "-o", "json")
        check("status", code == 0, code, said)
        return json.loads(said)

    def state():
        return status()["members"][0]["answers"], status()["controllerManager"]["state"]

    check("everything runs", state() == (True, "running"), state())
    for words in (["member", "down", "member1"], ["manager", "down"]):
        check(" ".join(words), sandbox.steer(*words)[0] == 0)
        code, said = sandbox.steer(*words)
        check(" ".join(words) + " again", code == 0 and "is down already" in said, code, said)
    check("what was taken down is down", state() == (False, "down"), state())
    for words in (["member", "up", "member1"], ["manager", "up"]):
        check(" ".join(words), sandbox.steer(*words)[0] == 0)
    check("everything runs again", state() == (True, "running"), state())


SEARCH = "/apis/search.karmada.io/v1alpha1"


def check_search(sandbox):
    """karmada-search runs beside the clusters, and the control plane passes requests on to it."""
    registry = {"apiVersion": "search.karmada.io/v1alpha1", "kind": "ResourceRegistry", "metadata": {"name": "all"},
                "spec": {"targetCluster": {}, "resourceSelectors": [{"apiVersion": "v1", "kind": "Node"}]}}
    groups = [group["name"] for group in sandbox.request("GET", "/apis")[1]["groups"]]
    check("the group is discovered", "search.karmada.io" in groups, groups)
    eventually("the registry to be taken",
               lambda: sandbox.request("POST", SEARCH + "/resourceregistries", registry)[0] == 201)

    def nodes():
        code, answer = sandbox.request("GET", SEARCH + "/proxying/karmada/proxy/api/v1/nodes")
        return code == 200 and len(answer["items"]) == 3
    eventually("the nodes of the member", nodes)
    state = json.loads(sandbox.steer("status", "-o", "json")[1])["search"]["state"]
    check("the status of karmada-search", state == "running", state)


def check_manager_flags(sandbox):
    flags = json.loads(sandbox.steer("status", "-o", "json")[1])["controllerManager"]["flags"]
    check("the flags behind --", flags.endswith(" --feature-gates=Failover=true"), flags)
    with open(sandbox.log, encoding="utf-8") as log:
        check("the manager has them", "gates=Failover=true" in log.read())


def check_cluster_proxy(sandbox):
    """Members are reached through the control plane, as karmadactl does it, and say what their nodes use."""
    for path in ("/api/v1/nodes", "/apis/metrics.k8s.io/v1beta1/nodes"):
        code, nodes = sandbox.request("GET", MEMBER + "/proxy" + path)
        check(path + " through the proxy", code == 200 and len(nodes["items"]) == 3, code, nodes)
    check("the usage of a node", nodes["items"][0]["usage"]["cpu"].endswith("m"), nodes)
    groups = [group["name"] for group in sandbox.request("GET", MEMBER + "/proxy/apis")[1]["groups"]]
    check("the metrics of a member are discovered", "metrics.k8s.io" in groups, groups)


def check_metrics(sandbox):
    """FederatedHPAs find the use of pods in all members at the control plane."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "busy", "labels": {"app": "busy"}},
           "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}]}}
    code, answer = sandbox.request("POST", MEMBER + "/proxy/api/v1/namespaces/default/pods", pod)
    check("a pod in the member", code == 201, code, answer)
    path = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods?labelSelector=app%3D"

    def uses(app):
        items = sandbox.request("GET", path + app)[1]["items"]
        return [container["usage"]["cpu"] for item in items for container in item["containers"]]

    eventually("the use of the pod", lambda: len(uses("busy")) == 1)
    check("a share of what it requests", 60 <= int(uses("busy")[0].removesuffix("m")) <= 90, uses("busy"))
    check("no other pods", uses("idle") == [])


def check_webhook_rules(sandbox):
    """What karmada-webhook refuses, the control plane refuses."""
    hpa = {"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "FederatedHPA", "metadata": {"name": "a"},
           "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                    "minReplicas": 5, "maxReplicas": 3}}
    code, answer = sandbox.request(
        "POST", "/apis/autoscaling.karmada.io/v1alpha1/namespaces/default/federatedhpas", hpa)
    check("an impossible FederatedHPA", code == 403 and "must be greater than or equal to `minReplicas`" in
          answer["message"], code, answer)


PULLED = "/apis/cluster.karmada.io/v1alpha1/clusters/member2"


def check_pull_member(sandbox):
    """The agent beside the clusters registers its member, serves it, and is taken down and up."""
    def member():
        return json.loads(sandbox.steer("status", "-o", "json")[1])["members"][1]

    described = sandbox.up["members"]
    check("the modes", [m["mode"] for m in described] == ["Push", "Pull"], described)
    eventually("the pull member to be ready", lambda: member()["ready"] == "True")
    check("its mode and its agent", member()["mode"] == "Pull" and member()["agent"]["state"] == "running", member())
    code, cluster = sandbox.request("GET", PULLED)
    check("its Cluster", cluster["spec"]["syncMode"] == "Pull", code, cluster)
    code, said = sandbox.steer("status")
    check("status for people", "mode Pull" in said and "karmada-agent of member2" in said, said)

    maps = "/api/v1/namespaces/default/configmaps"
    policies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies"
    check("a policy", sandbox.request("POST", policies, {
        "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "all"},
        "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}],
                 "placement": {"clusterAffinity": {"clusterNames": ["member2"]}}}})[0] == 201)

    def create(name):
        check(name, sandbox.request("POST", maps, {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}})[0] == 201)

    def arrived(name):
        return sandbox.request("GET", PULLED + "/proxy" + maps + "/" + name)[0] == 200

    create("first")
    eventually("the first ConfigMap", lambda: arrived("first"))
    code, said = sandbox.steer("agent", "down", "member1")
    check("a member without an agent", code == 2 and "is in push mode" in said, code, said)
    check("agent down", sandbox.steer("agent", "down", "member2")[0] == 0)
    code, said = sandbox.steer("agent", "down", "member2")
    check("agent down again", code == 0 and "is down already" in said, code, said)
    check("its state", member()["agent"]["state"] == "down", member())
    create("second")
    check("agent up", sandbox.steer("agent", "up", "member2")[0] == 0)
    eventually("the second ConfigMap", lambda: arrived("second"))

    check("deletion", sandbox.request("DELETE", PULLED)[0] == 200)

    def joined():
        code, said = sandbox.steer("member", "join", "member2")
        check("join", code == 0 or "is still leaving" in said, code, said)
        return code == 0

    eventually("the pull member to join again", joined)
    eventually("it to be ready again", lambda: member()["ready"] == "True")
    return member()["agent"]["pid"]


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def check_joining(sandbox):
    eventually("the member to be ready", lambda: sandbox.member()[1])
    before, _ = sandbox.member()
    check("deletion", sandbox.request("DELETE", MEMBER)[0] == 200)

    def joined():
        code, said = sandbox.steer("member", "join", "member1")
        check("join", code == 0 or "is still leaving" in said, code, said)
        return code == 0

    eventually("the member to join again", joined)
    check("a new Cluster", sandbox.member()[0] not in ("", before))
    eventually("the member to be ready again", lambda: sandbox.member()[1])


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as root:
        directory = os.path.join(root, "s")
        first = Sandbox(program, directory)
        try:
            check("nothing is said of an earlier run", first.said() == "", first.said())
            check_joining(first)
            check_cluster_proxy(first)
            check_metrics(first)
            check_webhook_rules(first)
            check_steering(first)
            check_status(first)
            check("Ctrl-C", first.stop(signal.SIGINT) == 0)
        finally:
            first.process.kill()
        second = Sandbox(program, directory, "--search", "--", "--feature-gates=Failover=true")
        try:
            said = second.said()
            check("the earlier run is named", "An earlier sandbox ran in " + directory in said, said)
            check("its log is kept", os.path.getsize(second.log + ".1") > 0)
            check_search(second)
            check_manager_flags(second)
            check("SIGTERM", second.stop(signal.SIGTERM) == 0)
        finally:
            second.process.kill()
        third = Sandbox(program, os.path.join(root, "p"), "--pull-members", "1")
        try:
            agent = check_pull_member(third)
            check("Ctrl-C with an agent", third.stop(signal.SIGINT) == 0)
            check("the agent has ended, too", is_gone(agent))
        finally:
            third.process.kill()
    print("all fine")


if __name__ == "__main__":
    main()
