#!/usr/bin/env python3
"""Checks the rules of docs/development.md that a compiler does not: who may include whom, which folder
is the door of which library, sizes, names and literals.

    lint_tree.py [ROOT]     prints one line per breach; exit 1 if there is any
"""

import os
import pathlib
import re
import sys
from dataclasses import dataclass

import document_rules

# ---- The rules, as tables -------------------------------------------------------------------------

LAYERS = pathlib.Path(__file__).parents[2] / "cmake" / "layers.txt"


def parse_layers(text):
    """{folder: (folders it stands on, libraries whose headers it includes)} of cmake/layers.txt."""
    parsed = {}
    for line in text.splitlines():
        if re.match("[a-z]", line):
            folder, rest = line.split(":", 1)
            folders, _, libraries = rest.partition("|")
            parsed[folder] = (folders.split(), libraries.split())
    return parsed


def read_layers(text):
    """{folder: the other folders it may include}, from the lines of cmake/layers.txt."""
    direct = {folder: folders for folder, (folders, _) in parse_layers(text).items()}
    allowed = {}
    for folder, below in direct.items():
        names = {name for name in below if not name.startswith("-")}
        unknown = names - set(allowed)
        if unknown:
            raise ValueError(f"layers.txt: {folder} stands on {', '.join(sorted(unknown))}, "
                             "which no line above it declares")
        above = set().union(names, *(allowed[name] for name in names))
        allowed[folder] = above - {name[1:] for name in below if name.startswith("-")}
    return allowed


# Folder -> the other folders it may include. A folder always includes itself.
MAY_INCLUDE = read_layers(LAYERS.read_text()) | {
    "cmd": None,  # Anything but tests.
    # Servers that users write: they know the messages, not our code for them. (config: the command line.)
    "examples": {"base", "kube/meta", "config"},
    "tests": None,  # Anything.
}
# Folders whose sub-folders do not know one another either.
SPLIT_FOLDERS = {"controllers", "cmd", "examples"}

# A library as cmake/layers.txt calls it -> how its headers are named, how docs/development.md calls it.
# Abseil has no door.
LIBRARIES = {
    "rapidjson": (r"rapidjson/", "RapidJSON"),
    "glog": (r"glog/|gflags/", "glog"),
    "boost": (r"boost/", "Boost.Beast"),
    "prometheus": (r"prometheus/", "prometheus-cpp"),
    "yaml": (r"yaml-cpp/", "yaml-cpp"),
    "re2": (r"re2/", "RE2"),
    "openssl": (r"openssl/", "OpenSSL"),
    "zlib": (r"zlib\.h", "zlib"),
    "cpprest": (r"cpprest/|pplx/", "cpprestsdk"),
    "luajit": (r"lua\.h|lauxlib\.h|lualib\.h|luajit\.h|lua\.hpp", "LuaJIT"),
    "cli11": (r"CLI/", "CLI11"),
    "gperftools": (r"gperftools/|google/(?:profiler|malloc)", "gperftools"),
    "catch2": (r"catch2/", "Catch2"),
}
# Doors of folders that cmake/layers.txt does not name.
OTHER_DOORS = {"cli11": {"cmd", "examples"}, "catch2": {"tests"}}
# Tests may reach behind these doors to make what they test against (certificates, raw sockets, LuaJIT's own
# string library, compressed answers, a command line).
TESTS_MAY_OPEN = {"openssl", "zlib", "boost", "cpprest", "luajit", "cli11"}


def read_doors(text):
    """{library: the folders that may include its headers}."""
    doors = {library: set(OTHER_DOORS.get(library, ())) for library in LIBRARIES}
    for folder, (_, libraries) in parse_layers(text).items():
        for library in set(libraries) - {"absl"}:
            if library not in doors:
                raise ValueError(f"layers.txt: lint_tree.py does not know the headers of {library}")
            doors[library].add(folder)
    return doors


DOORS = read_doors(LAYERS.read_text())

