// The memory that the container or service manager grants this process: the limit of its cgroup.
#ifndef BASE_MEMORY_LIMIT_H_
#define BASE_MEMORY_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace base {

struct MemoryUse {
  // Bytes of the cgroup that the kernel cannot reclaim at once: what kubelet calls the working set.
  int64_t working_set = 0;
  // Bytes at which the kernel ends a process of the cgroup.
  int64_t limit = 0;
};

// Returns what is used and granted now; nullopt when there is no limit, or it cannot be read. Knows
// both versions of cgroups. `root` stands in front of all paths: "" but in tests.
std::optional<MemoryUse> ReadMemoryUse(const std::string& root = "");

}  // namespace base

#endif  // BASE_MEMORY_LIMIT_H_
