"""A memory limit as a container has it."""

import atexit
import contextlib
import os
import pathlib

_MEMORY = pathlib.Path("/sys/fs/cgroup/memory")


def _can_make_groups():
    return os.geteuid() == 0 and (_MEMORY / "memory.limit_in_bytes").exists() and os.access(_MEMORY, os.W_OK)


def restart_within(attacked, limit):
    """Starts the program again with this limit, beyond which the kernel ends it: that of a cgroup, whose folder is returned.
    Where none can be made, the limit is one for the data of the process, and None is returned."""
    if not _can_make_groups():
        attacked.restart(("prlimit", f"--data={limit}"))
        return None
    group = _MEMORY / f"karmada-hostile-{os.getpid()}"
    if not group.exists():
        group.mkdir()
        atexit.register(_remove, group)
    set_limit(group, limit)
    attacked.restart(("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"))
    return group


def set_limit(group, limit):
    (group / "memory.limit_in_bytes").write_text(str(limit))


def used(group):
    """How many bytes are used that the kernel cannot reclaim at once, as the program counts them."""
    stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    return int((group / "memory.usage_in_bytes").read_text()) - int(stat["total_inactive_file"])


def _remove(group):
    with contextlib.suppress(OSError):
        group.rmdir()