# Lines of code: what is neither blank nor comment nor #include, nor inside a raw string, which holds data.
MAX_CODE_LINES = 350
MAX_TEST_CODE_LINES = 520
MAX_LINES_WITHOUT_OPENING = 120
RAW_STRING = re.compile(r'R"([^()\s]*)\(.*?\)\1"', re.DOTALL)
MAX_COLUMNS = 100  # Of sources; tests hold long manifests in raw strings.

MAX_PROSE_COLUMNS = 150  # Of documents; neither tables, headings, code, HTML nor what has no blank to break at.

# Folders where a label, annotation or group name may be spelled out.
DOMAIN_LITERAL_FOLDERS = {"api", "tests"}
# config/ may not include api/; a test compares its table of kinds with the groups there.
DOMAIN_LITERAL_FILES = {"config/support.cc"}
DOMAIN_LITERAL = re.compile(r'"[^"\s]*karmada\.io(?:/[^"\s]*)?"')  # Prose that mentions one is fine.

REFUSED_WORDS = ("Manager", "Helper", "Util", "Common", "Misc")
# The one class that runs all loops has the name everybody knows it by.
ALLOWED_NAMES = {"Manager", "ManagerOptions"}

# Folders without a README.md of their own: what is in them is described one level up.
NO_README = {"internal", "data", "build", "__pycache__"}

# ---- Reading the tree -----------------------------------------------------------------------------

SOURCE_FOLDERS = sorted(MAY_INCLUDE, key=len, reverse=True)
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# A thread that begins here: by a constructor, of an object with or without a name, or in a member or a list of threads.
THREAD_START = re.compile(r"std::(?:thread|jthread)\s*(?:\w+\s*)?[({](?!\s*[)}])|std::async\b|\bpthread_create\b"
                          r"|\bthreads?_?\s*(?:\.emplace_back\s*\(|[({])\s*(?:\[|&)")
PROCESS_START = re.compile(r"\b(?:v?fork|posix_spawnp?|popen)\s*\(")
TYPE_NAME = re.compile(r"^\s*(?:template\s*<[^;{]*>\s*)?(?:class|struct|enum class)\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Breach:
    """One broken rule at one place."""

    path: str
    line: int
    rule: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}"


def folder_of(path):
    """The folder of the table that a file, or an included path, belongs to; None if to none."""
    for folder in SOURCE_FOLDERS:
        if path.startswith(folder + "/"):
            return folder
    return None


