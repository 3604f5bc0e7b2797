"""What the images in build/image hold, and that two builds are the same."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import unittest
from urllib.parse import quote

import debian
import libraries
import places
import program as programs
from container import tag_of

MANAGER = places.DAEMONS[0]
MOST_BYTES = {"karmada-agent": 12e6}  # Of the compressed layers, where that is less than for all: it goes to each edge.
LABELS = {"title", "description", "version", "revision", "created"}
LOADER = "lib64/ld-linux-x86-64.so.2" if os.uname().machine == "x86_64" else "lib/ld-linux-aarch64.so.1"


class Layout:
    """An OCI layout, read without our code."""

    def __init__(self, name):
        self.place = places.IMAGES / name
        (entry,) = json.loads((self.place / "index.json").read_bytes())["manifests"]
        self.digest = entry["digest"]
        self.manifest = json.loads(self.blob(self.digest))
        self.config = json.loads(self.blob(self.manifest["config"]["digest"]))

    def blob(self, digest):
        algorithm, value = digest.split(":")
        data = (self.place / "blobs" / algorithm / value).read_bytes()
        assert hashlib.sha256(data).hexdigest() == value, digest
        return data

    def members(self):
        """Every entry of all layers, and the bytes of files."""
        for layer in self.manifest["layers"]:
            algorithm, value = layer["digest"].split(":")
            with tarfile.open(self.place / "blobs" / algorithm / value) as tar:
                for member in tar:
                    yield member, tar.extractfile(member).read() if member.isreg() else b""


class ImagesTest(unittest.TestCase):
    def each(self):
        return [(name, Layout(name)) for name in places.DAEMONS]

    def test_they_are_small(self):
        for name, layout in self.each():
            unpacked = sum(len(data) for _, data in layout.members())
            self.assertLess(unpacked, 40e6)
            self.assertLess(sum(layer["size"] for layer in layout.manifest["layers"]), MOST_BYTES.get(name, 15e6), name)

    def test_labels_say_what_they_are(self):
        facts = places.version()
        for name, layout in self.each():
            labels = {key.removeprefix("org.opencontainers.image."): value
                      for key, value in layout.config["config"]["Labels"].items()}
            self.assertLessEqual(LABELS, set(labels))
            self.assertEqual(labels["title"], name)
            self.assertEqual(labels["revision"], facts["commit"])
            self.assertEqual(labels["created"], facts["date"])
            self.assertEqual(labels["version"], tag_of(name))
            binary = places.run(places.BIN / name, "--version").stdout.strip()
            self.assertEqual(labels["version"], binary)

    def test_they_start_as_a_user_without_rights(self):
        for name, layout in self.each():
            self.assertEqual(layout.config["config"]["User"], "65532:65532")
            self.assertEqual(layout.config["config"]["Entrypoint"], [f"/bin/{name}"])
            files = {member.name: data for member, data in layout.members()}
            self.assertIn(b"nonroot:x:65532:65532:", files["etc/passwd"])

    def test_nothing_in_them_is_for_others_to_change_or_to_raise_rights(self):
        for _, layout in self.each():
            for member, _ in layout.members():
                self.assertEqual((member.uid, member.gid, member.mtime), (0, 0, 0), member.name)
                self.assertFalse(member.mode & 0o6000, member.name)
                if not member.issym() and member.name != "tmp":
                    self.assertFalse(member.mode & 0o022, member.name)

    def test_they_have_the_program_its_libraries_and_nothing_else_that_runs(self):
        for name, layout in self.each():
            found = {member.name for member, data in layout.members() if data[:4] == b"\x7fELF"}
            needed = {line.split()[0] for line in places.run("ldd", places.BIN / name).stdout.splitlines()
                      if "=>" in line}
            if name == MANAGER:
                needed.add("libtcmalloc.so.4")  # What it needs itself is needed by the program, too.
            folder = libraries.Elf(places.BIN / name).folder
            wanted = {f"usr/lib/{folder}/{library}" for library in needed} | {f"bin/{name}", LOADER}
            self.assertEqual(found, wanted)
            executable = {member.name for member, data in layout.members() if member.isreg() and member.mode & 0o111}
            self.assertEqual(executable, {f"bin/{name}", LOADER})
            scripts = [member.name for member, data in layout.members() if data.startswith(b"#!")]
            self.assertEqual(scripts, [])

    def test_authorities_are_those_of_debian_and_none_of_this_machine(self):
        names = [p for p in debian.files_of("ca-certificates")
                 if p.startswith("/usr/share/ca-certificates/") and p.endswith(".crt")]
        for _, layout in self.each():
            files = {member.name: data for member, data in layout.members()}
            bundle = files["etc/ssl/certs/ca-certificates.crt"].decode()
            self.assertEqual(bundle.count("BEGIN CERTIFICATE"), len(names))

    def test_debug_information_is_beside_them_and_found_by_its_id(self):
        for name, layout in self.each():
            stripped = places.scratch("stripped") / name
            stripped.write_bytes(next(data for member, data in layout.members() if member.name == f"bin/{name}"))
            debug = places.IMAGES / f"{name}.debug"
            self.assertRegex(programs.build_id_of(stripped), "^[0-9a-f]{40}$")
            self.assertEqual(programs.build_id_of(stripped), programs.build_id_of(debug))
            self.assertNotIn(".debug_info", places.run("readelf", "-SW", stripped).stdout)
            self.assertIn(".debug_info", places.run("readelf", "-SW", debug).stdout)


class BillTest(unittest.TestCase):
    """The list of contents."""

    def bill(self, name):
        return json.loads((places.IMAGES / f"{name}.spdx.json").read_bytes())

    def test_it_has_every_file_and_no_other(self):
        for name in places.DAEMONS:
            wanted = {"./" + member.name: hashlib.sha256(data).hexdigest()
                      for member, data in Layout(name).members() if member.isreg()}
            listed = {entry["fileName"]: entry["checksums"][1]["checksumValue"] for entry in self.bill(name)["files"]}
            self.assertEqual(listed, wanted)

    def test_files_come_from_debian_packages_but_for_the_program_and_what_names_its_user(self):
        for name in places.DAEMONS:
            bill = self.bill(name)
            ids = {entry["SPDXID"]: entry["fileName"] for entry in bill["files"]}
            from_packages = {ids[r["spdxElementId"]] for r in bill["relationships"]
                             if r["relationshipType"] == "EXPANDED_FROM_ARCHIVE"}
            ours = {path for path in set(ids.values()) - from_packages if "/status.d/" not in path}
            self.assertEqual(ours, {"./etc/group", "./etc/nsswitch.conf", "./etc/passwd", f"./bin/{name}"})

    def test_packages_are_those_of_this_machine(self):
        for name in places.DAEMONS:
            locators = [reference["referenceLocator"] for package in self.bill(name)["packages"]
                        for reference in package.get("externalRefs", ())]
            libc = places.run("dpkg-query", "-W", "-f", "${Version}", "libc6").stdout
            self.assertIn(f"pkg:deb/debian/libc6@{quote(libc)}?arch={Layout(name).config['architecture']}"
                          "&distro=debian-12", locators)
            for package in ("tzdata", "ca-certificates", "libcpprest2.10", "rapidjson-dev"):
                self.assertTrue(any(f"/{package}@" in locator for locator in locators), package)

    def test_scanners_find_the_packages_in_the_image(self):
        for name in places.DAEMONS:
            stanzas = {member.name.rpartition("/")[2]: data.decode() for member, data in Layout(name).members()
                       if member.name.startswith("var/lib/dpkg/status.d/") and member.isreg()}
            self.assertIn("libssl3", stanzas)
            for package, stanza in stanzas.items():
                self.assertIn(f"Package: {package}\n", stanza)
                self.assertRegex(stanza, r"\nVersion: \S+\n")


class OtherToolsTest(unittest.TestCase):
    """What skopeo makes of them; umoci unpacks them for test_containers."""

    def test_the_layout_its_tar_and_what_docker_loads_are_the_same_image(self):
        for name in places.DAEMONS:
            layout = Layout(name)
            for source in (f"oci:{places.IMAGES / name}:{tag_of(name)}",
                           f"oci-archive:{places.IMAGES / name}.tar:{tag_of(name)}"):
                seen = json.loads(places.run("skopeo", "inspect", source).stdout)
                self.assertEqual(seen["Digest"], layout.digest)
                self.assertEqual(seen["Labels"]["org.opencontainers.image.title"], name)
            docker = f"docker-archive:{places.IMAGES / name}.tar"
            seen = json.loads(places.run("skopeo", "inspect", "--config", docker).stdout)
            self.assertEqual(seen["rootfs"], layout.config["rootfs"])

    def test_it_can_be_copied_for_docker(self):
        target = places.scratch("skopeo") / "docker.tar"
        target.unlink(missing_ok=True)
        name = places.DAEMONS[0]
        places.run("skopeo", "--insecure-policy", "copy", f"oci:{places.IMAGES / name}:{tag_of(name)}",
                   f"docker-archive:{target}:{name}:test")
        seen = json.loads(places.run("skopeo", "inspect", "--config", f"docker-archive:{target}").stdout)
        self.assertEqual(seen["config"]["User"], "65532:65532")


class SameBytesTest(unittest.TestCase):
    def test_a_second_build_elsewhere_is_the_same(self):
        for name in places.DAEMONS:
            other = places.scratch("second") / "images"
            shutil.rmtree(other, ignore_errors=True)
            environment = {"PATH": os.environ["PATH"], "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "HOME": "/"}
            places.run("bash", "-c", 'umask 077; exec "$@"', "build", "/usr/bin/python3",
                       places.SOURCE / "packaging" / "image" / "build.py", "--binary", places.BIN / name, "--output",
                       other, env=environment, cwd="/")
            for suffix in (".tar", ".spdx.json", ".debug"):
                self.assertEqual((other / (name + suffix)).read_bytes(),
                                 (places.IMAGES / (name + suffix)).read_bytes(), name + suffix)

    def test_a_program_built_in_another_folder_is_the_same(self):
        results = []
        for folder in ("here", "in/another/folder"):
            place = places.scratch("compiled") / folder
            os.makedirs(place, exist_ok=True)
            (place / "main.cc").write_text("int main() { return 7; }\n")
            places.run("g++", "-g", "-O1", "-Wl,--build-id=sha1", place / "main.cc", "-o", place / "main", cwd=place)
            self.assertNotEqual(programs.build_id_of(place / "main"), "")
            results.append(programs.split(str(place / "main"), str(place / "debug" / "main.debug")))
            self.assertEqual(subprocess.run([self.written(place, results[-1])], check=False).returncode, 7)
            self.assertEqual(programs.build_id_of(place / "stripped"),
                             programs.build_id_of(place / "debug" / "main.debug"))
        self.assertEqual(results[0], results[1])

    @staticmethod
    def written(place, data):
        path = pathlib.Path(place) / "stripped"
        path.write_bytes(data)
        path.chmod(0o755)
        return path


class DockerfileTest(unittest.TestCase):
    """There is no Docker here: its steps are those of the make targets, and its images have what ours have."""

    def stages(self):
        text = (places.SOURCE / "Dockerfile").read_text()
        return re.split(r"^FROM ", text, flags=re.MULTILINE)[1:]

    def test_it_makes_its_file_systems_as_make_image_does(self):
        build = self.stages()[0]
        self.assertTrue(build.startswith("debian:12 AS build"))
        for name in places.DAEMONS:
            self.assertIn(f"make image-root IMAGES={name}", build)

    def test_its_images_start_as_ours_do(self):
        stages = {re.match(r"scratch AS (\S+)", stage).group(1): stage for stage in self.stages()[1:]}
        self.assertEqual(set(stages), set(places.DAEMONS))
        for name, stage in stages.items():
            config = Layout(name).config["config"]
            self.assertIn(f"USER {config['User']}\n", stage)
            self.assertIn(f"ENTRYPOINT {json.dumps(config['Entrypoint'])}", stage)
            self.assertIn(f"ENV {config['Env'][0]}\n", stage)

    def test_the_file_system_it_copies_is_that_of_the_image(self):
        name = places.DAEMONS[0]
        root = places.scratch("root") / "root"
        shutil.rmtree(root, ignore_errors=True)
        places.run("/usr/bin/python3", places.SOURCE / "packaging" / "image" / "build.py", "--binary",
                   places.BIN / name, "--output", places.scratch("root"), "--root", root)
        wanted = {member.name: (member.mode, member.linkname, data) for member, data in Layout(name).members()
                  if not member.isdir()}
        found = {}
        for folder, folders, files in os.walk(root):
            for path in (pathlib.Path(folder) / entry for entry in [*folders, *files]):
                if path.is_symlink():
                    found[str(path.relative_to(root))] = (0o777, os.readlink(path), b"")
                elif path.is_file():
                    found[str(path.relative_to(root))] = (path.stat().st_mode & 0o7777, "", path.read_bytes())
        self.assertEqual(found.keys(), wanted.keys())
        self.assertEqual(found, wanted)
        self.assertEqual((root / "tmp").stat().st_mode & 0o7777, 0o1777)


if __name__ == "__main__":
    unittest.main()
