#include "cmd/sandbox/members.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/spelling.h"
#include "base/status.h"
#include "cmd/sandbox/control_socket.h"
#include "cmd/sandbox/terminal.h"

namespace cmd {
namespace {

absl::Status NoSuchMember(sandbox::Fleet& fleet, const std::string& name) {
  const std::vector<std::string> names = fleet.member_names();
  const std::optional<size_t> meant = base::NearestName(name, names);
  return absl::NotFoundError(
      absl::StrCat("there is no member \"", name, "\"",
                   meant.has_value() ? absl::StrCat("; did you mean ", names[*meant], "?")
                                     : absl::StrCat(": there are ", absl::StrJoin(names, ", "))));
}

absl::StatusOr<std::string> DirectoryOf(const SandboxOptions& options) {
  if (!options.directory.empty()) return options.directory;
  const char* kubeconfig = std::getenv("KUBECONFIG");
  if (kubeconfig != nullptr && *kubeconfig != '\0') {
    return std::filesystem::absolute(kubeconfig).parent_path().string();
  }
  return absl::InvalidArgumentError(
      "which sandbox? Give its directory with --dir, or set KUBECONFIG to a file in it");
}

}  // namespace

absl::Status SteerMember(sandbox::Fleet& fleet, const std::string& request) {
  const std::vector<std::string> words = absl::StrSplit(request, ' ');
  if (words.size() != 3 || words[0] != "member" || (words[1] != "down" && words[1] != "up")) {
    return absl::InvalidArgumentError(absl::StrCat("cannot do \"", request, "\""));
  }
  sandbox::ApiServer* member = fleet.member(words[2]);
  if (member == nullptr) return NoSuchMember(fleet, words[2]);
  member->faults().SetPartitioned(words[1] == "down");
  return absl::OkStatus();
}

absl::Status RunMember(const SandboxOptions& options) {
  ASSIGN_OR_RETURN(const std::string directory, DirectoryOf(options));
  RETURN_IF_ERROR(ControlSocket::Send(
      directory,
      absl::StrCat("member ", options.member_down ? "down" : "up", " ", options.member)));
  Terminal().Print(options.member_down
                       ? absl::StrCat(options.member,
                                      " refuses every connection now; Karmada counts it as not "
                                      "ready after half a minute")
                       : absl::StrCat(options.member, " answers again"));
  return absl::OkStatus();
}

}  // namespace cmd
