"""Sessions that pages of the documentation show. Their console blocks are typed again on a sandbox, in the page's order, and what the commands
print is compared with the page. With RECORD=1 the page gets what they print now.

What the page exports in its other blocks counts for every command. Its ports of this machine are replaced by free ones."""

import os
import re

from . import paths, typed
from .process import free_port, run, wait_until

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ADDRESS = re.compile(r"\b127\.0\.0\.1:\d+\b")
# What differs from run to run, and what stands for it in a comparison.
_VARIES = ((r"^[IWEF]\d{4} \S+ +\d+ \S+\] ", ""), (r"\b[a-z0-9.-]+_[0-9a-f]{8}-[0-9a-f-]{27}", "HOLDER"),
           (r"\b([a-z][a-z0-9-]*)-[a-z0-9]{6,10}-[a-z0-9]{5}\b", r"\1-POD"),
           (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "AT"), (r"[0-9a-f]{8}-[0-9a-f-]{27}", "UID"),
           (r"\b(\d+(\.\d+)?(us|ms|s|m|h|d))+(?=[\s.,;:)]|$)", "TIME"),
           (r"\b\d+m\b", "CPU"), (r"\b\d+Mi\b", "MEMORY"), (r"\b\d+%", "SHARE"), (r"(https?://)?127\.0\.0\.1:\d+", "ADDRESS"),
           (r"\b\d+\.\d+\.\d+\.\d+\b", "ADDRESS"), (r"\b3\d{4}/", "PORT/"), (r"^\S*\d\d:\d\d:\d\d\S*.*?\] ", ""),
           (r"(resourceVersion|generation): \"?\d+\"?", r"\1: NUMBER"),
           (r" deleted from \S+ namespace$", " deleted"))  # Newer kubectl say where.
_HELM = ("CACHE", "CONFIG", "DATA")
_READING_PROGRAMS = ("curl", "grep", "tail")
_READING = {"kubectl": ("describe", "diff", "events", "exec", "get", "logs", "top"), "karmadactl": ("describe", "exec", "get", "logs", "top"),
            "karmada-lens": ("graph", "plan", "why"), "karmada-sandbox": ("status",)}


def blocks(page):
    """[[(command, what it printed)]] of the page's console blocks."""
    return [commands(block) for block in _BLOCK.findall(page)]


def commands(block):
    pieces = [piece.splitlines(keepends=True) for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command.strip(), "".join(printed)) for command, *printed in pieces]


def sandbox_flags(page):
    """The flags in the page's command that starts the sandbox, but those that every sandbox of a test has: (its own, the controller
    manager's). A page without such a command needs nothing of it."""
    found = re.search(r"^karmada-sandbox up (.*)", page, re.MULTILINE)
    own, _, managers = found.group(1).partition(" -- ") if found else ("", "", "")
    return re.sub(r"--(dir|members) \S+", "", own).split(), managers.split()


def free_addresses(page):
    """{address of this machine that the page's commands name: one that is free}."""
    named = [line for block in blocks(page) for line, _ in block] + [line for block in typed.blocks(page) for line in block]
    return {address: f"127.0.0.1:{free_port()}" for address in sorted(set(_ADDRESS.findall("\n".join(named))))}


def replaced(text, words):
    for word, other in words.items():
        text = text.replace(word, other)
    return text


def comparable(text):
    for pattern, word in _VARIES:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    lines = [re.sub(r" {2,}|-{4,}", " ", line).strip() for line in text.strip().splitlines()]
    return "\n".join(lines[:1] + sorted(lines[1:]))


class Session:
    """The session of one page. A command that only reads is repeated until it prints what the page has, for `patience` seconds at most."""

    def __init__(self, test, page, site, folders, patience=60, addresses=None):
        """The programs that are typed are in the first of `folders` that has them, or where the system has them. `addresses`: free_addresses()."""
        self._test, self._page, self._site, self._patience = test, page, site, patience
        self._words = {"/tmp/sandbox/": f"{site.folder}/", **(addresses or {})}
        exported = [line.partition("   #")[0] for block in typed.blocks(page.read_text()) for line in block
                    if line.startswith("export ") and "KUBECONFIG=" not in line]
        self._before = f"PATH={':'.join(map(str, folders))}:$PATH; " + "".join(f"{line}; " for line in exported)

    def check(self):
        page = self._page.read_text()
        recorded = _BLOCK.sub(lambda block: "```console\n" + self._typed(block.group(1)) + "```", page)
        if os.environ.get("RECORD"):
            self._page.write_text(recorded)

    def _typed(self, block):
        text = ""
        for command, wanted in commands(block):
            printed = self._settled(command) if os.environ.get("RECORD") else self._as_wanted(command, wanted)
            text += f"$ {command}\n{printed.rstrip()}\n" if printed.strip() else f"$ {command}\n"
        return text

    def _run(self, command):
        words = f"{self._before}{replaced(command, self._words)} 2>&1"
        done = run(["env", "-C", paths.ROOT, "bash", "-c", words], timeout=300,
                   env={"KUBECONFIG": str(self._site.kubeconfig()), **{f"HELM_{name}_HOME": f"{self._site.folder}/helm" for name in _HELM}})
        return re.sub(r"[ \t]+$", "", replaced(done.stdout, {ours: words for words, ours in self._words.items()}), flags=re.MULTILINE)

    def _as_wanted(self, command, wanted):
        with self._test.subTest(command):
            if not _only_reads(command):
                printed = self._run(command)
                self._test.assertEqual(comparable(printed), comparable(wanted))
                return printed

            def as_wanted():
                printed = self._run(command)
                self._test.assertEqual(comparable(printed), comparable(wanted))
                return True
            wait_until(command, as_wanted, self._patience)
        return wanted

    def _settled(self, command):
        """What a command that only reads prints once it prints the same for a while; that of another one at once."""
        if not _only_reads(command):
            return self._run(command)
        seen = []

        def settled():
            seen.append(self._run(command))
            return len(seen) >= 3 and len({comparable(text) for text in seen[-3:]}) == 1
        wait_until(command, settled, self._patience, every=1)
        return seen[-1]


def _only_reads(command):
    words = command.split()
    return words[0] in _READING_PROGRAMS or any(word in _READING.get(words[0], ()) for word in words[1:4])
