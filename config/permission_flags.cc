// The flags of the command `permissions`, and what can be said about them without a server. A
// resource is named by its plural and group, since that is what a ClusterRole has. A name that
// belongs to another group is a warning only, as somebody may have a custom resource of that name;
// the table of well-known resources has just those whose names are in one group. Of the core group
// all names are known, and nobody else can add one.

#include "config/permission_flags.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/spelling.h"
#include "base/status.h"
#include "config/flag_types.h"
#include "kube/meta/selector.h"

namespace config {
namespace {

constexpr char kKinds[] = "--template-kinds";

// Kubernetes' own resources that are often propagated; each name is in one group only.
struct WellKnown {
  absl::string_view plural, group;
};
constexpr WellKnown kWellKnown[] = {
    {"clusterrolebindings", "rbac.authorization.k8s.io"},
    {"clusterroles", "rbac.authorization.k8s.io"},
    {"configmaps", ""},
    {"controllerrevisions", "apps"},
    {"cronjobs", "batch"},
    {"customresourcedefinitions", "apiextensions.k8s.io"},
    {"daemonsets", "apps"},
    {"deployments", "apps"},
    {"endpoints", ""},
    {"endpointslices", "discovery.k8s.io"},
    {"horizontalpodautoscalers", "autoscaling"},
    {"ingressclasses", "networking.k8s.io"},
    {"ingresses", "networking.k8s.io"},
    {"jobs", "batch"},
    {"limitranges", ""},
    {"mutatingwebhookconfigurations", "admissionregistration.k8s.io"},
    {"namespaces", ""},
    {"networkpolicies", "networking.k8s.io"},
    {"persistentvolumeclaims", ""},
    {"persistentvolumes", ""},
    {"poddisruptionbudgets", "policy"},
    {"pods", ""},
    {"podtemplates", ""},
    {"priorityclasses", "scheduling.k8s.io"},
    {"replicasets", "apps"},
    {"replicationcontrollers", ""},
    {"resourcequotas", ""},
    {"rolebindings", "rbac.authorization.k8s.io"},
    {"roles", "rbac.authorization.k8s.io"},
    {"runtimeclasses", "node.k8s.io"},
    {"secrets", ""},
    {"serviceaccounts", ""},
    {"services", ""},
    {"statefulsets", "apps"},
    {"storageclasses", "storage.k8s.io"},
    {"validatingwebhookconfigurations", "admissionregistration.k8s.io"},
};

// The resources of the core group that are not in the table.
constexpr absl::string_view kOtherCore[] = {"bindings", "componentstatuses", "events", "nodes"};

std::string Written(absl::string_view plural, absl::string_view group) {
  return absl::StrCat(plural, group.empty() ? "" : ".", group);
}

// Returns the well-known resource that is meant by a name that is not a plural: "deployment", or
// "deployment.apps"; nullptr for none.
const WellKnown* MeantBy(absl::string_view name, absl::string_view group) {
  for (const WellKnown& one : kWellKnown) {
    const bool is_singular = one.plural == absl::StrCat(name, "s") ||
                             one.plural == absl::StrCat(name, "es") ||
                             (absl::EndsWith(name, "y") &&
                              one.plural == absl::StrCat(name.substr(0, name.size() - 1), "ies"));
    if (is_singular && (group.empty() || group == one.group)) return &one;
  }
  if (!group.empty()) return nullptr;
  std::vector<std::string> plurals;
  for (const WellKnown& one : kWellKnown) plurals.emplace_back(one.plural);
  const std::optional<size_t> nearest = base::NearestName(name, plurals);
  return nearest.has_value() ? &kWellKnown[*nearest] : nullptr;
}

// Returns a warning about a resource whose plural is not in the table; "" for one that may exist.
std::string WarningOfUnknown(absl::string_view kind, absl::string_view name,
                             absl::string_view group) {
  const bool is_core =
      std::find(std::begin(kOtherCore), std::end(kOtherCore), name) != std::end(kOtherCore);
  const WellKnown* meant = MeantBy(name, group);
  if (group.empty() ? is_core : meant == nullptr) return "";
  std::string warning = absl::StrCat(
      kKinds, " ", kind,
      " does not name a resource of Kubernetes, so the role does not allow what it is for");
  if (meant != nullptr) {
    absl::StrAppend(&warning, ": ", Written(meant->plural, meant->group), " is probably meant");
  } else {
    absl::StrAppend(&warning, ": a resource of another group is named with it, such as ", name,
                    ".example.io");
  }
  return warning;
}

}  // namespace

std::vector<std::string> WarningsOf(const PermissionFlags& flags) {
  std::vector<std::string> warnings;
  for (const std::string& kind : flags.template_kinds) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(kind, absl::MaxSplits('.', 1));
    const auto& [plural, group] = parts;
    // A group of somebody's own may have a resource of that name.
    const bool is_kubernetes = !absl::StrContains(group, '.') || absl::EndsWith(group, ".k8s.io");
    const auto* known =
        std::find_if(std::begin(kWellKnown), std::end(kWellKnown),
                     [&p = plural](const WellKnown& one) { return one.plural == p; });
    if (known == std::end(kWellKnown)) {
      std::string warning = WarningOfUnknown(kind, plural, group);
      if (!warning.empty()) warnings.push_back(std::move(warning));
      continue;
    }
    if (known->group == group || !is_kubernetes) continue;
    warnings.push_back(
        absl::StrCat(kKinds, " ", kind,
                     " does not name a resource of Kubernetes, so the role does not allow what it "
                     "is for: ",
                     Written(known->plural, known->group), " is probably meant"));
  }
  return warnings;
}

