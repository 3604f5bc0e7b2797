"""What upstream's programs show: flags, feature gates, controllers, metrics, events, reasons and texts.

Each function takes a Tree (and its parsed Sources) and returns facts: {name: value}, both texts. A release differs from
another one where a name has another value, or is in one of them only.
"""

import re

import go_source

PROGRAMS = {
    "karmada-controller-manager": "cmd/controller-manager",
    "karmada-search": "cmd/search",
    "karmada-agent": "cmd/agent",
}
# Whose code runs in those programs.
LOOPS = ("pkg/controllers", "pkg/detector", "pkg/dependenciesdistributor", "pkg/resourceinterpreter", "pkg/search", "pkg/util",
         "pkg/modeling", "pkg/sharedcli", "pkg/clusterdiscovery", "pkg/metrics", "pkg/events", "pkg/apis", "pkg/features",
         "cmd/controller-manager", "cmd/search", "cmd/agent")

FLAG = re.compile(r"^ {2,8}(?:-(\w), )?--([\w-]+)(?: (\S+))? {2,}(.*)$")
GATE_LINE = re.compile(r"^(\S+)=true\|false \((.*)\)$")
DEFAULT = re.compile(r"\s*\(default (.*)\)$", re.DOTALL)


def flags(tree, program):
    """{"--name": "type, default; help"} from the reference page that upstream's `hack/update-command-line-flags.sh` prints,
    and {"--feature-gates Gate": "BETA - default=true"} for the gates that the help of a flag lists."""
    found = {}
    for name, kind, lines in flag_entries(tree.read(f"docs/command-line-flags/{program}.md")):
        rest = []
        for line in lines:
            gate = GATE_LINE.match(line)
            if gate:
                found[f"{name} {gate.group(1)}"] = gate.group(2)
            else:
                rest.append(line)
        text = " ".join(rest)
        default = DEFAULT.search(text)
        found[name] = (f"{kind or 'bool'}, default {default.group(1) if default else 'none'}; "
                       f"{text[:default.start()] if default else text}")
    return found


def flag_entries(page):
    """(name, type, lines of the help) of each flag of a reference page."""
    entries = []
    for line in page.splitlines():
        match = FLAG.match(line)
        if match:
            entries.append(("--" + match.group(2), match.group(3), [match.group(4)]))
        elif entries and line.startswith(" " * 12):
            entries[-1][2].append(line.strip())
        elif line.strip() and not line.startswith(" "):
            entries.append(("", None, []))  # A heading: what follows belongs to no flag.
    return [entry for entry in entries if entry[0]]


def gates(sources, folders):
    """{gate: "Beta, on"} of the tables of feature gates below the folders; of several versions the newest counts."""
    found = {}
    for source in sources.below(*folders):
        tokens = source.tokens
        for i in range(len(tokens) - 2):
            if tokens[i + 1] != ":" or tokens[i + 2] != "{" or not re.match("[A-Z]", tokens[i]):
                continue
            inside = tokens[i + 2:go_source.closing(tokens, i + 2) + 1]
            if "PreRelease" not in inside:
                continue
            versions = go_source.arguments(inside, 0)
            spec = go_source.fields_of(versions[-1] if versions[-1][0] == "{" else inside)
            if not spec or "PreRelease" not in spec:
                continue
            stage = {"": "GA"}.get(spec["PreRelease"][-1], spec["PreRelease"][-1])
            locked = ", locked" if spec.get("LockToDefault") == ["true"] else ""
            found[gate_name(sources, source, tokens, i)] = \
                f"{stage}, {'on' if spec.get('Default') == ['true'] else 'off'}{locked}"
    return found


def gate_name(sources, source, tokens, at):
    expression = tokens[at - 2:at + 1] if tokens[at - 1] == "." else [tokens[at]]
    value = sources.value(source, expression)
    # "logsv1.ContextualLogging", which is a constant of a constant in a library that is not read.
    return value.rpartition(".")[2].strip()


def controllers(sources, folder):
    """{controller: "on" or "off"} of --controllers."""
    found, off = {}, set()
    for source in sources.below(folder):
        tokens = source.tokens
        for i in range(len(tokens) - 4):
            if tokens[i:i + 2] == ["controllers", "["] and tokens[i + 3:i + 5] == ["]", "="]:
                found[sources.value(source, [tokens[i + 2]])] = "on"
        declared = source.declared.get("controllersDisabledByDefault", [])
        if "(" in declared:
            off |= {sources.value(source, a) for a in go_source.arguments(declared, declared.index("("))}
    return {name: "off" if name in off else state for name, state in found.items()}


METRIC = r"New(Counter|Gauge|Histogram|Summary)(Vec|Func)?|NewTimingHistogram(Vec)?"


def metrics(sources, folders):
    """{name: "Histogram; labels: ...; buckets: ..."} of the Prometheus metrics below the folders."""
    found = {}
    for source, function, at in sources.calls(METRIC, sources.below(*folders)):
        given = go_source.arguments(source.tokens, at)
        options = go_source.fields_of(given[0]) if given else None
        if not options or "Name" not in options:
            continue
        name = "_".join(sources.value(source, options[part]) for part in ("Namespace", "Subsystem", "Name")
                        if part in options and sources.value(source, options[part]) not in ("", '""'))
        labels = []
        if "ConstLabels" in options:
            labels += [sources.value(source, [key]) for key in go_source.fields_of(options["ConstLabels"]) or {}]
        if len(given) > 1 and given[-1][:4] == ["[", "]", "string", "{"]:
            labels += [sources.value(source, a) for a in go_source.arguments(given[-1], given[-1].index("{"))]
        text = f"{re.sub('^New|Vec$|Func$', '', function)}; labels: {', '.join(labels) or 'none'}"
        if "Buckets" in options:
            text += f"; buckets: {''.join(t for t in options['Buckets'] if t != chr(10))}"
        found[name] = text
    return found


