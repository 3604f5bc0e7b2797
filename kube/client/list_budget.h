// Ends a list that never ends.
#ifndef KUBE_CLIENT_LIST_BUDGET_H_
#define KUBE_CLIENT_LIST_BUDGET_H_

#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/client/client.h"

namespace kube {

// A faulty server may answer each page of a list with one more continue token, for ever, may give
// back the token that it got, or send the same objects again. A list is given up when a token is
// sent again with a page that has no new object, after kMostBarrenPages, or after kLongest. It is
// never given up because it is long. One budget belongs to one list. Not thread-safe.
class ListBudget {
 public:
  // Pages in a row without an object that has not come before. A server that filters behind its
  // storage may send empty pages.
  static constexpr int kMostBarrenPages = 1'000;
  // A token expires after five minutes, or a few times that.
  static constexpr absl::Duration kLongest = absl::Minutes(30);

  // REQUIRES: `clock` outlives the budget.
  explicit ListBudget(const base::Clock& clock) : clock_(&clock), start_(clock.SteadyNow()) {}

  // Counts a page. kFailedPrecondition, with the reason, when the list repeats itself or takes too
  // long.
  absl::Status Spend(const ListPage& page);
  // Returns how much memory it takes, roughly: some ten bytes for each object. The server chooses
  // how many there are, also of those that its reader has no use for.
  size_t bytes() const;

 private:
  const base::Clock* clock_;
  base::SteadyTime start_;
  // Hashes of the tokens, and of the objects by namespace and name.
  absl::flat_hash_set<size_t> tokens_;
  absl::flat_hash_set<size_t> objects_;
  int barren_pages_ = 0;
};

}  // namespace kube

#endif  // KUBE_CLIENT_LIST_BUDGET_H_
