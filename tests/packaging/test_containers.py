"""The programs of the images at work: each in its own root, read-only, as a user without rights."""
import base64
import datetime
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import unittest

import yaml

import places
from container import USER, Container, stop
from sandbox import DEMO, Sandbox

MANAGER, SEARCH, _ = places.DAEMONS
REPLICAS = {"member1": 3, "member2": 2, "member3": 1}  # As README shows the demo.


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class ContainerTest(unittest.TestCase):
    """`self.manager` is the image of the controller manager, unpacked; `self.sandbox` a control plane for it."""

    def setUp(self):
        place = places.scratch("containers")
        self.manager = Container(MANAGER, place / MANAGER)
        shutil.rmtree(place / "sandbox", ignore_errors=True)
        (place / "sandbox").mkdir()
        self.sandbox = Sandbox(place / "sandbox")
        self.addCleanup(self.sandbox.stop)

    def start(self, container, *words, **more):
        process = container.start(*words, **more)
        self.addCleanup(lambda: process.poll() is None and stop(process))
        return process

    def start_manager(self, kubeconfig, *words, **more):
        return self.start(self.manager, *words, f"--kubeconfig={kubeconfig}", "--metrics-bind-address=0",
                          "--health-probe-bind-address=0", "--leader-elect-lease-duration=3s",
                          "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=200ms", **more)

    def leads(self, process):
        self.assertIsNone(process.poll(), self.log(self.manager))
        return self.sandbox.leader(MANAGER)

    def log(self, container):
        return container.log.read_text(errors="replace")


class RootTest(ContainerTest):
    def test_they_answer(self):
        for name in places.DAEMONS:
            container = self.manager if name == MANAGER else Container(name, places.scratch("containers") / name)
            version = places.run(places.BIN / name, "version").stdout
            self.assertEqual(container.run("version").stdout, version)
            self.assertIn("--kubeconfig", container.run("--help").stdout)
            self.assertEqual(container.process["user"], {"uid": USER, "gid": USER})

    def test_the_loader_finds_every_library_in_the_image(self):
        shown = places.run(*self.manager.command("/lib64/ld-linux-x86-64.so.2", "--list", f"/bin/{MANAGER}")).stdout
        self.assertNotIn("not found", shown)
        self.assertGreater(shown.count("=> /"), 10)

    def test_there_is_no_shell_and_nothing_can_be_written(self):
        for path in ("bin/sh", "bin/bash", "usr/bin/env"):
            self.assertFalse((self.manager.root / path).exists())
        refused = places.run(*self.manager.command("/bin/sh", "-c", "true"), check=False)
        self.assertEqual(refused.returncode, 127, "chroot finds no program")


class ManagerTest(ContainerTest):
    def test_it_leads_propagates_and_ends(self):
        kubeconfig = self.manager.put("karmada.config", self.sandbox.kubeconfig.read_bytes())
        process = self.start_manager(kubeconfig)
        places.eventually("the daemon in the image to lead", lambda: self.leads(process))
        for member in REPLICAS:
            places.eventually(f"{member} to be ready", lambda name=member: self.sandbox.is_ready(name))
        self.sandbox.create_files(*sorted(DEMO.glob("*.yaml")))
        for member, replicas in REPLICAS.items():
            places.eventually(f"{replicas} replicas in {member}", lambda m=member, r=replicas: self.has(m, r))
        places.eventually("the sum at the template", lambda: self.ready_of("karmada") == sum(REPLICAS.values()))
        self.assertEqual(stop(process), 0, self.log(self.manager))

    def has(self, cluster, replicas):
        return self.ready_of(cluster) == replicas

    def ready_of(self, cluster):
        status, found = self.sandbox.request("GET", "/apis/apps/v1/namespaces/demo/deployments/nginx", cluster=cluster)
        return status == 200 and found.get("status", {}).get("readyReplicas")

    def test_it_knows_time_zones(self):
        kubeconfig = self.manager.put("karmada.config", self.sandbox.kubeconfig.read_bytes())
        hours = []
        for zone in ("UTC", "Asia/Kolkata"):
            process = self.start_manager(kubeconfig, environment=f"TZ={zone}")
            first = places.eventually("a line in the log", lambda: re.search(
                r"^[IW](\d{2})(\d{2}) (\d{2}):(\d{2}):(\d{2})", self.log(self.manager), re.MULTILINE))
            stop(process)
            month, day, hour, minute, second = map(int, first.groups())
            hours.append(datetime.datetime(2024, month, day, hour, minute, second))
        # India is 5:30 hours ahead; between the two starts lie seconds.
        ahead = hours[1] - hours[0] - datetime.timedelta(hours=5, minutes=30)
        self.assertLess(abs(ahead), datetime.timedelta(minutes=5))

    def test_without_an_authority_in_the_kubeconfig_it_trusts_those_of_the_image(self):
        config = yaml.safe_load(self.sandbox.kubeconfig.read_text())
        authority = base64.b64decode(config["clusters"][0]["cluster"].pop("certificate-authority-data")).decode()
        kubeconfig = self.manager.put("karmada.config", yaml.safe_dump(config))
        process = self.start_manager(kubeconfig)
        places.eventually("a refusal of the certificate", lambda: "certificate" in self.log(self.manager))
        self.assertIsNone(self.sandbox.leader(MANAGER))
        if process.poll() is None:
            stop(process)
        bundle = self.manager.root / "etc" / "ssl" / "certs" / "ca-certificates.crt"
        bundle.write_text(bundle.read_text() + authority)
        process = self.start_manager(kubeconfig)
        places.eventually("the daemon to lead", lambda: self.leads(process))


