#include "config/permission_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "config/flag_types.h"
#include "kube/meta/selector.h"

namespace config::internal {
namespace {

constexpr char kKinds[] = "--template-kinds";
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

}  // namespace

void AddPermissions(CLI::App& app, PermissionFlags& flags) {
  CLI::App* command = app.add_subcommand(
      "permissions",
      "Print the ClusterRole, with a binding, that the program needs with the given "
      "--controllers, --feature-gates and other flags");
  command->fallthrough();
  command->callback([&flags] { flags.asked = true; });
  AddSwitch(*command, "--member", flags.member,
            "the rights in a member cluster instead of those in the control plane");
  AddList(*command, kKinds, flags.template_kinds,
          "kinds that are propagated, such as deployments.apps,configmaps; without it any kind")
      ->type_name("RESOURCES");
  AddValue(*command, kSubject, flags.subject,
           "whom to bind: a user, or namespace/name of a service account in a member")
      ->type_name("NAME");
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

}  // namespace config::internal