def part_of(path):
    """The folder below a split folder: 'execution' for controllers/execution/x.h; '' if directly in it."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def without_comments(text):
    """The text with comments blanked and strings kept; line numbers stay."""
    def blank(match):
        found = match.group(0)
        return found if found[0] == '"' else re.sub(r"[^\n]", " ", found)
    return re.sub(STRING.pattern + "|" + COMMENT.pattern, blank, text, flags=re.DOTALL)


# ---- The checks: each takes (path, text) and yields breaches ------------------------------------------


def check_includes(path, text):
    me = folder_of(path)
    for match in INCLUDE.finditer(text):
        line = line_of(text, match.start())
        included = match.group(2)
        other = folder_of(included) if match.group(1) == '"' else None
        if other is not None:
            yield from check_edge(path, line, me, other, included)
        else:
            yield from check_door(path, line, me, included)


def check_edge(path, line, me, other, included):
    if me == other:
        if me in SPLIT_FOLDERS and part_of(included) not in ("", part_of(path)):
            yield Breach(path, line, f"{me}/{part_of(path)} must not include {included}")
    elif other == "tests" and me != "tests":
        yield Breach(path, line, f"{me} must not include {included}: tests are included by tests only")
    elif MAY_INCLUDE[me] is not None and other not in MAY_INCLUDE[me]:
        allowed = ", ".join(sorted(MAY_INCLUDE[me])) or "none of ours"
        yield Breach(path, line, f"{me} must not include {included} (it may include: {allowed})")
    if "/internal/" in included and me != other and me != "tests":
        yield Breach(path, line, f"{included} is internal to {other}")


def check_door(path, line, me, included):
    for library, folders in DOORS.items():
        if not re.match(LIBRARIES[library][0], included) or me in folders:
            continue
        if me == "tests" and library in TESTS_MAY_OPEN:
            continue
        yield Breach(path, line, f"<{included}> belongs behind its door: {', '.join(sorted(folders))}")


def code_lines(text):
    """How many lines of code the text has, as the limits count them."""
    lines = (line.strip() for line in RAW_STRING.sub("", text).split("\n"))
    return sum(1 for line in lines if line and not line.startswith(("//", "#include")))


def check_size(path, text):
    is_test = folder_of(path) == "tests"
    limit = MAX_TEST_CODE_LINES if is_test else MAX_CODE_LINES
    lines = text.split("\n")
    count = code_lines(text)
    if count > limit:
        yield Breach(path, len(lines) - 1, f"{count} lines of code, the limit is {limit}")
    for number, line in enumerate([] if is_test else lines, 1):
        if len(line) > MAX_COLUMNS and not line.lstrip().startswith("#include"):
            yield Breach(path, number, f"{len(line)} columns, the limit is {MAX_COLUMNS}")


def check_guard(path, text):
    if not path.endswith(".h"):
        return
    guard = re.sub(r"[/.\-]", "_", path).upper() + "_"
    if f"#ifndef {guard}\n#define {guard}\n" not in text or f"#endif  // {guard}" not in text:
        yield Breach(path, 1, f"the include guard should be {guard}, closed by '#endif  // {guard}'")


def check_literals(path, text):
    if folder_of(path) in DOMAIN_LITERAL_FOLDERS or path in DOMAIN_LITERAL_FILES:
        return
    code = without_comments(text)
    for match in DOMAIN_LITERAL.finditer(code):
        yield Breach(path, line_of(code, match.start()),
                     f"{match.group(0)} is spelled out: use or add a constant in api/")


def check_todo(path, text):
    for match in re.finditer(r"\b(TODO|FIXME|XXX)\b(?!\(#?\d+\))", text):
        yield Breach(path, line_of(text, match.start()), f"{match.group(1)} without a number: TODO(123)")


def check_names(path, text):
    if folder_of(path) == "tests":
        return  # A fixture is named after what it is a fixture of.
    for match in TYPE_NAME.finditer(without_comments(text)):
        name = match.group(1)
        word = next((w for w in REFUSED_WORDS if w in name), None)
        if word and name not in ALLOWED_NAMES:
            yield Breach(path, line_of(text, match.start(1)), f"{name}: '{word}' says nothing, name what it is")


def check_header_comment(path, text):
    if path.endswith(".h") and not text.startswith("//"):
        yield Breach(path, 1, "a header opens with a comment: what it is for and how it is used")


def check_opening(path, text):
    if path.endswith(".cc") and not path.startswith("tests/") and not text.startswith("//") and \
            text.count("\n") > MAX_LINES_WITHOUT_OPENING:
        yield Breach(path, 1, f"a source of more than {MAX_LINES_WITHOUT_OPENING} lines opens with a comment: what it does, in which "
                              "order, and what may be lost")


def check_threads(path, text):
    if path.startswith(("tests/", "base/threads.")):
        return
    for match in THREAD_START.finditer(without_comments(text)):
        yield Breach(path, line_of(text, match.start()),
                     "base/threads.h starts threads: it says what is missing when the system has none left")


def check_processes(path, text):
    if path.startswith(("tests/", "base/child_program.")):
        return
    for match in PROCESS_START.finditer(without_comments(text)):
        yield Breach(path, line_of(text, match.start()),
                     "base/child_program.h starts programs: they get no descriptor and no blocked signal of ours")


FILE_CHECKS = (check_includes, check_size, check_guard, check_literals, check_todo, check_names,
               check_header_comment, check_opening, check_threads, check_processes)


def lint_file(path, text):
    for check in FILE_CHECKS:
        yield from check(path, text)


def source_files(root):
    for folder in sorted({f.split("/")[0] for f in MAY_INCLUDE}):
        for suffix in ("*.h", "*.cc"):
            yield from sorted((root / folder).rglob(suffix))


def folders_with_sources(root):
    folders = {f.parent for f in source_files(root)}
    for name in ("scripts", "cmake", "docs", "packaging", "tests/e2e", "tests/bench", "tests/lint",
                 "tests/packaging"):
        if any(f.is_file() for f in (root / name).rglob("*")):
            folders.add(root / name)
    return sorted(folders)


def readme_breaches(root):
    """A folder is described by its own README.md; below tests/ and internal/ by a parent's."""
    for folder in folders_with_sources(root):
        relative = folder.relative_to(root)
        if NO_README & set(relative.parts) or (folder / "README.md").is_file():
            continue
        inherits = relative.parts[0] == "tests" or len(relative.parts) > 1
        if inherits and any((root / p / "README.md").is_file() for p in relative.parents if p.parts):
            continue
        yield Breach(str(relative), 0, "has no README.md (purpose, main types, tests)")


