#!/usr/bin/env python3
"""Runs the built programs as a shell does and checks what they answer to bad input and to --help.

Every command and every flag is found by reading the programs' own --help, so that a new flag is
tested without a line here. Each flag that takes a value gets one that is malformed for numbers,
durations, addresses, names, selectors and lists alike, and that no path can be. The program has to
end with 2 (karmada-lens and karmada-interpret impact: 1) and to name the value. The few flags that take any text are listed below.

Each flag that takes a file gets an empty one, a directory and one of words, too, and the program has to name the flag and the file.

Usage: exit_codes_test.py PROGRAM...
"""
import os
import re
import subprocess
import sys
import tempfile

BAD = "/dev/null/bad value"
LEAST = 250  # Command lines, when every program with rows below is given.
DEADLINE = 120  # Seconds; a program that does not end is stuck.

# The value for flags that take that path-like one.
BAD_FOR = {"--skipped-propagating-namespaces": "(bad value"}

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUN = ["--operation", "InterpretHealth", "--desired", "-"]
REPLICA = ["--operation", "ReviseReplica", "--desired", "-"]
# It asks no server before it has read all files.
SEARCH = ["--kubeconfig", "kubeconfig", "--registry-storage=custom-resources",
          "--authentication-skip-lookup", "--disable-search"]
ETCD = ["--kubeconfig", "kubeconfig"]
AGENT = ["--cluster-name", "m1"]
ADMISSION = ["--kubeconfig", "kubeconfig", "--interpreter-admission-bind-address=127.0.0.1:0"]
LIVE = ["-f", "resourceinterpretercustomization/web"]

# The exit code for a command line that cannot be used, where it is not 2.
UNUSABLE = {"karmada-lens": 1, "karmada-interpret impact": 1}

