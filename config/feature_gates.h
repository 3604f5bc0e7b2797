// Feature gates: named switches with a default and a stage, set by --feature-gates=Name=true,...
#ifndef CONFIG_FEATURE_GATES_H_
#define CONFIG_FEATURE_GATES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "config/release.h"
#include "config/warning.h"

namespace config {

enum class Gate {
  kFailover,
  kGracefulEviction,
  kPropagateDeps,
  kCustomizedClusterResourceModeling,
  kControllerPriorityQueue,
  kLoggingBetaOptions,
  kContextualLogging,
  kLoggingAlphaOptions,
  kPropagationPolicyPreemption,
  kMultiClusterService,
  kStatefulFailoverInjection,
  kFederatedQuotaEnforcement,
  kMultiplePodTemplatesScheduling,
  kPriorityBasedScheduling,
  kResourceQuotaEstimate,
  kWorkloadAffinity,
  kSchedulingOvercommitProtection,
  kTransitiveDependencies,
  kCombinedCustomizations,
};

// Not thread-safe while it is being set; afterwards it may be read from any thread.
class FeatureGates {
 public:
  // Makes the defaults and the stages those of this release; until then they are those of v1.18.
  // What is set stays set. AllAlpha and AllBeta switch the gates that have that stage in the
  // release.
  void Emulate(Release release) { release_ = release; }
  bool Enabled(Gate gate) const;
  // Returns the gate's name, as in --feature-gates.
  static absl::string_view NameOf(Gate gate);
  // Parses "A=true,B=false". AllAlpha and AllBeta switch whole stages; a gate named itself wins
  // over them, in whatever order they are written. kInvalidArgument names an unknown gate or value.
  absl::Status Set(absl::string_view text);
  // Returns one line per gate for --help: "Failover=true|false (BETA - default=false)", with both
  // defaults where the releases differ.
  static std::string Describe();
  // Returns a warning for each given value that does not have the whole effect that it has
  // upstream.
  std::vector<Warning> Warnings() const;
  // Returns every gate by its name.
  std::map<std::string, bool> All() const;
  // Returns the gates that differ from their default: "Failover=true,...".
  std::string Changed() const;

 private:
  Release release_ = Release::kV1_18;
  std::map<Gate, bool> named_;
  std::map<std::string, bool> stages_;  // "AllAlpha" and "AllBeta" as they were given.
};

}  // namespace config

#endif  // CONFIG_FEATURE_GATES_H_
