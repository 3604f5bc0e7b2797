// The gates of Kubernetes' library that switch something in this program: --feature-gates and
// --emulated-version of karmada-search.
#ifndef CMD_SEARCH_KUBERNETES_GATES_H_
#define CMD_SEARCH_KUBERNETES_GATES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "config/release.h"

namespace cmd {

// What the two flags say. A release of Karmada has the library of one version of Kubernetes:
// v1.18 that of 1.35, v1.19 that of 1.36, in which both gates became beta and on.
class KubernetesGates {
 public:
  // --feature-gates: Name=true|false, with or without "kube:", by commas. kInvalidArgument names
  // what is neither.
  absl::Status SetGates(absl::string_view text);
  // --emulated-version: 1.32 to 1.36, with or without "kube=".
  absl::Status SetVersion(absl::string_view text);

  bool ConstrainedImpersonation(config::Release release) const;
  bool ComponentStatusz(config::Release release) const;

  // Returns a sentence about each part of the flags that has no effect here, or less than upstream.
  std::vector<std::string> Warnings() const;

 private:
  bool Enabled(absl::string_view gate, config::Release release) const;

  std::map<std::string, bool, std::less<>> given_;
  std::string version_text_;
  int minor_ = 0;  // 0: that of the release.
};

// Returns the minor version of Kubernetes whose library a release of Karmada has.
int KubernetesMinorOf(config::Release release);

// Adds both flags. `target` must outlive `app`.
void AddKubernetesGates(CLI::App& app, KubernetesGates& target);

}  // namespace cmd

#endif  // CMD_SEARCH_KUBERNETES_GATES_H_