namespace internal {
namespace {

constexpr char kSubject[] = "--subject";

absl::Status CheckKind(const std::string& kind) {
  for (const absl::string_view word : absl::StrSplit(kind, '.')) {
    RETURN_IF_ERROR(
        base::Annotate(kube::ValidateDns1123Label(std::string(word)), kKinds, " \"", kind,
                       "\" is not the plural name of a resource with its group, such as "
                       "deployments.apps"));
  }
  return absl::OkStatus();
}

CLI::App* AddCommand(CLI::App& app, PermissionFlags& flags, const std::string& help) {
  CLI::App* command = app.add_subcommand("permissions", help);
  command->fallthrough();
  command->callback([&flags] { flags.asked = true; });
  return command;
}

void AddKinds(CLI::App& command, PermissionFlags& flags) {
  AddList(command, kKinds, flags.template_kinds,
          "kinds that are propagated, such as deployments.apps,configmaps; without it any kind")
      ->type_name("RESOURCES");
}

void AddSubject(CLI::App& command, PermissionFlags& flags, const std::string& help) {
  AddValue(command, kSubject, flags.subject, help)->type_name("NAME");
}

}  // namespace

void AddPermissions(CLI::App& app, PermissionFlags& flags) {
  CLI::App* command =
      AddCommand(app, flags,
                 "Print the ClusterRole, with a binding, that the program needs with the given "
                 "--controllers, --feature-gates, --shadow and other flags");
  AddSwitch(*command, "--member", flags.member,
            "the rights in a member cluster instead of those in the control plane");
  AddKinds(*command, flags);
  AddSubject(*command, flags,
             "whom to bind: a user, or namespace/name of a service account in a member");
}

void AddMemberPermissions(CLI::App& app, PermissionFlags& flags) {
  flags.member = true;
  CLI::App* command = AddCommand(
      app, flags,
      "Print the ClusterRole, with a binding, that the program needs in its cluster with the given "
      "--controllers, --feature-gates, --report-secrets and other flags");
  AddKinds(*command, flags);
  AddSubject(*command, flags, "whom to bind: namespace/name of a service account");
}

absl::Status ValidatePermissions(const PermissionFlags& flags) {
  for (const std::string& kind : flags.template_kinds) RETURN_IF_ERROR(CheckKind(kind));
  if (!flags.member || flags.subject.empty()) return absl::OkStatus();
  const std::vector<std::string> parts = absl::StrSplit(flags.subject, '/');
  if (parts.size() == 2 && kube::ValidateDns1123Label(parts[0]).ok() && !parts[1].empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(kSubject, " \"", flags.subject,
                                                 "\" is not namespace/name of a service account"));
}

}  // namespace internal
}  // namespace config
