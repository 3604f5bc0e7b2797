"""Logs, commands, ports and files of containers in members, through the global proxy, over both protocols that kubectl speaks."""

import os
import pathlib
import re
import socket
import tempfile

from rig.process import run
from rig.search_case import NAMESPACE, SearchCase

PROTOCOLS = {
    "WebSocket": {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "true", "KUBECTL_PORT_FORWARD_WEBSOCKETS": "true"},
    "SPDY": {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false", "KUBECTL_PORT_FORWARD_WEBSOCKETS": "false"}}


class SearchSessionsTest(SearchCase):
    def over_both(self, check):
        """check(name, environment) for each protocol."""
        for name, env in PROTOCOLS.items():
            with self.subTest(name):
                check(name, env)

    def test_logs_go_on_as_the_container_does(self):
        pod = self.pod(2)
        self.assertIn("a container in member2\n", self.succeeds(f"logs {pod}"))
        self.assertIn("a container in member2\n", self.succeeds("logs deployment/web-2"))
        self.assertEqual(self.succeeds(f"logs {pod} --tail=0"), "")
        follow = self.background("search-logs", self.words(f"logs -f {pod}"))
        self.wait_said(follow, "a container in member2")
        self.plane.containers_print("member2", "followed")
        self.wait_said(follow, "followed")
        self.assertTrue(follow.alive())

    def test_commands_run_in_the_member_that_has_the_pod(self):
        self.over_both(self.check_commands)

    def check_commands(self, _, env):
        for number in (1, 2):
            printed = self.succeeds(f"exec {self.pod(number)} -- printenv CLUSTER", env=env)
            self.assertEqual(printed, f"member{number}\n")
        # kwok does not close the command's standard input, so that it has to stop reading by itself.
        text = "x" * 300000
        self.assertEqual(self.succeeds(f"exec -i {self.pod(1)} -- head -c 300000", text=text, env=env), text)
        done = self.kubectl(["exec", self.pod(1), "--", "sh", "-c", "echo wrong >&2; exit 3"], env=env)
        # kwok has no exit codes; it describes them.
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertRegex(done.stderr, r"wrong\n[\s\S]*exit status 3")

    def test_who_attaches_sees_what_comes(self):
        self.over_both(self.check_attach)

    def check_attach(self, name, env):
        attached = self.background(f"search-attach-{name}", self.words(f"attach {self.pod(1)}"), env)

        def seen():
            self.plane.containers_print("member1", f"seen over {name}")
            return f"seen over {name}" in attached.log.read_text()
        self.wait("a line of the container", seen, 20)

    def test_ports_are_forwarded(self):
        self.over_both(self.check_port)

    def check_port(self, name, env):
        forward = self.background(f"search-port-{name}", self.words(f"port-forward {self.pod(2)} :80"), env)
        self.wait_said(forward, "Forwarding from 127.0.0.1")
        port = int(re.search(r"127\.0\.0\.1:(\d+)", forward.log.read_text()).group(1))
        for text in (b"ping", b"y" * 200000):
            self.assertEqual(_echo(port, text), text)

    def test_files_are_copied_out_of_containers(self):
        """Not into them: tar reads to the end of its standard input, which kwok does not close."""
        self.over_both(self.check_copy)

    def check_copy(self, _, env):
        with tempfile.TemporaryDirectory() as folder:
            there, here = pathlib.Path(folder, "there"), pathlib.Path(folder, "here")
            there.write_text("z" * 100000)
            self.succeeds(["cp", f"{NAMESPACE}/{self.pod(1)}:{there}", str(here)], env=env)
            self.assertEqual(here.read_text(), there.read_text())

    def test_a_command_ends_with_its_client(self):
        """Over SPDY only: over WebSocket kwok does not notice that the client has gone."""
        command = f"sleep 31.{os.getpid()}"  # One that nobody else on this machine runs.
        session = self.background("search-exec-end", self.words(f"exec {self.pod(1)} -- {command}"), PROTOCOLS["SPDY"])
        asleep = ["pgrep", "-f", f"^{command}$"]
        self.wait("the command", lambda: run(asleep).returncode == 0)
        session.kill()
        self.wait("its end", lambda: run(asleep).returncode != 0, 20)


def _echo(port, text):
    """What a port sends back."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(text)
        got = b""
        while len(got) < len(text):
            piece = connection.recv(65536)
            if not piece:
                break
            got += piece
    return got