# What a command needs beside a flag, so that it gets to look at the value. The files are those of
# Checker.
NEEDED = {
    "karmada-sandbox member down": ["member1"],
    "karmada-sandbox member up": ["member1"],
    "karmada-sandbox member join": ["member1"],
    "karmada-sandbox agent down": ["member1"],
    "karmada-sandbox agent up": ["member1"],
    "karmada-interpret init": ["Widget"],
    "karmada-interpret run": RUN,
    "karmada-interpret impact": ["-f", "widget.yaml"],
    "karmada-interpret test": ["widget-test.yaml"],
    "karmada-interpret bench": ["-"],
    "karmada-lens graph": ["-f", "manifest.yaml"],
    "karmada-lens plan": ["-f", "manifest.yaml"],
    "karmada-lens why": ["deployment/web"],
    "karmada-search": SEARCH,
    "karmada-agent": AGENT,
    "karmada-agent permissions": AGENT,
}
# The same for some flags of all commands, and for some of one command (which then count alone).
NEEDED_BY_FLAG = {
    "--cert-file": ["--key-file", "/etc/hostname"],
    "--key-file": ["--cert-file", "/etc/hostname"],
    "--ca-file": ["--cert-file", "/etc/hostname", "--key-file", "/etc/hostname"],
    "--context": LIVE + ["--kubeconfig", "kubeconfig"],
    "--interpreter-admission-tls-cert-file": ADMISSION + [
        "--interpreter-admission-tls-private-key-file", "/etc/hostname"],
    "--interpreter-admission-tls-private-key-file": ADMISSION + [
        "--interpreter-admission-tls-cert-file", "/etc/hostname"],
}
ONLY_NEEDED = {
    "karmada-interpret init --operation": ["Widget", "--api-version", "example.io/v1"],
    "karmada-interpret init --dir": ["Widget", "--api-version", "example.io/v1"],
    "karmada-interpret check --against": ["widget.yaml"],
    "karmada-interpret check --kubeconfig": LIVE,
    "karmada-interpret run --kubeconfig": RUN + LIVE,
    "karmada-interpret test --kubeconfig": ["widget-test.yaml"] + LIVE,
    "karmada-interpret list --kubeconfig": LIVE,
    "karmada-interpret bench --kubeconfig": ["-"] + LIVE,
    "karmada-interpret batch --kubeconfig": LIVE,
    "karmada-interpret run --desired-file": RUN[:2],
    "karmada-interpret run --observed-file": RUN[:2],
    "karmada-interpret run --observed-context": RUN[:2] + [
        "--observed", "deployment/web", "--kubeconfig", "kubeconfig"],
    "karmada-interpret run --status-file": ["--operation", "AggregateStatus", "--desired",
                                            "widget.yaml"],
    "karmada-interpret run --desired-replica": REPLICA,
    "karmada-interpret run --operation": REPLICA[2:],
    "karmada-lens graph --kubeconfig": [],
    "karmada-lens graph --context": ["--kubeconfig", "kubeconfig"],
    "karmada-lens plan --context": ["-f", "manifest.yaml", "--kubeconfig", "kubeconfig"],
    "karmada-lens preflight --context": ["--kubeconfig", "kubeconfig"],
    "karmada-lens preflight --host-context": ["--host-kubeconfig", "kubeconfig"],
    "karmada-lens preflight --namespace": ["--host-kubeconfig", "kubeconfig"],
    "karmada-lens preflight --deployment": ["--host-kubeconfig", "kubeconfig"],
    "karmada-lens serve --context": ["--kubeconfig", "kubeconfig"],
    "karmada-lens serve --tls-cert-file": ["--tls-private-key-file", "/etc/hostname"],
    "karmada-lens serve --tls-private-key-file": ["--tls-cert-file", "/etc/hostname"],
    "karmada-lens why --context": ["deployment/web", "--kubeconfig", "kubeconfig"],
    "karmada-search --kubeconfig": ["--registry-storage=custom-resources"],
    "karmada-search --tls-cert-file": SEARCH + ["--tls-private-key-file", "/etc/hostname"],
    "karmada-search --tls-private-key-file": SEARCH + ["--tls-cert-file", "/etc/hostname"],
    "karmada-search --etcd-servers": ETCD,
    "karmada-search --etcd-cafile": ETCD + ["--etcd-servers", "https://127.0.0.1:1"],
    "karmada-search --etcd-certfile": ETCD + [
        "--etcd-servers", "https://127.0.0.1:1", "--etcd-keyfile", "/etc/hostname"],
    "karmada-search --etcd-keyfile": ETCD + [
        "--etcd-servers", "https://127.0.0.1:1", "--etcd-certfile", "/etc/hostname"],
    "karmada-search --audit-log-path": SEARCH + ["--audit-level=Metadata"],
    "karmada-lens why --policy": [],
    "karmada-agent --cluster-name": [],
    "karmada-agent --clusters-from": [],
    "karmada-agent --clusters-from-secrets": [],
    "karmada-agent --hosting-kubeconfig": ["--clusters-from-secrets", "a=b"],
    "karmada-agent --hosting-namespace": ["--clusters-from-secrets", "a=b", "--hosting-kubeconfig", "kubeconfig"],
    "karmada-agent --shard-clusters": [
        "--clusters-from-secrets", "a=b", "--hosting-kubeconfig", "kubeconfig"],
    "karmada-agent --kubeconfig": AGENT + ["--karmada-kubeconfig", "kubeconfig"],
    "karmada-agent --karmada-context": AGENT + ["--karmada-kubeconfig", "kubeconfig"],
    "karmada-webhook-example --output": [
        "--address", "127.0.0.1:0", "--manifests", SOURCE + "/examples/webhook/manifests"],
}
# Flags that take any text, and why.
ANY_TEXT = {
    "karmada-controller-manager": {
        "--alsologtostderrthreshold", "--cluster-api-context", "--cluster-api-kubeconfig",
        "--log-backtrace-at", "--log-dir",
        "--log-file", "--log-json-info-buffer-size", "--log-text-info-buffer-size",
        "--no-execute-taint-eviction-purge-mode", "--profiling-bind-address",
        "--stderrthreshold",  # Without effect: only their names are known.
        "--controllers",  # A name that is not known is a warning, as upstream starts with it.
        "--subject",  # The name of a user, which may be anything.
    },
    "karmada-agent": {
        "--alsologtostderrthreshold", "--log-backtrace-at", "--log-dir", "--log-file",
        "--log-json-info-buffer-size", "--log-text-info-buffer-size", "--stderrthreshold",
        "--profiling-bind-address", "--controllers",  # As above.
        # What the control plane judges.
        "--cluster-api-endpoint", "--cluster-namespace", "--cluster-provider", "--cluster-region",
        "--cluster-zones", "--proxy-server-address", "--karmada-kubeconfig-namespace",
        "--report-secrets",  # An unknown one is a warning, as upstream starts with it.
    },
    "karmada-search": {
        "--authorization-always-allow-paths", "--etcd-prefix",
        # Names of certificates and header fields.
        "--requestheader-allowed-names", "--requestheader-username-headers",
        "--requestheader-uid-headers", "--requestheader-group-headers",
        "--requestheader-extra-headers-prefix",
    },
}


