// Reports that memory becomes scarce before the kernel ends the process for it, which leaves no
// line in the log.
#ifndef CMD_CONTROLLER_MANAGER_MEMORY_WATCH_H_
#define CMD_CONTROLLER_MANAGER_MEMORY_WATCH_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/memory_limit.h"
#include "kube/runtime/manager.h"

namespace cmd {

// Looks every five seconds. From four fifths of the limit on it gives unused memory back to the
// kernel, and from nine tenths on it logs a warning: once, and every ten minutes while that lasts.
// Shows limit and use as the gauges `karmada_memory_limit_bytes` and
// `karmada_memory_working_set_bytes`. Does nothing without a limit.
class MemoryWatch : public kube::Runnable {
 public:
  using Reader = std::function<std::optional<base::MemoryUse>()>;
  // REQUIRES: `manager` outlives this object.
  explicit MemoryWatch(
      kube::Manager& manager, Reader read = [] { return base::ReadMemoryUse(); });
  std::string name() const override { return "memory watch"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  void Look(const base::MemoryUse& use);
  void Show(const base::MemoryUse& use);

  kube::Manager& manager_;
  const Reader read_;
  base::SteadyTime trimmed_at_ = base::SteadyTime::InfinitePast();
  base::SteadyTime warned_at_ = base::SteadyTime::InfinitePast();
};

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_MEMORY_WATCH_H_
