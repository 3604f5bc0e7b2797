// Reports that memory becomes scarce before the kernel ends the process for it, which leaves no
// line in the log.
#ifndef KUBE_RUNTIME_MEMORY_WATCH_H_
#define KUBE_RUNTIME_MEMORY_WATCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/memory_limit.h"
#include "base/metrics.h"
#include "kube/runtime/periodic.h"

namespace kube {

// Returns how many bytes the objects of one member may take (ClusterSet::Options::member_bytes):
// `memory_mib` if it is not 0, which is what --cluster-memory-mib says, else three quarters of the
// memory limit, and `without_limit` where there is none.
int64_t MemberBytes(int memory_mib, const std::optional<base::MemoryUse>& use,
                    int64_t without_limit);

// Looks every `period`. From four fifths of the limit on it gives unused memory back to the kernel,
// and from nine tenths on it logs a warning: once, and every ten minutes while that lasts. Shows
// limit and use as the gauges `karmada_memory_limit_bytes` and `karmada_memory_working_set_bytes`.
// Without a limit it gives memory back only: in any case when the allocator keeps much that nobody
// uses (2 to 64 MiB, by the size of the heap), because a burst of requests would hold it for ever;
// and the pages of code and
// constants that were used by the start alone.
class MemoryWatch : public Periodic {
 public:
  using Reader = std::function<std::optional<base::MemoryUse>()>;
  struct Options {
    Reader read = [] { return base::ReadMemoryUse(); };
    // Each look reads four small files.
    absl::Duration period = absl::Seconds(5);
    // Called at each look while there is a limit. Optional.
    std::function<void(const base::MemoryUse& use)> on_use;
  };
  // REQUIRES: `clock` and `registry` outlive this object.
  MemoryWatch(const base::Clock& clock, metrics::Registry& registry, Options options);
  std::string name() const override { return "memory watch"; }

 protected:
  absl::Duration Begin() override;
  absl::Duration Tick(const base::StopToken& stop) override;

 private:
  void Look(const base::MemoryUse& use);
  void Show(const base::MemoryUse& use);

  // Drops pages of the program's files when it is time for that.
  void DropUnusedPages();
  // Gives memory back if there is much of it.
  void TrimIfUnused();

  const base::Clock& clock_;
  metrics::Registry& registry_;
  const Options options_;
  base::SteadyTime looked_at_ = base::SteadyTime::InfinitePast();  // For unused memory.
  base::SteadyTime forgot_at_ = base::SteadyTime::InfinitePast();  // What nobody uses.
  size_t unused_before_ = 0;  // What the allocator kept after the last time, in bytes.
  base::SteadyTime drop_at_ = base::SteadyTime::InfinitePast();  // Of the program's files.
  absl::Duration drop_pause_ = absl::Seconds(30);
  base::SteadyTime trimmed_at_ = base::SteadyTime::InfinitePast();
  base::SteadyTime warned_at_ = base::SteadyTime::InfinitePast();
};

}  // namespace kube

#endif  // KUBE_RUNTIME_MEMORY_WATCH_H_
