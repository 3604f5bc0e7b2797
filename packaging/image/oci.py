"""Writes an image in the OCI image layout (image-spec 1.0), as a folder and as a tar of it."""
import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
INDEX = "application/vnd.oci.image.index.v1+json"


def to_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def compressed(data):
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=out, mtime=0) as file:
        file.write(data)
    return out.getvalue()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Layout:
    """The files of one layout: blobs by digest, and an index with one image."""

    def __init__(self):
        self.files = {"oci-layout": to_json({"imageLayoutVersion": "1.0.0"})}

    def blob(self, media_type, data):
        """Adds a blob and returns its descriptor."""
        self.files["blobs/" + digest(data).replace(":", "/")] = data
        return {"mediaType": media_type, "digest": digest(data), "size": len(data)}

    def add_image(self, image, layers, name):
        """`image`: architecture, created and config; `layers`: (tar, what made it) from below; `name` is
        repository:tag. Returns the descriptor of the manifest."""
        archives = [(tar, compressed(tar), made_by) for tar, made_by in layers]
        config = self.blob(CONFIG, to_json({
            **image, "os": "linux",
            "rootfs": {"type": "layers", "diff_ids": [digest(tar) for tar, _, _ in archives]},
            "history": [{"created": image["created"], "created_by": made_by}
                        for _, _, made_by in archives],
        }))
        descriptors = [self.blob(LAYER, archive) for _, archive, _ in archives]
        manifest = self.blob(MANIFEST, to_json({
            "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": descriptors,
            "annotations": image["config"]["Labels"]}))
        tag = name.rpartition(":")[2]
        self.files["index.json"] = to_json({
            "schemaVersion": 2, "mediaType": INDEX,
            "manifests": [{**manifest, "annotations": {
                "org.opencontainers.image.ref.name": tag, "io.containerd.image.name": name},
                "platform": {"architecture": image["architecture"], "os": "linux"}}]})
        # Docker before version 25 loads a tar by this file, others ignore it.
        self.files["manifest.json"] = to_json([{
            "Config": "blobs/" + config["digest"].replace(":", "/"), "RepoTags": [name],
            "Layers": ["blobs/" + layer["digest"].replace(":", "/") for layer in descriptors]}])
        return manifest

    def write_to(self, directory):
        """Writes the folder anew, and the tar `directory`.tar."""
        shutil.rmtree(directory, ignore_errors=True)
        for path, data in self.files.items():
            if path == "manifest.json":
                continue  # Of no use in a folder.
            place = os.path.join(directory, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(data)
        with tarfile.open(directory + ".tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for path, data in sorted(self.files.items()):
                info = tarfile.TarInfo(path)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
