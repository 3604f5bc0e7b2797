#include "cmd/search/memory_gate.h"

namespace cmd {
namespace {

constexpr double kCloses = 0.85;
constexpr double kOpens = 0.7;

}  // namespace

bool MemoryGate::Note(const base::MemoryUse& use) {
  const double share = static_cast<double>(use.working_set) / static_cast<double>(use.limit);
  if (share >= kCloses) closed_ = true;
  if (share < kOpens) closed_ = false;
  return closed_;
}

absl::Status MemoryGate::MayGrow() const {
  if (!closed_) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      "it is not cached, because 85 % of the memory limit of karmada-search are used; raise the "
      "limit, or select less");
}

}  // namespace cmd
