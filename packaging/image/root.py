"""A file system in memory, written as a tar or as a folder, always with the same bytes.

Everything belongs to root, nothing has a time, and entries are sorted by path: what is the same file system is
the same tar.
"""
import io
import os
import stat
import tarfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A folder (neither data nor target), a file or a symbolic link."""

    mode: int
    data: bytes | None = None
    target: str | None = None


class Root:
    """Paths without a slash in front -> Entry. Folders above a path come by themselves."""

    def __init__(self):
        self.entries = {}

    def folder(self, path, mode=0o755):
        self._add(path, Entry(mode))

    def file(self, path, data, mode=0o644):
        self._add(path, Entry(mode, data=data if isinstance(data, bytes) else data.encode()))

    def link(self, path, target):
        self._add(path, Entry(0o777, target=target))

    def copy(self, source, path=None, mode=0o644):
        """Copies a file of this machine, to the same path unless another one is given."""
        with open(source, "rb") as file:
            self.file((path or source).lstrip("/"), file.read(), mode)

    def _add(self, path, entry):
        above = os.path.dirname(path)
        if above and above not in self.entries:
            self.folder(above)
        self.entries[path] = entry

    def files(self):
        return {path: entry.data for path, entry in sorted(self.entries.items()) if entry.data is not None}

    def size(self):
        return sum(len(data) for data in self.files().values())

    def tar(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for path, entry in sorted(self.entries.items()):
                info = tarfile.TarInfo(path)
                info.mode = entry.mode
                info.type = tarfile.DIRTYPE
                if entry.target is not None:
                    info.type, info.linkname = tarfile.SYMTYPE, entry.target
                elif entry.data is not None:
                    info.type, info.size = tarfile.REGTYPE, len(entry.data)
                tar.addfile(info, io.BytesIO(entry.data or b""))
        return out.getvalue()

    def write_to(self, directory):
        """Writes it below `directory`, which must not exist. What is there belongs to who calls this."""
        os.makedirs(directory)
        for path, entry in sorted(self.entries.items()):
            place = os.path.join(directory, path)
            if entry.target is not None:
                os.symlink(entry.target, place)
                continue
            if entry.data is None:
                os.mkdir(place)
            else:
                with open(place, "wb") as file:
                    file.write(entry.data)
            os.chmod(place, stat.S_IMODE(entry.mode))
