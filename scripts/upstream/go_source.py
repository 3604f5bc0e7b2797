"""Reads Go sources as far as compare-upstream needs them: constants, declarations, structs, calls and literals.

It knows the tokens and brackets of Go, and the form that gofmt gives to declarations; it does not know types. A constant's
value is followed through names, packages, conversions and "+"; what cannot be followed stands as it is written.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)
|(?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
|(?P<rune>'(?:[^'\\\n]|\\.)+')
|(?P<name>[A-Za-z_]\w*)
|(?P<number>\d[\w.]*)
|(?P<newline>\n)
|(?P<operator>:=|==|!=|<=|>=|&&|\|\||<-|\+\+|--|\.\.\.|[^\s\w])""", re.VERBOSE | re.DOTALL)
OPEN, CLOSE = set("([{"), set(")]}")
# Behind these a line goes on.
CONTINUES = {"+", ",", "(", "[", "{", "=", ":=", "&&", "||", "."}
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "r": "\r"}


def tokens_of(text):
    """The tokens without comments. A newline is a token only where it ends a statement."""
    found = []
    for match in TOKEN.finditer(text):
        if match.lastgroup == "comment":
            continue
        token = match.group()
        if token == "\n" and (not found or found[-1] in CONTINUES or found[-1] == "\n"):
            continue
        found.append(token)
    return found


def is_string(token):
    return token[0] in '"`'


def text_of(token):
    """What a string literal stands for."""
    if token[0] == "`":
        return token[1:-1]
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(0)), token[1:-1])


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i] in OPEN:
            depth += 1
        elif tokens[i] in CLOSE:
            depth -= 1
            if depth == 0:
                return i
    return len(tokens) - 1


def split(tokens, separators=(",",)):
    """The pieces between separators that no bracket encloses; empty pieces are left out."""
    pieces, depth, piece = [], 0, []
    for token in tokens:
        if token in OPEN:
            depth += 1
        elif token in CLOSE:
            depth -= 1
        if depth == 0 and token in separators:
            pieces.append(piece)
            piece = []
        else:
            piece.append(token)
    return [p for p in pieces + [piece] if [t for t in p if t != "\n"]]


def arguments(tokens, at):
    """The arguments of the call, or the elements of the literal, whose bracket is at `at`."""
    inside = tokens[at + 1:closing(tokens, at)]
    return [[t for t in piece if t != "\n"] for piece in split(inside)]


def fields_of(element):
    """{name: tokens} of the elements `Name: value` of a composite literal that stands at the end of `element`."""
    at = next((i for i, t in enumerate(element) if t == "{"), None)
    if at is None:
        return None
    return {piece[0]: piece[2:] for piece in arguments(element, at) if len(piece) > 2 and piece[1] == ":"}


@dataclass
class Source:
    """One file."""

    path: str
    tokens: list
    package: str = ""
    imports: dict = field(default_factory=dict)  # The name that the file uses -> the import path.
    constants: dict = field(default_factory=dict)  # Name -> tokens of its value.
    declared: dict = field(default_factory=dict)  # Name of a function, variable or type -> its tokens.
    folder: str = ""


def parse(path, text):
    source = Source(path, tokens_of(text), folder=path.rpartition("/")[0])
    tokens, at = source.tokens, 0
    while at < len(tokens):
        end = statement_end(tokens, at)
        word = tokens[at]
        if word == "package":
            source.package = tokens[at + 1]
        elif word == "import":
            for item in group(tokens[at + 1:end]):
                add_import(source, item)
        elif word in ("const", "var", "type"):
            for item in group(tokens[at + 1:end]):
                add_declaration(source, word, item)
        elif word == "func":
            source.declared[function_name(tokens[at:end])] = tokens[at:end]
        at = end + 1
    return source


def statement_end(tokens, at):
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i] in OPEN:
            depth += 1
        elif tokens[i] in CLOSE:
            depth -= 1
        elif tokens[i] == "\n" and depth == 0:
            return i
    return len(tokens)


def group(tokens):
    """The statements of `( ... )`, or the single one."""
    if tokens and tokens[0] == "(":
        return [[t for t in piece] for piece in split(tokens[1:closing(tokens, 0)], ("\n",))]
    return [tokens]