# Flags that name files of which this program makes others, or that take directories, too: what is in them is judged by document.
NO_FILE_OF_OURS = {"--output", "--junit", "--shadow-report", "--audit-log-path", "--page", "--filename", "--customization", "--webhook",
                   "--base", "--with-cluster"}
# Takes any text; what is not in it is said otherwise.
ANY_WORDS = {"--args-file"}
WORDS = "words.txt"


def run(words, cwd):
    environment = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "HOME")}
    done = subprocess.run(words, cwd=cwd, env=environment, input="", capture_output=True,
                          text=True, timeout=DEADLINE, check=False)
    # A log line of a start has all flags in it; only what is said about them counts.
    said = "\n".join(l for l in done.stderr.splitlines() if not re.match(r"[IW]\d{4} ", l))
    return done.returncode, done.stdout, said


KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: nowhere
clusters: [{name: nowhere, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}]
users: [{name: nobody, user: {}}]
"""


class Checker:
    def __init__(self, cwd):
        self.cwd = cwd
        with open(os.path.join(cwd, "kubeconfig"), "w", encoding="utf-8") as out:
            out.write(KUBECONFIG)
        with open(os.path.join(cwd, "manifest.yaml"), "w", encoding="utf-8") as out:
            out.write("{apiVersion: example.io/v1, kind: Widget, metadata: {name: w}}\n")
        with open(os.path.join(cwd, WORDS), "w", encoding="utf-8") as out:
            out.write("neither a certificate nor: [a document\n")
        self.runs = 0
        self.failures = []

    def refused(self, words, *said):
        program = os.path.basename(words[0])
        code = UNUSABLE.get(" ".join([program] + words[1:2]), UNUSABLE.get(program, 2))
        return self.expect(code, words, *said)

    def expect(self, code, words, *said):
        self.runs += 1
        got, out, err = run(words, self.cwd)
        if got == code and all(text in (out if code == 0 else err) for text in said):
            return out
        shown = " ".join([os.path.basename(words[0])] + words[1:])
        self.failures.append(f"{shown}\n  ended with {got} instead of {code}, or did not say "
                             f"{', '.join(map(repr, said))}:\n  {(out + err)[-600:]}")
        return out


def options_of(help_text):
    """Yields (names, the type of the value, None without one) for each flag that a --help shows."""
    for line in help_text.splitlines():
        flag = re.match(r"  (-[^ ]+)( [A-Z][^ ]*)?", line)
        if not flag:
            continue
        names = flag.group(1).split(",")
        # After the names comes the type of the value; the description follows two or more blanks.
        yield names, flag.group(2) and flag.group(2).split()[0]


def commands_of(help_text):
    listed = re.split(r"^Subcommands:$", help_text, flags=re.M)
    if len(listed) < 2:
        return []
    return re.findall(r"^  ([a-z]+) ", listed[1].split("\n\n")[0], flags=re.M)


def check_flags(checker, program, path, help_text):
    name = " ".join([os.path.basename(program)] + path)
    last = "--help"
    for names, value_type in options_of(help_text):
        flag = names[-1]
        if flag in ("--help", "--version") or not flag.startswith("--"):
            continue
        if flag in ANY_TEXT.get(os.path.basename(program), ()):
            continue
        if not value_type:
            checker.refused([program] + path + [f"{flag}={BAD}"], BAD)
        else:
            needed = ONLY_NEEDED.get(
                f"{name} {flag}", NEEDED.get(name, []) + NEEDED_BY_FLAG.get(flag, []))
            value = BAD_FOR.get(flag, BAD)
            checker.refused([program] + path + needed + [flag, value], value)
            if value_type == "FILE":
                check_file(checker, [program] + path + needed, flag)
        last = flag
    checker.refused([program] + path + [last + "q"], f"did you mean {last}?")


def check_file(checker, words, flag):
    """What is there and of no use is refused with the flag and the file."""
    if flag in NO_FILE_OF_OURS:
        return
    checker.refused(words + [flag, "/etc"], flag, "/etc", "irectory")
    if flag not in ANY_WORDS:
        checker.refused(words + [flag, "/dev/null"], flag, "/dev/null is empty")
        checker.refused(words + [flag, WORDS], flag, WORDS)


def check_command(checker, program, path):
    help_text = checker.expect(0, [program] + path + ["--help"],
                               "Usage: " + " ".join([os.path.basename(program)] + path))
    if path and path != ["help"]:
        asked = checker.expect(0, [program, "help"] + path)
        if asked != help_text:
            checker.failures.append(f"help {' '.join(path)}: not the text of --help")
    if path in (["version"], ["help"]):
        return
    check_flags(checker, program, path, help_text)
    commands = commands_of(help_text)
    for command in commands:
        if command not in ("version", "help"):
            meant = f"did you mean {command}?"
            checker.refused([program] + path + [command + "x"], meant)
            checker.refused([program] + path + [command + "x", "--help"], meant)
        check_command(checker, program, path + [command])
    if commands:
        checker.refused([program] + path + ["frobnicate", "--help"], "frobnicate")


def main():
    with tempfile.TemporaryDirectory() as cwd:
        checker = Checker(cwd)
        for program in sys.argv[1:]:
            if os.path.basename(program) == "karmada-interpret":
                checker.expect(0, [os.path.abspath(program), "init", "Widget", "--api-version",
                                   "example.io/v1"])  # widget.yaml and widget-test.yaml.
        for program in sys.argv[1:]:
            check_command(checker, os.path.abspath(program), [])
        for row in ROWS:
            for program in sys.argv[1:]:
                if os.path.basename(program) == row[1][0]:
                    checker.expect(row[0], [os.path.abspath(program)] + row[1][1:], row[2])
    given = {os.path.basename(program) for program in sys.argv[1:]}
    if given >= {row[1][0] for row in ROWS} and checker.runs < LEAST:
        checker.failures.append(f"only {checker.runs} command lines: has the form of --help changed?")
    for failure in checker.failures:
        print(failure)
    print(f"{checker.runs} command lines, {len(checker.failures)} of them answered wrongly")
    sys.exit(1 if checker.failures else 0)


# Rows that --help does not show: (exit code, command line, what is said).
ROWS = [
    (2, ["karmada-controller-manager", "--metrics-bind-address=foo"],
     'address "foo" is not host:port'),
    (2, ["karmada-controller-manager", "--metrics-bind-address=:70000"], ":70000"),
    (2, ["karmada-controller-manager", "--health-probe-bind-address=1.2.3.4"], "1.2.3.4"),
    (2, ["karmada-controller-manager", "--vmodule=a=b"], '"a=b" is not pattern=N'),
    (2, ["karmada-controller-manager", "--leader-elect-retry-period=0s"], "greater than 0"),
    (2, ["karmada-controller-manager", "--leader-elect=maybe"], "maybe"),
    (2, ["karmada-controller-manager", "--interpreter-admission-bind-address=:8443"],
     "needs --interpreter-admission-tls-cert-file"),
    (2, ["karmada-controller-manager", "--interpreter-admission-bind-address=:8443",
         "--interpreter-admission-tls-cert-file=nonexistent",
         "--interpreter-admission-tls-private-key-file=/etc/hostname"],
     "nonexistent does not exist"),
    (2, ["karmada-controller-manager", "--interpreter-admission-bind-address=:8443",
         "--interpreter-admission-tls-cert-file=/etc",
         "--interpreter-admission-tls-private-key-file=/etc/hostname"],
     "/etc cannot be read: Is a directory"),
    (2, ["karmada-controller-manager"], "no kubeconfig"),
    (2, ["karmada-controller-manager", "--kubeconfig=/dev/null"],
     "--kubeconfig: kubeconfig /dev/null is empty"),
    (2, ["karmada-controller-manager", "--kubeconfig=/etc"],
     "--kubeconfig: kubeconfig /etc cannot be read: Is a directory"),
    (2, ["karmada-controller-manager", "--interpreter-admission-bind-address=:8443",
         "--interpreter-admission-tls-cert-file=/dev/null",
         "--interpreter-admission-tls-private-key-file=/etc/hostname"],
     "--interpreter-admission-tls-cert-file: /dev/null is empty"),
    (2, ["karmada-agent"], "--cluster-name: must be not empty"),
    (2, ["karmada-agent", *AGENT, "--karmada-kubeconfig=/dev/null"],
     "--karmada-kubeconfig: kubeconfig /dev/null is empty"),
    (2, ["karmada-agent", *AGENT, "--concurrent-namespace-syncs=1"], "--concurrent-namespace-syncs"),
    (2, ["karmada-search", *ETCD, "--etcd-servers", "https://127.0.0.1:1", "--etcd-cafile", "/etc"],
     "--etcd-cafile: /etc cannot be read: Is a directory"),
    (2, ["karmada-search", *ETCD, "--etcd-servers", "https://127.0.0.1:1",
         "--etcd-cafile", "/dev/null"], "--etcd-cafile: /dev/null is empty"),
    (2, ["karmada-search", "--registry-storage=custom-resources", "--kubeconfig=/dev/null"],
     "--kubeconfig: kubeconfig /dev/null is empty"),
    (2, ["karmada-sandbox"], "a command is missing"),
    (2, ["karmada-sandbox", "up", "--crds", "nonexistent"], "no *.yaml files in nonexistent"),
    (2, ["karmada-sandbox", "up", "--with-controller-manager", "nonexistent"], "nonexistent"),
    (2, ["karmada-sandbox", "demo", "--samples", "nonexistent"], "nonexistent"),
    (2, ["karmada-sandbox", "demo", "--deadline", "0s"], "not greater than 0"),
    (2, ["karmada-sandbox", "up", "--ready-delay", "-1s"], "less than 0"),
    (2, ["karmada-sandbox", "up", "--port", "65536"], "65536"),
    (2, ["karmada-sandbox", "member", "down"], "NAME is required"),
    (2, ["karmada-sandbox", "demo", "--pull-members", "4"], "is not a number from 0 to 3"),
    (2, ["karmada-sandbox", "member", "down", "member1"], "KUBECONFIG"),
    (2, ["karmada-sandbox", "manager", "down", "--dir", "nonexistent"], "nonexistent"),
    (2, ["karmada-webhook-example", "--address", "foo"], 'address "foo" is not host:port'),
    (2, ["karmada-webhook-example", "--address", "127.0.0.1:0"], "give --manifests"),
    (2, ["karmada-interpret", "run"], ""),
    (1, ["karmada-interpret", "impact"], "give customizations with -f"),
    (1, ["karmada-lens"], "a command is missing"),
    (1, ["karmada-lens", "graph", "-f", "-", "--kubeconfig", "k"], "leave one of them out"),
    (1, ["karmada-lens", "graph", "--clusters", "2"], "--clusters has an effect on files only"),
    (1, ["karmada-lens", "serve", "--listen", "0.0.0.0:8090"], "--listen=0.0.0.0:8090 is not the loopback address"),
    (1, ["karmada-lens", "serve", "--tls-cert-file", "/etc/hostname"], "go together"),
    (1, ["karmada-lens", "serve", "--kubeconfig", "/dev/null"], "--kubeconfig: kubeconfig /dev/null is empty"),
    (1, ["karmada-lens", "why", "web"], '"web" is not TYPE/NAME'),
    (1, ["karmada-lens", "why", "deployment/web", "--kubeconfig", "/dev/null"],
     "--kubeconfig: kubeconfig /dev/null is empty"),
    (1, ["karmada-lens", "preflight", "--kubeconfig", "/dev/null"],
     "--kubeconfig: kubeconfig /dev/null is empty"),
]

if __name__ == "__main__":
    main()
