"""Rules of documents, for lint_tree.py: links that lead somewhere, cells that can be read, pictures that can be heard.

Each check takes {path: text} of all documents and pictures, and the paths of all files; it yields (path, line, rule)."""

import os
import re

MAX_CELL_COLUMNS = 420  # Of a cell of a table. What is longer is an example, or a paragraph below the table.

_FENCED = re.compile(r"^( *)(```|~~~).*?^ *\2 *$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def without_fences(text):
    """The text with what is fenced blanked; line numbers stay."""
    return _FENCED.sub(lambda found: "\n" * found.group(0).count("\n"), text)


def anchors(text):
    """What can stand behind a # in a link to the document."""
    found, seen = set(), {}
    for heading in re.findall(r"^#+ +(.*?)\s*$", without_fences(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = seen[anchor] = seen.get(anchor, -1) + 1
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


def links(path, text):
    """(line, is a picture, its text, path of its target, anchor) of each link to a file of the tree."""
    for number, line in enumerate(without_fences(text).split("\n"), 1):
        for mark, words, target in _LINK.findall(line):
            if not re.match(r"[a-z]+:", target):
                file, _, anchor = target.partition("#")
                yield number, bool(mark), words, os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path, anchor


def check_links(texts, files):
    folders = {"/".join(file.split("/")[:n]) for file in files for n in range(1, file.count("/") + 1)}
    for path, text in texts.items():
        for line, _, _, target, anchor in links(path, text) if path.endswith(".md") else ():
            if target not in files and target not in folders:
                yield path, line, f"leads to {target}, which is not there"
            elif anchor and target in texts and target.endswith(".md") and anchor not in anchors(texts[target]):
                yield path, line, f"leads to #{anchor} of {target}, which has no such heading"


def check_cells(texts, _):
    for path, text in texts.items():
        for number, line in enumerate(without_fences(text).split("\n") if path.endswith(".md") else (), 1):
            if line.startswith("|"):
                widest = max(len(cell.strip()) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")))
                if widest > MAX_CELL_COLUMNS:
                    yield path, number, f"a cell of {widest} columns, the limit is {MAX_CELL_COLUMNS}"


def check_pictures(texts, _):
    """A picture has a title and a description, for who hears it, and a text in its place where it is shown."""
    shown = set()
    for path, text in texts.items():
        for line, is_picture, words, target, _ in links(path, text) if path.endswith(".md") else ():
            if is_picture:
                shown.add(target)
                if not words.strip():
                    yield path, line, f"{target} is shown without a text in its place"
    for path in sorted(shown & set(texts)):
        for part in ("title", "desc"):
            if not re.search(rf"<{part}\b[^>]*>[^<]", texts[path]):
                yield path, 1, f"a picture without <{part}>"


CHECKS = (check_links, check_cells, check_pictures)
