"""The list of what is in an image and where it comes from, in SPDX 2.3 (JSON)."""
import hashlib
import re
from urllib.parse import quote

# Debian packages of which headers are compiled into the programs: no file of theirs is in the image, and their
# licences hold all the same.
COMPILED_IN = ("libboost1.74-dev", "libcli11-dev", "rapidjson-dev")


def spdx_id(*words):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.-]", "-", word) for word in words)


def purl(package, distribution):
    return (f"pkg:deb/debian/{quote(package.name, safe='')}@{quote(package.version, safe='')}"
            f"?arch={package.architecture}&distro={distribution}")


def debian_package(package, distribution):
    return {
        "SPDXID": spdx_id("Package", package.name),
        "name": package.name,
        "versionInfo": package.version,
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "comment": f"The licences are in {package.copyright}.",
        "sourceInfo": f"built from the source package {package.source} {package.source_version}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": purl(package, distribution)}],
    }


def file_entry(path, data):
    return {
        "SPDXID": spdx_id("File", hashlib.sha1(path.encode()).hexdigest()),
        "fileName": "./" + path,
        "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                      {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
        "licenseConcluded": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    }


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def verification_code(entries):
    """SPDX 2.3, 7.9: the SHA1 of the sorted SHA1s of all files."""
    sums = sorted(entry["checksums"][0]["checksumValue"] for entry in entries)
    return hashlib.sha1("".join(sums).encode()).hexdigest()


class Contents:
    """What an image holds: all files, the packages that some of them come from, and what is compiled in."""

    def __init__(self, files, owners, compiled_in):
        self.files = files  # {path: data}
        self.owners = owners  # {path: Package}; the others are ours.
        self.compiled_in = compiled_in  # [Package]


def document(program, version, date, contents, distribution):
    """`program`: its name; `date`: when its commit was made."""
    ours = spdx_id("Package", program)
    packages = {p.name: p for p in [*contents.owners.values(), *contents.compiled_in]}
    files = {path: file_entry(path, data) for path, data in contents.files.items()}
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", ours)]
    for package in sorted({p.name for p in contents.owners.values()}):
        relations.append(relation(ours, "DEPENDS_ON", spdx_id("Package", package)))
    for package in contents.compiled_in:
        relations.append(relation(ours, "STATIC_LINK", spdx_id("Package", package.name)))
    for path, entry in files.items():
        relations.append(relation(ours, "CONTAINS", entry["SPDXID"]))
        if path in contents.owners:
            relations.append(relation(entry["SPDXID"], "EXPANDED_FROM_ARCHIVE",
                                      spdx_id("Package", contents.owners[path].name)))
    content = hashlib.sha256(repr([(f["fileName"], f["checksums"]) for f in files.values()]).encode())
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{program}-{version}",
        "documentNamespace": f"urn:{program}:{version}:{content.hexdigest()}",
        "creationInfo": {"created": date or "1970-01-01T00:00:00Z",
                         "creators": ["Tool: packaging/image/build.py"]},
        "packages": [{
            "SPDXID": ours, "name": program, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
            "filesAnalyzed": True,
            "packageVerificationCode": {"packageVerificationCodeValue": verification_code(files.values())},
            "primaryPackagePurpose": "CONTAINER",
        }] + [debian_package(packages[name], distribution) for name in sorted(packages)],
        "files": list(files.values()),
        "relationships": relations,
    }
