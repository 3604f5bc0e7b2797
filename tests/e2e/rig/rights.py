"""The rights under which our daemon runs on a plane: those of config/rbac alone, in the control plane and in members.

Upstream's is of the group system:masters in the control plane, and has in members what `karmadactl join` grants.
"""

import copy

import yaml

from . import paths
from .process import must

USER = "system:karmada:karmada-controller-manager"
NAMED_KINDS_USER = "named-kinds"  # Of the case that narrows the kinds of templates.
USERS = (USER, NAMED_KINDS_USER)  # Whose requests the audit logs have, reads included.
_ROLES = "/apis/rbac.authorization.k8s.io/v1"
# All controllers, gates and so on at once: what config/rbac is for, as far as this build has it.
EVERYTHING = ("--controllers=*,deploymentReplicasSyncer,hpaScaleTargetMarker",
              "--feature-gates=AllAlpha=true,AllBeta=true")
_RIGHTS_OF_JOIN = "karmada-controller-manager:karmada-{}"


def account(member):
    """The name of a member's service account, as the member's audit log has it."""
    return f"system:serviceaccount:karmada-cluster:karmada-{member}"


def printed(*flags):
    """The role and the binding that `permissions` prints with these flags."""
    return list(yaml.safe_load_all(must([paths.DAEMON, "permissions", *flags])))


def give_to_user(plane):
    """The kubeconfig of our daemon's user, with the role of config/rbac."""
    plane.host.apply(paths.RIGHTS.read_text())
    return plane.user("our-controller-manager", USER, group=None)


def give_named_kinds(plane, kinds):
    """The kubeconfig of the other user, with the role that `permissions` prints for these kinds of templates."""
    name = NAMED_KINDS_USER
    role, binding = printed(*EVERYTHING, "--template-kinds=" + ",".join(kinds), f"--subject={name}")
    role["metadata"]["name"] = binding["metadata"]["name"] = binding["roleRef"]["name"] = name
    plane.host.apply([role, binding])
    return plane.user(name, name, group=None)


def give_to_account(plane, member):
    """Binds a member's account to the role of config/rbac; its other rights are narrow()'s matter."""
    role, binding = copy.deepcopy(list(yaml.safe_load_all(paths.MEMBER_RIGHTS.read_text())))
    binding["subjects"][0]["name"] = f"karmada-{member}"
    plane.kube(member).apply([role, binding])
    narrow(plane, member)


def narrow(plane, member, to_ours=True):
    """Takes what `karmadactl join` has granted from a member's account, or gives it back."""
    kube, name = plane.kube(member), _RIGHTS_OF_JOIN.format(member)
    path = f"{_ROLES}/clusterrolebindings/{name}"
    if kube.find(path) is None:  # The member has left.
        return
    subjects = [{"kind": "ServiceAccount", "name": f"karmada-{member}", "namespace": "karmada-cluster"}]
    kube.merge(path, {"subjects": [] if to_ours else subjects})
