#!/usr/bin/env python3
"""Loads the completion scripts of the built programs into real shells and has them complete words.

What is completed is compared with the programs' own --help, so that a flag or command that a script does not
know is found without a line here.

Usage: completion_test.py [--shells SHELL,...] PROGRAM...     (default: bash, which every Debian has)
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

DEADLINE = 60


def run(*command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env=env)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(command[:4])}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Program:
    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)

    def help(self, commands):
        return run(self.path, *commands, "--help")

    def commands(self, commands):
        text = self.help(commands).split("\nSubcommands:\n")
        return re.findall(r"^  ([a-z][a-z-]*)(?:\s|$)", text[1].split("\n\n")[0], re.M) if len(text) > 1 else []

    def flags(self, commands):
        return sorted(set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]*)", self.help(commands), re.M)))

    def all_commands(self, above=()):
        yield list(above)
        for name in self.commands(above):
            yield from self.all_commands((*above, name))


class Bash:
    """Calls the function that the script registers, as readline does."""

    BREAKS = "="  # Of COMP_WORDBREAKS, what occurs in these words.

    def __init__(self, program, folder):
        self.program = program
        self.script = os.path.join(folder, "bash")
        with open(self.script, "w", encoding="utf-8") as out:
            out.write(run(program.path, "completion", "bash"))
        run("bash", "-n", self.script)

    def complete(self, *words):
        split = []
        for word in (self.program.name, *words):
            split += [part for part in re.split(f"([{self.BREAKS}])", word) if part] or [""]
        if words[-1].endswith("="):
            pass  # The cursor is on "=" itself.
        return run("bash", "--norc", "-c", """
            source "$1"; shift
            function_of=$(complete -p "$1"); function_of=${function_of#*-F }; function_of=${function_of%% *}
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            "$function_of"; printf '%s\\n' "${COMPREPLY[@]}"
            """, "-", self.script, *split).split()


class Zsh:
    """Calls the script's function with the words, and prints what it hands to zsh's own functions."""

    def __init__(self, program, folder):
        self.program = program
        self.script = os.path.join(folder, "_" + program.name)
        with open(self.script, "w", encoding="utf-8") as out:
            out.write(run(program.path, "completion", "zsh"))
        run("zsh", "-n", self.script)

    def complete(self, *words):
        line = " ".join(shlex.quote(w) for w in (self.program.name, *words))
        text = run("zsh", "-f", "-c", """
            autoload -U compinit; compinit -u -D 2>/dev/null
            source "$1"
            [[ -n "${_comps[$2]}" ]] || { echo not registered; exit 1 }
            _describe() { local name=$2; print -l -- "${(@P)name}" }
            _files() { print -l -- *(N) }
            compset() { :; }
            words=("${(@Q)${(z)3}}"); [[ "$3" == *"''" ]] && words[-1]=''
            CURRENT=${#words}; ${_comps[$2]} || true
            """, "-", self.script, self.program.name, line)
        found = [row.split(":")[0] for row in text.splitlines() if row]
        start = words[-1].split("=")[-1] if "=" in words[-1] else words[-1]
        return [word for word in found if word.startswith(start)]


class Fish:
    def __init__(self, program, folder):
        self.program, self.home = program, folder
        self.script = os.path.join(folder, "fish")
        with open(self.script, "w", encoding="utf-8") as out:
            out.write(run(program.path, "completion", "fish"))
        run("fish", "--no-execute", self.script)

    def complete(self, *words):
        line = " ".join((self.program.name, *words))
        text = run("fish", "--no-config", "-c", f"source {self.script}; complete -C {shlex.quote(line)}",
                   env={**os.environ, "HOME": self.home})
        return [row.split("\t")[0] for row in text.splitlines() if row]


SHELLS = {"bash": Bash, "zsh": Zsh, "fish": Fish}


class Check:
    def __init__(self, program, shell):
        self.program, self.shell, self.count = program, shell, 0

    def equal(self, found, wanted, *what):
        self.count += 1
        if sorted(found) != sorted(wanted):
            raise AssertionError(f"{type(self.shell).__name__}, {self.program.name} {what}:\n"
                                 f"completed {sorted(found)}\nwanted    {sorted(wanted)}")

    def everything(self):
        for commands in self.program.all_commands():
            self.equal(self.shell.complete(*commands, ""), self.program.commands(commands), commands)
            found = [f for f in self.shell.complete(*commands, "--") if f.startswith("--")]
            self.equal(found, self.program.flags(commands), commands, "flags")

    def details(self):
        complete = self.shell.complete
        self.equal(complete("vers"), ["version"], "the beginning of a command")
        formats = ["json", "short", "yaml"]
        self.equal(complete("version", "-o", ""), formats, "values after a letter")
        self.equal(complete("version", "--output", "js"), ["json"], "the beginning of a value")
        self.equal([v.split("=")[-1] for v in complete("version", "--output=y")], ["yaml"], "--flag=value")
        self.equal(complete("version", "--output", "version", "zzz"), [], "a value that is no command")
        self.equal(complete("completion", "ba"), ["bash"], "a command below another one")
        if self.program.name == "karmada-controller-manager":
            self.equal(complete("--controllers", "clustert"), ["clustertaintpolicy"], "a name that the program knows")
            self.equal(complete("--feature-gates", "MultiC"), ["MultiClusterService=true"], "a gate")
        if self.program.name == "karmada-controller-manager" and isinstance(self.shell, Bash):
            self.equal(complete("--controllers", "remedy,clustert"), ["remedy,clustertaintpolicy"], "the last of a list")


def check_powershell(program):
    """There is no PowerShell in Debian: only that the script names everything, in balanced brackets."""
    script = run(program.path, "completion", "powershell")
    for commands in program.all_commands():
        for name in program.commands(commands) + program.flags(commands):
            assert f"'{name}'" in script, f"{program.name}: powershell does not know {name}"
    bare = re.sub(r"'(?:[^']|'')*'", "", script)
    for opening, closing in ("()", "{}", "[]"):
        assert bare.count(opening) == bare.count(closing), f"{program.name}: unbalanced {opening}"


def main(arguments):
    shells = ["bash"]
    if arguments[:1] == ["--shells"]:
        shells, arguments = arguments[1].split(","), arguments[2:]
    count = 0
    programs = [Program(os.path.abspath(path)) for path in arguments]
    # Where there is no file, since arguments that are no commands complete as files.
    empty = tempfile.TemporaryDirectory()
    os.chdir(empty.name)
    for program in programs:
        check_powershell(program)
        for name in shells:
            with tempfile.TemporaryDirectory() as folder:
                check = Check(program, SHELLS[name](program, folder))
                check.everything()
                check.details()
                count += check.count
    os.chdir("/")
    empty.cleanup()
    least = 20 * len(shells) * len(arguments)
    assert count >= least, f"only {count} completions were compared, of at least {least}"
    print(f"{count} completions compared")


if __name__ == "__main__":
    main(sys.argv[1:])