# Of other repositories and of APIs, although they begin like folders of the tree.
NOT_PATHS = {"charts/karmada", "search/api", "search/apis"}


def files_below(root):
    files = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in ("build", "__pycache__") and not f.startswith(".")]
        files += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return files


def named_path_breaches(root):
    """What a document names as a path of the tree is there: a file, also without its ending, or a folder."""
    return list(path_breaches(files_below(root), lambda path: (root / path).read_text()))


def path_breaches(files, text_of):
    there = set(files)
    there |= {path.rsplit(".", 1)[0] for path in files}
    there |= {"/".join(path.split("/")[:n]) for path in files for n in range(1, path.count("/") + 1)}
    tops = {path.split("/")[0] for path in files if "/" in path}
    for document in sorted(files):
        if not document.endswith(".md") or document == "CHANGELOG.md":
            continue
        for number, line in enumerate(text_of(document).split("\n"), 1):
            for name in re.findall(r"`([a-z_]+/[A-Za-z0-9_./-]*)`", line):
                path = name.rstrip("/")
                beside = os.path.normpath(os.path.join(os.path.dirname(document), path))
                placeholder = any(part.split(".")[0].isupper() for part in path.split("/"))
                if path.split("/")[0] in tops and not placeholder and not {path, beside} & there and path not in NOT_PATHS:
                    yield Breach(document, number, f"names {name}, which is not there")


LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
NO_PROSE = re.compile(r"\s*(?:\||#|<|\[[^\]]*\]:)")  # A row of a table, a heading, HTML, the target of a link.


