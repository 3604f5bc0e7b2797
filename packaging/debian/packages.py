"""Which packages there are, and which of the installed files each has."""
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """A package. In `depends` and `recommends`, {version} is that of all packages of one build."""

    name: str
    summary: str
    description: str
    depends: tuple = ()
    recommends: tuple = ()
    suggests: tuple = ()
    files: str = ""  # A regular expression; "": every file that is named after the program `name`.

    def takes(self, path):
        """Whether the file belongs to this package; `path` is without a slash in front."""
        if self.files:
            return re.match(self.files, path) is not None
        # Plugins and completions have underscores in front of the name or in it.
        name = re.escape(self.name).replace(r"\-", "[-_]")
        return re.search(rf"/(kubectl[-_](complete-)?|_)?{name}(\.[a-z0-9]+)?$", path) is not None


SAME_DATA = ("karmada-data (= {version})",)

PACKAGES = (
    Package(
        "karmada-data",
        "definitions, samples and dashboards of Karmada",
        """The CustomResourceDefinitions of Karmada v1.18 and v1.19, small manifests to try out, the definition of the records in
        which karmada-search keeps registries, and dashboards for OpenSearch.""",
        files="usr/share/karmada/"),
    Package(
        "karmada-interpret",
        "write, check, run and test customizations of Karmada",
        """Checks, runs and tests what Karmada knows about kinds: customizations in Lua, webhooks, the shipped
        customizations and the built-in rules. It needs no cluster. kubectl finds it as the plugin karmada-interpret.""",
        suggests=("karmada-sandbox",)),
    Package(
        "karmada-lens",
        "see what becomes of a template on its way to the members of Karmada",
        """Shows what each member cluster would get of manifests, how templates, policies and dependencies hang together,
        and what stops a template of a running control plane. It only reads. kubectl finds it as the plugin
        karmada-lens.""",
        depends=SAME_DATA),
    Package(
        "karmada-sandbox",
        "Karmada control plane and member clusters in one process",
        """API servers in memory, with a scheduler and simulated pods, to try policies, customizations and failures
        without a cluster. kubectl works against it.""",
        depends=SAME_DATA,
        recommends=("karmada-controller-manager (= {version})",),
        suggests=("karmada-agent", "karmada-search")),
    Package(
        "karmada-controller-manager",
        "controllers of a Karmada control plane",
        """Takes the place of the program of the same name in a Karmada v1.18 control plane: the same flags, objects, Lease
        and metrics. The package starts nothing.""",
        depends=("ca-certificates", "tzdata")),
    Package(
        "karmada-agent",
        "agent of a member cluster of Karmada in pull mode",
        """Registers its cluster in a Karmada control plane that need not reach it, applies what is meant for it there, and
        reports back. It takes the place of Karmada's program of the same name. The package starts nothing.""",
        depends=("ca-certificates",)),
    Package(
        "karmada-search",
        "one cache of all member clusters of a Karmada control plane",
        """An aggregated API server that caches the objects of all members, for searches and as one proxy to all of them,
        with a mirror in OpenSearch. It takes the place of Karmada's program of the same name. The package starts
        nothing.""",
        depends=("ca-certificates",),
        recommends=SAME_DATA),
)
