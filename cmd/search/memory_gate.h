// Determines whether karmada-search has the memory to begin another cache.
#ifndef CMD_SEARCH_MEMORY_GATE_H_
#define CMD_SEARCH_MEMORY_GATE_H_

#include <atomic>

#include "absl/status/status.h"
#include "base/memory_limit.h"

namespace cmd {

// Closes at 85 % of the memory limit, and opens again below 70 %: what is cached goes on being
// served and followed, and nothing new is begun. Thread-safe.
class MemoryGate {
 public:
  // Takes note of the use; returns whether the gate is closed.
  bool Note(const base::MemoryUse& use);
  // kResourceExhausted while it is closed, with the reason for the conditions of the registries.
  absl::Status MayGrow() const;

 private:
  std::atomic<bool> closed_ = false;
};

}  // namespace cmd

#endif  // CMD_SEARCH_MEMORY_GATE_H_
