"""The program as an image and a package hold it: without its debug information, which goes into a file of its
own, and with a build id that is the same wherever the same code was built."""
import hashlib
import os
import re
import subprocess
import tempfile

BUILD_ID = ".note.gnu.build-id"
HEADER = 16  # The header of that note: three numbers and the name "GNU".


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL="C")).stdout


def split(program, debug_file):
    """Returns the bytes of the program without debug information, and writes that to `debug_file`.

    The linker's build id also covers the debug information, in which stands the folder that the program was built
    in. Here it is computed from what is loaded, so that two builds in different places are the same; both files
    get it, by which debuggers find the one for the other.
    """
    with tempfile.TemporaryDirectory() as scratch:
        stripped = os.path.join(scratch, "stripped")
        run("objcopy", "--strip-all", "--remove-section=.comment", program, stripped)
        os.makedirs(os.path.dirname(debug_file), exist_ok=True)
        run("objcopy", "--only-keep-debug", program, debug_file)
        place = note_place(stripped)
        if place is not None:
            data = with_note(stripped, place, bytes(20))
            build_id = hashlib.sha1(data).digest()
            data = with_note(stripped, place, build_id)
            with open(stripped, "wb") as file:
                file.write(data)
            with open(debug_file, "rb+") as file:
                file.seek(note_place(debug_file) + HEADER)
                file.write(build_id)
        with open(stripped, "rb") as file:
            return file.read()


def note_place(path):
    """Where in the file the note with the build id begins; None if it has none."""
    for line in run("readelf", "--wide", "-S", path).split("\n"):
        found = re.search(re.escape(BUILD_ID) + r"\s+NOTE\s+[0-9a-f]+\s+([0-9a-f]+)\s+([0-9a-f]+)", line)
        if found:
            if int(found.group(2), 16) != HEADER + 20:
                raise ValueError(f"{path}: the build id is not 20 bytes long")
            return int(found.group(1), 16)
    return None


def with_note(path, place, build_id):
    with open(path, "rb") as file:
        data = file.read()
    begin = place + HEADER
    return data[:begin] + build_id + data[begin + len(build_id):]


def build_id_of(path):
    """The build id that readelf shows, in hexadecimal digits; "" if there is none."""
    found = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path))
    return found.group(1) if found else ""
