// Looks at the memory of the cgroup every period. The first threshold (80 %) only gives freed
// memory back to the kernel, at most once a minute; the second one (90 %) warns, at most every ten
// minutes, until the use falls below the first. Independently of any limit, memory that the
// allocator holds and nobody uses is given back from time to time, because it would count as used
// for ever after a burst. Pages of code and constants that were used by the start alone are given
// back half a minute after it, and again after pauses that grow to an hour. Everything here is used
// by one thread at a time.

#include "kube/runtime/memory_watch.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "base/file_pages.h"
#include "base/json_size.h"
#include "base/log.h"

namespace kube {
namespace {

constexpr absl::Duration kTrimPause = absl::Minutes(1);
constexpr absl::Duration kLookPause = absl::Seconds(10);
constexpr absl::Duration kForgetPause = absl::Minutes(1);
// What is unused beyond an eighth of what is used is much, within these bounds.
constexpr size_t kLeastMuch = size_t{2} << 20;
constexpr size_t kMostMuch = size_t{64} << 20;
constexpr size_t kUsedShare = 8;
constexpr absl::Duration kLongestDropPause = absl::Hours(1);
constexpr absl::Duration kWarningPause = absl::Minutes(10);
constexpr double kTight = 0.8;
constexpr double kScarce = 0.9;
// Libraries and threads alone take 20 MiB; with less than this there is no room for objects.
constexpr int64_t kLeastLimit = int64_t{32} << 20;

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr char kAdvice[] =
    "raise the limit: docs/operations-reference.md lists what a number of objects takes";

}  // namespace

int64_t MemberBytes(int memory_mib, const std::optional<base::MemoryUse>& use,
                    int64_t without_limit) {
  if (memory_mib > 0) return memory_mib * kMebibyte;
  return use.has_value() && use->limit > 0 ? use->limit / 4 * 3 : without_limit;
}

MemoryWatch::MemoryWatch(const base::Clock& clock, metrics::Registry& registry, Options options)
    : Periodic(clock), clock_(clock), registry_(registry), options_(std::move(options)) {}

absl::Duration MemoryWatch::Begin() {
  const auto at_start = options_.read();
  if (at_start.has_value() && at_start->limit < kLeastLimit) {
    base::LogWarning("the memory limit is less than this program takes without any object",
                     {{"limitMiB", at_start->limit / kMebibyte}, {"what to do", kAdvice}});
  }
  return absl::ZeroDuration();
}

absl::Duration MemoryWatch::Tick(const base::StopToken&) {
  DropUnusedPages();
  if (const auto use = options_.read(); use.has_value() && use->limit > 0) Look(*use);
  TrimIfUnused();
  return options_.period;
}

void MemoryWatch::DropUnusedPages() {
  const base::SteadyTime now = clock_.SteadyNow();
  if (drop_at_ == base::SteadyTime::InfinitePast()) drop_at_ = now + drop_pause_;
  if (now < drop_at_) return;
  base::DropFilePages();
  drop_pause_ = std::min(drop_pause_ * 2, kLongestDropPause);
  drop_at_ = now + drop_pause_;
}

void MemoryWatch::TrimIfUnused() {
  const base::SteadyTime now = clock_.SteadyNow();
  // mallinfo2 walks all arenas, so it is not called every half second.
  if (now - looked_at_ < kLookPause) return;
  looked_at_ = now;
  if (now - forgot_at_ >= kForgetPause) {
    forgot_at_ = now;
    // The table of shared values keeps those that nobody refers to any more until it is swept.
    json::ForgetUnused();
  }
  // What was given back still counts as unused, so only what has been added since is looked at.
  const struct mallinfo2 heap = mallinfo2();
  const size_t unused = heap.fordblks;
  if (unused < unused_before_) unused_before_ = unused;
  const size_t much = std::clamp(heap.uordblks / kUsedShare, kLeastMuch, kMostMuch);
  if (unused - unused_before_ <= much) return;
  malloc_trim(0);
  unused_before_ = mallinfo2().fordblks;
}

void MemoryWatch::Look(const base::MemoryUse& use) {
  Show(use);
  if (options_.on_use) options_.on_use(use);
  const double share = static_cast<double>(use.working_set) / static_cast<double>(use.limit);
  const base::SteadyTime now = clock_.SteadyNow();
  if (share < kTight) {
    warned_at_ = base::SteadyTime::InfinitePast();
    return;
  }
  if (now - trimmed_at_ >= kTrimPause) {
    trimmed_at_ = now;
    malloc_trim(0);
  }
  if (share < kScarce || now - warned_at_ < kWarningPause) return;
  warned_at_ = now;
  base::LogWarning("memory is nearly used up; at the limit the kernel ends the process",
                   {{"usedMiB", use.working_set / kMebibyte},
                    {"limitMiB", use.limit / kMebibyte},
                    {"what to do", kAdvice}});
}

void MemoryWatch::Show(const base::MemoryUse& use) {
  registry_.GetGauge("karmada_memory_limit_bytes", "The memory limit of the cgroup.", {})
      .Set(static_cast<double>(use.limit));
  registry_
      .GetGauge("karmada_memory_working_set_bytes",
                "Memory of the cgroup that the kernel cannot reclaim at once.", {})
      .Set(static_cast<double>(use.working_set));
}

}  // namespace kube
