// A bound for what one of many agents keeps of its control plane, so that one with very many
// objects costs the agents of other control planes nothing.
#ifndef CONTROLLERS_PROCESS_PLANE_MEMORY_H_
#define CONTROLLERS_PROCESS_PLANE_MEMORY_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/informer.h"
#include "kube/runtime/manager.h"

namespace controllers {

// Loops take what the control plane has as a whole: a customization that is left out would be as
// one that is not there. So the agent ends where something has no room. Thread-safe.
class PlaneMemory {
 public:
  // `total` limits it further, if it is not nullptr.
  PlaneMemory(int64_t bytes, std::shared_ptr<base::TotalBytes> total);

  // For clients and informers of the control plane.
  const std::shared_ptr<base::ByteBudget>& budget() const { return budget_; }
  // REQUIRES: no informer of the set has been made.
  void Limit(kube::InformerSet& informers) const;
  // Returns what `begin` does, which is stopped when something has no room:
  // kResourceExhausted then, which says what to do.
  absl::Status Guard(const base::StopToken& stop,
                     absl::FunctionRef<absl::Status(const base::StopToken&)> begin) const;
  // Makes what ends with that error when something has no room. REQUIRES: `clock` outlives it.
  std::unique_ptr<kube::Runnable> NewWatch(const base::Clock& clock) const;

 private:
  const std::shared_ptr<base::ByteBudget> budget_;
  const base::StopSource is_full_;
};

}  // namespace controllers

#endif  // CONTROLLERS_PROCESS_PLANE_MEMORY_H_