class ProfilesTest(ContainerTest):
    """What docs/operations-reference.md says about profiles holds for the program in its image, too."""

    def setUp(self):
        super().setUp()
        self.port = free_port()
        kubeconfig = self.manager.put("karmada.config", self.sandbox.kubeconfig.read_bytes())
        process = self.start_manager(kubeconfig, "--enable-pprof", f"--profiling-bind-address=127.0.0.1:{self.port}",
                                     "--logging-format=json")
        places.eventually("the daemon in the image to lead", lambda: self.leads(process))
        self.sandbox.create_files(*sorted(DEMO.glob("*.yaml")))

    def top(self, profile):
        """What `go tool pprof` prints of a profile, with the names from the image's debug information."""
        debug = places.IMAGES / f"{MANAGER}.debug"
        return places.run("go", "tool", "pprof", "-top", debug, f"http://127.0.0.1:{self.port}/debug/pprof/{profile}",
                          env={**os.environ, "PPROF_TMPDIR": str(places.scratch("profiles"))}).stdout

    def test_go_tool_pprof_reads_heap_profiles(self):
        top = self.top("heap")
        self.assertIn("Type: space", top)
        self.assertRegex(top, r"Showing nodes accounting for [1-9]")
        # Functions of this program, by the names that its debug information has.
        self.assertRegex(top, r"(?m)B +[0-9.]+% +(main|RunDaemon|BuildControllers|Establish|Connect)$")

    def test_go_tool_pprof_reads_cpu_profiles_and_the_log_stays_json(self):
        self.assertIn("Type: cpu", self.top("profile?seconds=2"))
        lines = places.eventually("the line about the profile", lambda: [
            line for line in self.log(self.manager).splitlines() if "interrupts/evictions/bytes" in line])
        self.assertEqual(len(lines), 1)
        for line in self.log(self.manager).splitlines():
            self.assertIsInstance(json.loads(line), dict)
        self.assertIn("interrupts/evictions/bytes = ", json.loads(lines[0])["gperftools"])


class SearchTest(ContainerTest):
    def test_it_serves_and_ends(self):
        search = Container(SEARCH, places.scratch("containers") / SEARCH)
        self.sandbox.create_files(*(places.SOURCE / "config" / "search").glob("*.yaml"))
        kubeconfig = search.put("karmada.config", self.sandbox.kubeconfig.read_bytes())
        key, certificate = self.certificate()
        port = free_port()
        process = self.start(
            search, f"--kubeconfig={kubeconfig}", "--registry-storage=custom-resources", f"--secure-port={port}",
            "--bind-address=127.0.0.1", "--authentication-skip-lookup",
            f"--tls-cert-file={search.put('tls.crt', certificate)}",
            f"--tls-private-key-file={search.put('tls.key', key)}")
        context = ssl.create_default_context(cadata=certificate.decode())

        def ready():
            self.assertIsNone(process.poll(), self.log(search))
            try:
                connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=5)
                connection.request("GET", "/readyz")
                return connection.getresponse().status == 200
            except OSError:
                return False

        places.eventually("karmada-search to be ready", ready)
        self.assertEqual(stop(process), 0, self.log(search))

    @staticmethod
    def certificate():
        place = places.scratch("certificate")
        places.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                   "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1",
                   "-keyout", place / "tls.key", "-out", place / "tls.crt")
        return (place / "tls.key").read_bytes(), (place / "tls.crt").read_bytes()


if __name__ == "__main__":
    unittest.main()
