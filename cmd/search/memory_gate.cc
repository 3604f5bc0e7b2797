#include "cmd/search/memory_gate.h"

#include "absl/strings/str_cat.h"

namespace cmd {
namespace {

// Parts of the limit in percent.
constexpr int kCloses = 85;
constexpr int kOpens = 70;

}  // namespace

bool MemoryGate::Note(const base::MemoryUse& use) {
  const double percent =
      100 * static_cast<double>(use.working_set) / static_cast<double>(use.limit);
  if (percent >= kCloses) closed_ = true;
  if (percent < kOpens) closed_ = false;
  return closed_;
}

absl::Status MemoryGate::MayGrow() const {
  if (!closed_) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("it is not cached: ", kCloses,
                   " % of the memory limit of karmada-search were used, and it "
                   "waits until less than ",
                   kOpens, " % are; raise the limit, or select less"));
}

}  // namespace cmd
