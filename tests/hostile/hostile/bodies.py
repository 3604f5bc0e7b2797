"""Bodies of writes that are long, or take much more memory than their text."""

from concurrent.futures import ThreadPoolExecutor

from .attack import attack
from .site import PROXY

_POD = PROXY + "/api/v1/namespaces/team-7/pods/web-7d4b9c6f5d-7"
_MOST = 3 << 20


def patch_request(path, content_type, body, method="PATCH"):
    """The bytes of a write; without its body when that is a number, its length."""
    length = body if isinstance(body, int) else len(body)
    head = (f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: {content_type}\r\n"
            f"content-length: {length}\r\n\r\n")
    return head.encode() + (b"" if isinstance(body, int) else body)


def _patch(content_type, body):
    return patch_request(_POD, content_type, body)


def send(attacked, request, user="reader"):
    """Returns the status, 0 if the connection was cut while the body was being sent."""
    try:
        return attacked.answer(request, user, timeout=120)[0]
    except (OSError, IndexError, ValueError):
        return 0


@attack("long bodies", sizes={"short": 12, "long": 100},
        at_most={"growth MB": 250, "bystander failed": 0}, at_most_long={"bystander slowest s": 5})
def long_bodies(attacked, count):
    """So many readers, 40 at a time, send three megabytes of nothing but brackets, as JSON, as a JSON patch and as YAML."""
    brackets = b"[[],[]" + b",[]" * ((_MOST - 100) // 3) + b"]"
    flow = b"a: " + brackets[:-200] + b"]"
    requests = [_patch("application/merge-patch+json", b'{"spec":' + brackets + b"}"),
                _patch("application/json-patch+json", brackets), _patch("application/apply-patch+yaml", flow)]
    with ThreadPoolExecutor(40) as pool:
        codes = list(pool.map(lambda n: send(attacked, requests[n % len(requests)]), range(count)))
    return {"answers by code": {code: codes.count(code) for code in sorted(set(codes))}}


@attack("bodies that do not come", sizes={"short": 34, "long": 100},
        at_most={"growth MB": 60, "bystander failed": 0, "short write refused": 0})
def absent_bodies(attacked, count):
    """So many readers announce three megabytes and send nothing of them; then one sends a short body."""
    head = _patch("application/merge-patch+json", _MOST)
    opened = []
    for _ in range(count):
        connection = attacked.connect()
        connection.sendall(head)
        opened.append(connection)
    code = send(attacked, _patch("application/merge-patch+json", b'{"metadata":{"labels":{"a":"b"}}}'))
    for connection in opened:
        connection.close()
    return {"short write refused": int(code == 429), "its code": code}


@attack("bodies that are longer than may be", sizes={"short": 10, "long": 60},
        at_most={"growth MB": 60, "other answers": 0, "bystander failed": 0})
def too_long_bodies(attacked, count):
    """So many bodies of 10 MB of a reader, and as many of 50 kB of somebody whose token means nothing."""
    nobody = _patch("application/merge-patch+json", b"{" + b" " * 50_000 + b"}")
    nobody = nobody.replace(b"host: x\r\n", b"host: x\r\nauthorization: Bearer nonsense\r\n")
    known = _patch("application/merge-patch+json", b"{" + b" " * 10_000_000 + b"}")
    codes = [send(attacked, known) for _ in range(count)]
    others = sum(code not in (413, 0) for code in codes)
    for _ in range(count):
        codes.append(send(attacked, nobody, user=None))
        others += codes[-1] not in (401, 0)
    return {"answers by code": {code: codes.count(code) for code in sorted(set(codes))}, "other answers": others}


@attack("patches that are longer than may be", sizes={"short": 6, "long": 40},
        at_most={"growth MB": 100, "other answers": 0, "bystander failed": 0})
def long_patches(attacked, count):
    """So many JSON patches of 30,000 operations, and bodies of 800 kB of YAML."""
    operation = b'{"op":"test","path":"/kind","value":"Pod"}'
    requests = [_patch("application/json-patch+json", b"[" + b",".join([operation] * 30_000) + b"]"),
                _patch("application/apply-patch+yaml", b"a:\n" + b"- b: c\n" * 115_000)]
    codes = [send(attacked, requests[number % 2]) for number in range(count)]
    return {"answers by code": {code: codes.count(code) for code in sorted(set(codes))},
            "other answers": sum(code != 400 for code in codes)}