def add_import(source, item):
    path = text_of(item[-1])
    last = path.rpartition("/")[2]
    if re.fullmatch(r"v\d+", last):  # k8s.io/klog/v2 is used as klog.
        last = path.split("/")[-2] if path.count("/") < 3 or "k8s.io/klog" in path else last
    source.imports[item[0] if len(item) > 1 else last] = path


def add_declaration(source, word, item):
    name = item[0]
    if word == "const":
        if "=" in item:
            source.constants[name] = item[item.index("=") + 1:]
    elif re.fullmatch(r"\w+", name) and name != "_":
        source.declared[name] = item


def function_name(tokens):
    """`Name` of a function, `Receiver.Name` of a method."""
    if tokens[1] != "(":
        return tokens[1]
    end = closing(tokens, 1)
    receiver = [t for t in tokens[2:end] if re.fullmatch(r"\w+", t)]
    return f"{receiver[1 if len(receiver) > 1 else 0]}.{tokens[end + 1]}"


class Sources:
    """Files of a tree, and what their constants stand for across packages."""

    def __init__(self, files, module="", located=None):
        """files: {path: text}. `module` is the import path of the tree's root; `located` maps further import paths
        (of libraries) to folders."""
        self.files = [parse(path, text) for path, text in sorted(files.items())]
        self.module = module
        self.located = located or {}
        self.constants = {}  # (folder, name) -> (source, tokens).
        for source in self.files:
            for name, value in source.constants.items():
                self.constants[source.folder, name] = (source, value)

    def below(self, *folders):
        return [s for s in self.files if any(s.path.startswith(f + "/") for f in folders)]

    def folder_of(self, path):
        """The folder of an import path."""
        if self.module and path.startswith(self.module + "/"):
            return path[len(self.module) + 1:]
        return self.located.get(path, "vendor/" + path)

    def value(self, source, tokens, depth=0):
        """What an expression stands for; the expression itself where that cannot be told."""
        tokens = [t for t in tokens if t != "\n"]
        written = " ".join(tokens)
        if not tokens or depth > 8:
            return written
        pieces = split(tokens, ("+",))
        if len(pieces) > 1:
            return "".join(self.value(source, piece, depth + 1) for piece in pieces)
        if len(tokens) == 1 and is_string(tokens[0]):
            return text_of(tokens[0])
        if len(tokens) == 1:
            return self.constant(source.folder, tokens[0], depth) or written
        if len(tokens) == 3 and tokens[1] == "." and tokens[0] in source.imports:
            return self.constant(self.folder_of(source.imports[tokens[0]]), tokens[2], depth) or "".join(tokens)
        if tokens[-1] == ")" and all(re.fullmatch(r"[\w.]+", t) for t in tokens[:tokens.index("(")]):
            inside = arguments(tokens, tokens.index("("))
            # A conversion such as Type("x"); a call of anything else stays as it is.
            if len(inside) == 1 and closing(tokens, tokens.index("(")) == len(tokens) - 1:
                value = self.value(source, inside[0], depth + 1)
                if value != " ".join(inside[0]) or is_string(inside[0][0]):
                    return value
        return "".join(tokens)

    def constant(self, folder, name, depth=0):
        found = self.constants.get((folder, name))
        return self.value(*found, depth + 1) if found else None

    def calls(self, pattern, sources=None):
        """(source, name, index of the bracket) of each call of a function whose name matches."""
        wanted = re.compile(pattern)
        for source in self.files if sources is None else sources:
            tokens = source.tokens
            for i in range(len(tokens) - 1):
                if tokens[i + 1] == "(" and wanted.fullmatch(tokens[i]) and tokens[i - 1] != "func":
                    yield source, tokens[i], i + 1


def struct_fields(tokens):
    """{Go name: (JSON name, type, "omitempty" ...)} of a struct's declaration; None for what is no struct."""
    if len(tokens) < 3 or tokens[1] != "struct":
        return None
    fields = {}
    for item in split(tokens[3:closing(tokens, 2)], ("\n",)):
        tag = re.search(r'json:"([^"]*)"', item[-1]) if item[-1][0] == "`" else None
        if not tag:
            continue
        json_name, _, options = tag.group(1).partition(",")
        kind = "".join(item[1:-1]) or item[0]
        name = item[0] if len(item) > 2 else "".join(item[:-1])
        fields[name] = (json_name, kind, options)
    return fields
