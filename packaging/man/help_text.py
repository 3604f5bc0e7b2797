"""Reads what a program prints for --help, which is the only description of its commands and flags."""
import re
import subprocess
from dataclasses import dataclass, field

COMMANDS = "Subcommands"
# What a program says at the end of its help; every other heading is that of a list.
LAST_HEADINGS = ("Examples", "Exit codes")
ENTRY = re.compile(r"  (\S.*)")
DESCRIPTION_COLUMN = 30


@dataclass
class Help:
    """The help of a program or of one of its commands."""

    command: tuple  # The words behind the program's name.
    description: str = ""
    usage: str = ""
    lists: dict = field(default_factory=dict)  # "Positionals", "Options", ... -> [(term, description)].
    # What stands behind the lists: (heading or "", lines), such as "Examples" and "Exit codes".
    rest: list = field(default_factory=list)


def parse(command, text):
    """`text` without colours, as --help prints it."""
    shown = Help(command)
    lines = text.rstrip("\n").split("\n")
    at = 0
    while at < len(lines) and not lines[at].startswith("Usage: "):
        at += 1
    shown.description = " ".join(line.strip() for line in lines[:at])
    if at == len(lines):
        raise ValueError(f"the help of {' '.join(command) or 'the program'} has no line of usage")
    shown.usage = lines[at].removeprefix("Usage: ")
    at += 1
    while at < len(lines):
        if not lines[at]:
            at += 1
            continue
        name = lines[at].removesuffix(":")
        if name == lines[at] or name in LAST_HEADINGS:
            break
        end = at + 1
        while end < len(lines) and (lines[end].startswith("  ")):
            end += 1
        shown.lists[name] = list(entries(lines[at + 1:end]))
        at = end
    shown.rest = sections(lines[at:])
    return shown


def commands_of(shown):
    return [name for name, _ in shown.lists.get(COMMANDS, ())]


def entries(lines):
    """(term, description) of the two columns; a long term has its description in the next line. Descriptions may have
    several lines."""
    found = []
    for line, following in zip(lines, [*lines[1:], ""]):
        if not ENTRY.fullmatch(line) or line.startswith("   "):
            found[-1][1].append(line.strip())
            continue
        term, begin = split_columns(line[2:], following.startswith(" " * DESCRIPTION_COLUMN))
        found.append((term, [begin] if begin else []))
    return [(term, "\n".join(words)) for term, words in found]


def split_columns(line, goes_on):
    """`goes_on`: the next line belongs to this entry. A term that reaches into the second column may have a space
    where that begins; a term that ends there has two before its description, but for one length."""
    width = DESCRIPTION_COLUMN - 2
    padded = len(line) > width and line[width - 1] == " "
    if padded and not (goes_on and line[width - 2] != " "):
        return line[:width].strip(), line[width:].strip()
    return line.strip(), ""


def sections(lines):
    """Splits at lines such as "Exit codes:"."""
    found = [["", []]]
    for line in lines:
        if re.fullmatch(r"[A-Z][a-z ]+:", line):
            found.append([line[:-1], []])
        else:
            found[-1][1].append(line)
    cut = [(heading, strip_empty(body)) for heading, body in found]
    return [(heading, body) for heading, body in cut if body]


def strip_empty(lines):
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def read(program, command=()):
    done = subprocess.run([program, *command, "--help"], check=True, capture_output=True, text=True)
    return parse(command, done.stdout)


def read_all(program, command=()):
    """The help of the program, then that of each command and of those below it."""
    shown = read(program, command)
    found = [shown]
    for name in commands_of(shown):
        if not command and name in ("version", "help"):
            continue
        found.extend(read_all(program, (*command, name)))
    return found
