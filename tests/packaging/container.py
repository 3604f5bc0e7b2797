"""Runs the program of an unpacked image as a container would: in the image's own root, which is read-only, as its user,
without rights. Only the network is this machine's."""
import json
import os
import pathlib
import shutil
import subprocess

import places

USER = 65532
# In a mount namespace of its own: $1 becomes read-only, $2 is shown at $1/etc/karmada, which is read-only, too. Runtimes of
# containers mount /proc.
ENTER = """
set -e
root=$1 config=$2
shift 2
mount --bind "$root" "$root"
mount --bind "$config" "$root/etc/karmada"
mount -o remount,bind,ro "$root/etc/karmada"
mount --bind /proc "$root/proc"
mount -o remount,bind,ro "$root"
exec env -i PATH=/bin $KM_ENVIRONMENT "$(command -v setpriv)" --no-new-privs --inh-caps=-all \
  "$(command -v chroot)" --userspec=%d:%d --groups= "$root" "$@"
""" % (USER, USER)


def tag_of(name):
    """The tag of the one image in a layout."""
    with open(places.IMAGES / name / "index.json", encoding="utf-8") as file:
        (image,) = json.load(file)["manifests"]
    return image["annotations"]["org.opencontainers.image.ref.name"]


class Container:
    """An image, unpacked by umoci, with a folder for configuration that its user can read."""

    def __init__(self, name, place):
        places.need_root()
        self.name = name
        self.place = pathlib.Path(place)
        shutil.rmtree(self.place, ignore_errors=True)
        places.run("umoci", "unpack", "--image", f"{places.IMAGES / name}:{tag_of(name)}", self.place / "bundle")
        self.root = self.place / "bundle" / "rootfs"
        self.config = self.place / "config"
        os.makedirs(self.config)
        # The places of what is mounted are made by those who run containers.
        os.makedirs(self.root / "etc" / "karmada")
        os.makedirs(self.root / "proc", exist_ok=True)
        with open(self.place / "bundle" / "config.json", encoding="utf-8") as file:
            self.process = json.load(file)["process"]

    def put(self, name, data):
        """Puts a file where the program finds it as /etc/karmada/NAME."""
        path = self.config / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        os.chown(path, USER, USER)
        os.chmod(path, 0o400)
        return f"/etc/karmada/{name}"

    def command(self, *words):
        return ["unshare", "--mount", "--propagation", "private", "bash", "-c", ENTER, "enter", str(self.root),
                str(self.config), *map(str, words)]

    def run(self, *words, **more):
        """Runs the image's entrypoint with `words` to its end."""
        return places.run(*self.command(self.process["args"][0], *words), **more)

    def start(self, *words, environment=""):
        """Starts the entrypoint; its log goes to the file `log`."""
        self.log = self.place / "log"
        with open(self.log, "wb") as log:
            return subprocess.Popen(
                self.command(self.process["args"][0], *words), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=dict(os.environ, KM_ENVIRONMENT=environment))


def stop(process):
    """Ends it as a container is ended, and returns the exit code."""
    process.terminate()
    try:
        return process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