def metric_calls(sources):
    """{"function in folder": arguments} of the calls by which the loops count; a label's value may be among them."""
    functions = {name for source in sources.below("pkg/metrics") for name in source.declared if re.match("[A-Z]", name)}
    found = {}
    for source, function, at in sources.calls(r"[A-Z]\w+", sources.below(*LOOPS)):
        if function in functions and source.tokens[at - 2:at - 1] == ["."] and source.tokens[at - 3] == "metrics":
            written = ", ".join("".join(a) for a in go_source.arguments(source.tokens, at))
            found.setdefault(f"{function} in {source.folder}", set()).add(f"({written})")
    return {name: " ".join(sorted(calls)) for name, calls in found.items()}


def event_sources(sources):
    """{"program: component": ""} of the event recorders."""
    found = {}
    for source, _, at in sources.calls("GetEventRecorder(For)?", sources.below("cmd", *LOOPS)):
        given = go_source.arguments(source.tokens, at)
        if given:
            found[f"{source.folder.removesuffix('/app')}: {sources.value(source, given[0])}"] = "writes events"
    for source in sources.below("cmd", *LOOPS):
        tokens = source.tokens
        for i in range(len(tokens) - 1):
            if tokens[i] == "EventSource" and tokens[i + 1] == "{":
                component = (go_source.fields_of(tokens[i:go_source.closing(tokens, i + 1) + 1]) or {}).get("Component")
                if component:
                    found[f"{source.folder.removesuffix('/app')}: {sources.value(source, component)}"] = "writes events"
    return found


def event_reasons(sources):
    """{reason: folders that record it} of pkg/events."""
    found = {}
    for source in sources.below("pkg/events"):
        for name in source.constants:
            found[sources.constant(source.folder, name)] = set()
    for source in sources.below("cmd", *LOOPS):
        alias = next((a for a, path in source.imports.items() if path.endswith("karmada/pkg/events")), None)
        tokens = source.tokens
        for i in range(len(tokens) - 2):
            if tokens[i] == alias and tokens[i + 1] == ".":
                value = sources.value(source, tokens[i:i + 3])
                if value in found:
                    found[value].add(source.folder)
    return {reason: ", ".join(sorted(folders)) or "recorded nowhere" for reason, folders in found.items()}


LOGGED = re.compile(r"(V|Info|Infof|InfoS|Warning|Warningf|Error|ErrorS|Fatal|Fatalf|Exit|Exitf|InfoDepth)$")
REASON = re.compile(r"^[A-Z][a-z]+(?:[A-Z][a-z]*)+$")


def literals(sources):
    """({reason-like word: folders}, {message: folders}) of the literals in the loops, but for what only the log gets."""
    words, texts = {}, {}
    for source in sources.below(*LOOPS):
        tokens, skip_to = source.tokens, 0
        for i, token in enumerate(tokens):
            if i < skip_to:
                continue
            if token == "klog" and tokens[i + 1:i + 2] == ["."]:
                skip_to = end_of_log(tokens, i)
            elif token[0] in '"`':
                value = go_source.text_of(token)
                if REASON.match(value):
                    words.setdefault(value, set()).add(source.folder)
                elif " " in value.strip() and token[0] == '"':
                    texts.setdefault(value, set()).add(source.folder)
    return tuple({k: ", ".join(sorted(v)) for k, v in found.items()} for found in (words, texts))


def end_of_log(tokens, at):
    """The end of klog.V(4).Infof(...)."""
    i = at + 1
    while i + 1 < len(tokens) and tokens[i] == "." and re.match(r"\w", tokens[i + 1]):
        i += 2
        if i < len(tokens) and tokens[i] == "(":
            logs = LOGGED.match(tokens[i - 1]) and tokens[i - 1] != "V"
            i = go_source.closing(tokens, i) + 1
            if logs:
                break
    return i


OPERATIONS = re.compile(r"getAllDefault(\w+?)Interpreter$")


def native_rules(sources):
    """{"Retain apps/v1 Deployment": handler} of the rules for Kubernetes' own kinds."""
    found = {}
    for source in sources.below("pkg/resourceinterpreter/default/native"):
        for function, tokens in source.declared.items():
            operation = OPERATIONS.match(function)
            for i in range(len(tokens) - 9 if operation else 0):
                # s[appsv1.SchemeGroupVersion.WithKind(util.DeploymentKind)] = handler
                if tokens[i + 1] == "." and tokens[i + 2:i + 5] == ["SchemeGroupVersion", ".", "WithKind"]:
                    kind = sources.value(source, go_source.arguments(tokens, i + 5)[0]).rpartition(".")[2].removesuffix("Kind")
                    group = "/".join(source.imports.get(tokens[i], tokens[i]).split("/")[-2:])
                    end = go_source.closing(tokens, i + 5) + 3
                    handler = tokens[end:end + 3] if tokens[end + 1:end + 2] == ["."] else tokens[end:end + 1]
                    found[f"{operation.group(1)} {group} {kind}"] = "".join(handler)
    return found


def constants(sources, folders):
    """{"folder.Name": value} of the constants below the folders."""
    return {f"{source.folder}.{name}": sources.value(source, value)
            for source in sources.below(*folders) for name, value in source.constants.items()}
