// Looks once for objects of features that this program does not have yet, and says in the log what
// that means for them: whoever takes a control plane over has to know.
#ifndef CMD_CONTROLLER_MANAGER_MISSING_FEATURES_H_
#define CMD_CONTROLLER_MANAGER_MISSING_FEATURES_H_

#include <string>

#include "absl/status/status.h"
#include "kube/runtime/manager.h"

namespace cmd {

// Ends after one look: one small request for each kind marked "not yet" in config/support.h, and a
// walk over the bindings that are cached anyway. What cannot be read now is passed over.
class MissingFeatures : public kube::Runnable {
 public:
  // REQUIRES: the manager outlives this.
  explicit MissingFeatures(kube::Manager& manager) : manager_(manager) {}
  std::string name() const override { return "look for missing features"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  void WarnOfKinds(const base::StopToken& stop);
  void WarnOfBindings(const base::StopToken& stop);

  kube::Manager& manager_;
};

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_MISSING_FEATURES_H_
