#!/usr/bin/env python3
"""Writes the manual page of a program from its --help and from a text written by hand.

    pages.py --program build/release/bin/karmada-lens --output build/man

The text is packaging/man/NAME.md: `# ` one line for apropos, then `## ` sections. Paragraphs, lines indented by
four as they are, and `code` are all that it may use. Commands, flags, examples and exit codes come from --help
and are never written by hand, so that they cannot go stale.
"""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# pylint: disable=wrong-import-position
import help_text

SOURCE = os.path.dirname(os.path.dirname(HERE))
# Programs that run for ever belong to section 8.
SECTIONS = {"karmada-agent": 8, "karmada-controller-manager": 8, "karmada-search": 8}


def escaped(text):
    """Text as roff prints it: a dash stays one that can be copied to a shell."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return text.replace("^", "\\(ha").replace("~", "\\(ti").replace('"', "\\(dq")


def line_of(text):
    """A line of running text; roff takes a dot at its beginning for a request."""
    text = escaped(text)
    return "\\&" + text if text.startswith(".") else text


def as_is(lines):
    return [".nf", *(line_of(line) for line in lines), ".fi"]


def prose(text):
    """A paragraph; what stands in backticks is bold."""
    parts = re.split(r"`([^`]*)`", " ".join(text.split()))
    shown = "".join(f"\\fB{escaped(part)}\\fR" if i % 2 else escaped(part) for i, part in enumerate(parts))
    return "\\&" + shown if shown.startswith(".") else shown


class Text:
    """The part of a page that is written by hand."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        first, _, rest = text.partition("\n")
        if not first.startswith("# "):
            raise ValueError(f"{path}: the first line is not '# NAME - what it is'")
        self.summary = first[2:].split(" - ", 1)[1]
        pieces = re.split(r"^## (.*)\n", rest, flags=re.MULTILINE)
        self.sections = dict(zip(pieces[1::2], pieces[2::2]))

    def roff(self, name):
        lines = []
        for paragraph in self.sections.get(name, "").strip("\n").split("\n\n"):
            if paragraph.startswith("    "):
                lines += [".PP", ".RS 4", *as_is(line[4:] for line in paragraph.split("\n")), ".RE"]
            elif paragraph:
                lines += [".PP", prose(paragraph)]
        return lines


def options(shown):
    lines = []
    for name, entries in shown.lists.items():
        if name == help_text.COMMANDS:
            continue
        if name not in ("Positionals", "Options"):
            lines += [".PP", prose(name + ":")]
        for term, description in entries:
            lines += [".TP", f"\\fB{escaped(term)}\\fR"]
            lines += "\n.br\n".join(line_of(line) for line in description.split("\n")).split("\n")
    return lines


def rest(shown):
    """What stands at the end of a command's help."""
    lines = []
    for heading, body in shown.rest:
        lines += [".PP", f".B {heading}", ".br"] if heading else [".PP"]
        lines += as_is(body)
    return lines


def last_sections(top, text):
    """Exit codes and examples of the program's help and of the text, then the text's other sections."""
    lines = []
    for heading, body in top.rest:
        if heading == "Exit codes":
            lines += [".SH EXIT STATUS", *as_is(line.removeprefix("  ") for line in body)]
    own = [body for heading, body in top.rest if heading == "Examples"]
    for heading in text.sections:
        if heading == "DESCRIPTION":
            continue
        lines.append(f".SH {heading}")
        if heading == "EXAMPLES" and own:
            lines += as_is(line.removeprefix("  ") for line in own[0])
        lines += text.roff(heading)
    return lines


def page(program, text, version):
    everything = help_text.read_all(program)
    name = os.path.basename(program)
    section = SECTIONS.get(name, 1)
    top, commands = everything[0], everything[1:]
    # A command of commands is described by these.
    commands = [c for c in commands if not help_text.commands_of(c)]
    lines = [f'.\\" Made by packaging/man/pages.py from {name} \\-\\-help and packaging/man/{name}.md.',
             f'.TH {name.upper()} {section} "" "{name} {version}"', ".nh", ".ad l",
             ".SH NAME", f"{escaped(name)} \\- {escaped(text.summary)}", ".SH SYNOPSIS"]
    usages = [c.usage for c in commands if c.command[0] != "completion"]
    for usage in usages if section == 1 else [top.usage, *usages]:
        lines += [prose(usage), ".br"]
    lines += [".SH DESCRIPTION", prose(top.description), *text.roff("DESCRIPTION"),
              ".SH OPTIONS", *options(top)]
    if commands:
        lines.append(".SH COMMANDS")
    for command in commands:
        lines += [f'.SS "{escaped(" ".join(command.command))}"', prose(command.description),
                  *options(command), *rest(command)]
    lines += last_sections(top, text)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the built program")
    parser.add_argument("--output", required=True, help="the folder to write to: NAME.1 or NAME.8")
    given = parser.parse_args()
    name = os.path.basename(given.program)
    version = subprocess.run([given.program, "--version"], check=True, capture_output=True,
                             text=True).stdout.strip()
    text = page(os.path.abspath(given.program), Text(os.path.join(HERE, name + ".md")), version)
    os.makedirs(given.output, exist_ok=True)
    place = os.path.join(given.output, f"{name}.{SECTIONS.get(name, 1)}")
    with open(place, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
