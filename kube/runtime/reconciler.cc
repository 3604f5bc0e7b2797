#include "kube/runtime/reconciler.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace kube {
namespace {
constexpr char kTerminalPayload[] = "kube/terminal-error";
}  // namespace

std::string Request::ToString() const {
  return absl::StrCat(cluster, cluster.empty() ? "" : "/", gvk.kind, gvk.kind.empty() ? "" : " ",
                      key.ToString());
}

absl::Status Terminal(const absl::Status& status) {
  absl::Status terminal = status;
  terminal.SetPayload(kTerminalPayload, absl::Cord());
  return terminal;
}

bool IsTerminal(const absl::Status& status) {
  return status.GetPayload(kTerminalPayload).has_value();
}

}  // namespace kube