def prose_lines(text):
    """(number, line) of each line of a document that belongs to a paragraph or to an item of a list."""
    fence, code, in_list, before = "", False, False, ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(```|~~~)", line)
        if mark and fence in ("", mark.group(1)):
            fence = "" if fence else mark.group(1)
        elif not fence and line.strip():
            if not line.startswith(" "):
                in_list = bool(LIST_ITEM.match(line)) or (in_list and bool(before))
            in_list = in_list or bool(LIST_ITEM.match(line))
            code = line.startswith("    ") and not in_list and (code or not before)
            if not code and not NO_PROSE.match(line):
                yield number, line
        before = line.strip()


def width_breaches(root):
    """The prose of documents is wrapped."""
    for path in sorted(file for file in files_below(root) if file.endswith(".md")):
        for number, line in prose_lines((root / path).read_text()):
            beyond_marker = LIST_ITEM.sub("", line, count=1).strip()
            if len(line) > MAX_PROSE_COLUMNS and " " in beyond_marker:
                yield Breach(path, number, f"{len(line)} columns of prose, the limit is {MAX_PROSE_COLUMNS}")


def document_breaches(root):
    files = set(files_below(root))
    texts = {file: (root / file).read_text() for file in sorted(files) if file.endswith((".md", ".svg"))}
    return [Breach(*found) for check in document_rules.CHECKS for found in check(texts, files)]


def table_breaches(root):
    """docs/development.md has a row for each folder of the layers, and for no other, with its doors."""
    table = root / "docs" / "development.md"
    if not table.is_file():
        return
    rows = re.findall(r"^\| (`[^|]*`) \|", table.read_text(), re.MULTILINE)
    named = {name.rstrip("/*") for row in rows for name in folders_in(row)}
    for folder in sorted(set(MAY_INCLUDE) - named):
        yield Breach("docs/development.md", 0, f"the table of folders lacks {folder}/")
    for folder in sorted(named - set(MAY_INCLUDE)):
        yield Breach("docs/development.md", 0, f"{folder}/ is in the table but not in cmake/layers.txt")
    yield from door_breaches(table.read_text())


def folders_in(cell):
    return re.findall(r"`([a-z/-]+/\*?)`", cell)


def door_breaches(text):
    """The last column of that table: the libraries whose door the folder is."""
    for names, door in re.findall(r"^\| (`[^|]*`) \|[^|]*\|([^|]*)\|$", text, re.MULTILINE):
        for folder in (name.rstrip("/*") for name in folders_in(names)):
            for library, (_, shown) in LIBRARIES.items():
                if (folder in DOORS[library]) != (shown in door):
                    yield Breach("docs/development.md", 0,
                                 f"{folder}/ is{' not' if shown in door else ''} the door of {shown}")


def include_list_breaches(root):
    """READMEs do not repeat what cmake/layers.txt says."""
    for folder in folders_with_sources(root):
        readme = folder / "README.md"
        if readme.is_file() and re.search(r"\bMay include\b", readme.read_text()):
            yield Breach(str(readme.relative_to(root)), 0,
                         "says what the folder may include: cmake/layers.txt does, nothing else")


def owner_of(path):
    """The folder whose headers may be internal: that of the table, or the sub-folder of a split one."""
    folder = folder_of(path)
    return f"{folder}/{part_of(path)}" if folder in SPLIT_FOLDERS else folder


# By which a folder is entered that no other folder stands on yet.
ENTRY_HEADERS = {"search/cache/multi_cluster_cache.h"}


def internal_breaches(files):
    """`files`: {path: text}. In a folder with internal/, a header outside of it is included by another
    folder, or by a public header of its own."""
    with_internal = {owner_of(path) for path in files if "/internal/" in path}
    needed = set(ENTRY_HEADERS)
    for path, text in files.items():
        public_header = path.endswith(".h") and "/internal/" not in path
        for _, included in INCLUDE.findall(text):
            outside = folder_of(path) != "tests" and owner_of(path) != owner_of(included)
            if outside or (public_header and folder_of(path) != "tests"):
                needed.add(included)
    for path in sorted(files):
        if not path.endswith(".h") or "/internal/" in path or path in needed:
            continue
        if owner_of(path) in with_internal:
            yield Breach(path, 1, f"only {owner_of(path)} includes it: it belongs in internal/")


def lint_tree(root):
    """All breaches of the tree below root."""
    files = {str(file.relative_to(root)): file.read_text() for file in source_files(root)}
    breaches = [breach for path, text in files.items() for breach in lint_file(path, text)]
    for check in (readme_breaches, include_list_breaches, table_breaches, named_path_breaches, width_breaches,
                  document_breaches):
        breaches += check(root)
    return breaches + list(internal_breaches(files))


def main(argv):
    root = pathlib.Path(argv[1] if len(argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    files = sum(1 for _ in source_files(root))
    breaches = lint_tree(root)
    for breach in breaches:
        print(breach)
    print(f"lint: {files} files, {len(breaches)} breaches")
    return 1 if breaches or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
