"""Completion in real shells, from the scripts in the packages; at a terminal, with the tabulator key."""
import os
import pty
import re
import select
import shutil
import time
import unittest

import help_text
import places

PROMPT = "ready> "


class Terminal:
    """An interactive shell at a terminal."""

    def __init__(self, words, environment, folder):
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        self.seen = ""

    def read_until(self, pattern):
        """Returns what came up to there."""
        end = time.monotonic() + places.DEADLINE
        while not re.search(pattern, self.seen):
            if time.monotonic() > end:
                raise AssertionError(f"{pattern!r} does not come; the terminal shows {self.seen!r}")
            if select.select([self.end], [], [], 0.1)[0]:
                self.seen += os.read(self.end, 65536).decode(errors="replace")
        text, self.seen = self.seen, ""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x07|\r", "", text)

    def type(self, text):
        os.write(self.end, text.encode())

    def close(self):
        os.close(self.end)
        os.waitpid(self.pid, 0)


class ShellsTest(unittest.TestCase):
    """`self.root` has the completions of the packages, `self.folder` two files and a folder."""

    @classmethod
    def setUpClass(cls):
        cls.root = places.scratch("completion") / "root"
        shutil.rmtree(cls.root, ignore_errors=True)
        for package in places.PACKAGES.glob("*.deb"):
            places.run("dpkg-deb", "--extract", package, cls.root)
        cls.folder = places.scratch("completion") / "folder"
        shutil.rmtree(cls.folder, ignore_errors=True)
        (cls.folder / "manifests").mkdir(parents=True)
        (cls.folder / "widget.yaml").write_text("")
        (cls.folder / "two words.yaml").write_text("")
        cls.share = cls.root / "usr" / "share"
        cls.environment = {"PATH": f"{cls.root}/usr/bin:/usr/bin:/bin", "HOME": str(cls.folder), "TERM": "dumb",
                           "LC_ALL": "C.UTF-8", "XDG_DATA_DIRS": str(cls.share)}

    def bash(self, line):
        """What bash offers at the end of `line`: what it would call for the tabulator, called as it would."""
        words = re.findall(r"[=:]|[^\s=:]+", line) + ([""] if line.endswith(" ") else [])  # COMP_WORDBREAKS.
        script = r"""
            source "$1"
            COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=("${@:3}") COMP_CWORD=$(($# - 3))
            compopt() { :; }
            rule=$(complete -p "$3")
            function=$(sed 's/.*-F \([^ ]*\) .*/\1/' <<< "$rule")
            "$function" "$3" "${!#}"
            ((${#COMPREPLY[@]})) || [[ $rule != *"-o default"* ]] || mapfile -t COMPREPLY < <(compgen -f -- "${!#}")
            printf '%s\n' "${COMPREPLY[@]}"
        """
        name = line.split(" ")[0]
        shown = places.run("bash", "--norc", "-c", script, "bash", self.share / "bash-completion" / "completions" / name,
                           line, *words, env=self.environment, cwd=self.folder).stdout
        return [word for word in shown.split("\n") if word]

    def fish(self, line):
        shown = places.run("fish", "--no-config", "-c", f"source {self.share}/fish/vendor_completions.d/"
                           f"{line.split(' ')[0]}.fish; complete -C '{line}'", env=self.environment, cwd=self.folder).stdout
        return sorted(word.split("\t")[0] for word in shown.split("\n") if word)

    def test_every_program_completes_in_bash_and_fish(self):
        for name in (*places.DAEMONS, *places.TOOLS):
            for shell in (self.bash, self.fish):
                self.assertEqual(sorted(shell(f"{name} --vers")), ["--version"], f"{name} {shell.__name__}")
                self.assertIn("completion", shell(f"{name} "))

    def test_arguments_are_files(self):
        for shell in (self.bash, self.fish):
            self.assertEqual(shell("karmada-interpret check wid"), ["widget.yaml"], shell.__name__)
            self.assertEqual(shell("karmada-lens wid"), ["widget.yaml"] if shell == self.bash else [])

    def test_commands_flags_values_and_files(self):
        for shell in (self.bash, self.fish):
            with self.subTest(shell.__name__):
                commands = help_text.commands_of(help_text.read(self.root / "usr" / "bin" / "karmada-lens"))
                self.assertEqual(sorted(shell("karmada-lens ")), sorted(commands))
                self.assertEqual(shell("karmada-lens pl"), ["plan"])
                self.assertEqual(shell("karmada-lens plan --feat"), ["--feature-gates"])
                self.assertEqual(sorted(shell("karmada-lens graph -o ")), ["dot", "json", "svg", "text"])
                self.assertEqual(shell("karmada-sandbox member jo"), ["join"])
                self.assertIn("widget.yaml", shell("karmada-lens plan -f wid"))
                self.assertEqual(shell("karmada-interpret test --junit wid"), ["widget.yaml"])
                self.assertIn("manifests", [word.rstrip("/") for word in shell("karmada-sandbox up --dir man")])

    def test_values_behind_an_equals_sign(self):
        self.assertEqual(self.bash("karmada-lens plan --output=j"), ["json"])
        self.assertEqual(self.bash("karmada-interpret test --junit=wid"), ["widget.yaml"])
        self.assertEqual(self.fish("karmada-lens plan --output=j"), ["--output=json"])
        self.assertEqual(self.fish("karmada-interpret test --junit=wid"), ["--junit=widget.yaml"])

    def completed(self, words, setup, line):
        """The arguments that a shell gives to the program, after `line` with its tabulators was typed at a terminal."""
        shell = Terminal(words, dict(self.environment, PS1=PROMPT), self.folder)
        self.addCleanup(shell.close)
        shell.type(f"{setup}; PS1='{PROMPT}'; {line.split(' ')[0]}() {{ printf 'RAN'; printf ' <%s>' \"$@\"; echo; }}; echo SET UP\n")
        shell.read_until(r"(?s)\nSET UP.*" + PROMPT)
        for part in re.split("(\t)", line):
            shell.type(part)
            time.sleep(0.5)  # A shell may take what comes at once for pasted text.
        shell.type("\n")
        return re.search(r"(?m)^RAN (.*>)", shell.read_until(r"\nRAN.*\n")).group(1)

    def bash_terminal(self, line):
        # As bash-completion loads it for a command that it has not seen.
        return self.completed(["bash", "--norc", "--noprofile"], ". /usr/share/bash-completion/bash_completion", line)

    def zsh_terminal(self, line):
        return self.completed(["zsh", "-f", "-i"], f"fpath=({self.share}/zsh/vendor-completions $fpath); "
                              "autoload -Uz compinit; compinit -u -D", line)

    def test_at_a_terminal(self):
        for terminal in (self.bash_terminal, self.zsh_terminal):
            with self.subTest(terminal.__name__):
                self.assertEqual(terminal("karmada-lens pl\tlong --outp\tj\t --base wid\t"),
                                 "<plan> <long> <--output> <json> <--base> <widget.yaml>")

    def test_at_a_terminal_a_name_with_a_space_is_one_word(self):
        for terminal in (self.bash_terminal, self.zsh_terminal):
            with self.subTest(terminal.__name__):
                self.assertEqual(terminal("karmada-interpret check tw\t"), "<check> <two words.yaml>")


class PluginTest(unittest.TestCase):
    """What kubectl (from 1.26 on) calls to complete a plugin, and how it reads the answer."""

    def test_kubectl_asks_a_program_beside_the_plugin(self):
        place = places.scratch("completion") / "plugins"
        shutil.rmtree(place, ignore_errors=True)
        environment = {"PATH": f"{place}/usr/bin:/usr/bin:/bin"}
        for name in places.PLUGINS:
            (package,) = places.PACKAGES.glob(f"{name}_*.deb")
            places.run("dpkg-deb", "--extract", package, place)
            asked = place / "usr" / "bin" / f"kubectl_complete-karmada_{name.removeprefix('karmada-')}"
            lines = places.run(asked, "completion", "b", env=environment).stdout.splitlines()
            self.assertEqual(lines, ["bash\tPrint the script for bash", ":4"])
            lines = places.run(asked, "--vers", env=environment).stdout.splitlines()
            self.assertEqual([line.split("\t")[0] for line in lines], ["--version", ":4"])


if __name__ == "__main__":
    unittest.main()
