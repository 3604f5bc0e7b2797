"""What selects pods, and which pods it selects, as Kubernetes reads it."""


def pods(objects):
    """[(whose, labels)] of the pods that workloads make."""
    return [(name(each), each["spec"]["template"]["metadata"].get("labels") or {}) for each in objects if _has_pods(each)]


def selectors(objects):
    """[(whose, selector)] of everything that selects pods: of Services, workloads, budgets, network policies, monitors and
    affinities. A selector has matchLabels and matchExpressions."""
    found = []
    for each in objects:
        selector = each.get("spec", {}).get("selector") or each.get("spec", {}).get("podSelector")
        if selector:
            found.append((name(each), {"matchLabels": selector} if each["kind"] == "Service" else selector))
        if _has_pods(each):
            found += [(f"the affinity of {name(each)}", term)
                      for term in _label_selectors(each["spec"]["template"].get("spec", {}).get("affinity", {}))]
    return found


def selects(selector, labels):
    return (all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
            and all(_holds(each, labels) for each in selector.get("matchExpressions", [])))


def name(each):
    return f"{each['kind']} {each['metadata']['name']}"


def _has_pods(each):
    return "template" in each.get("spec", {})


def _holds(expression, labels):
    key, operator = expression["key"], expression["operator"]
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) == (operator == "Exists")
    among = labels.get(key) in expression["values"]
    return among if operator == "In" else not among


def _label_selectors(value):
    """Those at any depth."""
    if isinstance(value, dict):
        for key, below in value.items():
            if key == "labelSelector":
                yield below
            else:
                yield from _label_selectors(below)
    elif isinstance(value, list):
        for below in value:
            yield from _label_selectors(below)
