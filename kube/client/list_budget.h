// Ends a list that never ends.
#ifndef KUBE_CLIENT_LIST_BUDGET_H_
#define KUBE_CLIENT_LIST_BUDGET_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace kube {

// A server may answer each page of a list with objects and one more continue token, for ever; a
// faulty one may give back the token that it got. Nothing else ends such a list, which takes a
// thread and, with objects, all memory. One budget belongs to one list. Not thread-safe.
class ListBudget {
 public:
  // The largest clusters have 150,000 pods; etcd is said to hold some million keys at most. A token
  // expires after five minutes, or a few times that.
  static constexpr int64_t kMostObjects = 1'000'000;
  static constexpr int64_t kMostPages = 50'000;
  static constexpr absl::Duration kLongest = absl::Minutes(30);

  // REQUIRES: `clock` outlives the budget.
  explicit ListBudget(const base::Clock& clock) : clock_(clock), start_(clock.SteadyNow()) {}

  // Counts a page with so many objects. kFailedPrecondition, with the reason, when it is one too
  // many.
  absl::Status Spend(size_t objects) {
    objects_ += static_cast<int64_t>(objects);
    ++pages_;
    if (objects_ > kMostObjects) return Endless(kMostObjects, " objects");
    if (pages_ > kMostPages) return Endless(kMostPages, " pages");
    if (clock_.SteadyNow() - start_ <= kLongest) return absl::OkStatus();
    return Endless("", absl::FormatDuration(kLongest));
  }

 private:
  template <class... Parts>
  static absl::Status Endless(const Parts&... limit) {
    return absl::FailedPreconditionError(
        absl::StrCat("the list has not ended after ", limit..., "; it was given up"));
  }

  const base::Clock& clock_;
  const base::SteadyTime start_;
  int64_t objects_ = 0;
  int64_t pages_ = 0;
};

}  // namespace kube

#endif  // KUBE_CLIENT_LIST_BUDGET_H_
