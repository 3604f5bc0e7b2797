// Which OpenSearch each address leads to, and which mirror of this process works on it.
//
// Two addresses may lead to the same OpenSearch. Two mirrors there would delete one another's
// documents, so that a mirror claims the OpenSearch that it has found before it writes or deletes.
//
// The addresses of one mirror may lead to different ones, by mistake or for a while. Then that of
// the first address, in their order, counts: every replica and every later process decides so.
#ifndef SEARCH_OPENSEARCH_CLUSTER_CLAIMS_H_
#define SEARCH_OPENSEARCH_CLUSTER_CLAIMS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "search/opensearch/mirror.h"
#include "search/opensearch/opensearch_client.h"

namespace search {

// The cluster_uuid behind each address that answered; "" where a gateway leaves it out.
using ClusterIds = std::map<std::string, std::string>;

// What a look at some addresses has found.
struct ClusterLook {
  ClusterIds ids;
  // Addresses with something else than OpenSearch 2.7 or newer (which has flat_object), and what.
  std::map<std::string, std::string> unfit;
};

// Asks the addresses at these positions which OpenSearch they lead to, briefly. An address without
// an answer is left out. When there is no id at all, returns the error of one address;
// kFailedPrecondition when it is unfit.
absl::StatusOr<ClusterLook> LookAtClusters(OpenSearchClient& client,
                                           const std::vector<size_t>& positions,
                                           const base::StopToken& stop);

// Thread-safe. Mirrors are numbered by their owner.
class ClusterClaims {
 public:
  // Notes where some of the mirror's addresses lead to. OK: the mirror is the only one there until
  // Release, and may use those of `found` that the grant names; there may be none. kUnavailable:
  // another mirror works there.
  absl::StatusOr<ClusterGrant> Claim(int64_t mirror, const std::vector<std::string>& addresses,
                                     const ClusterIds& found);
  void Release(int64_t mirror);
  bool HasClaim(int64_t mirror) const;
  // Where the first of these addresses of which it is known led to when it was last asked; "" if it
  // is known of none.
  std::string ClusterOf(const std::vector<std::string>& addresses) const;

  // Waits for a call of Claim that changed something or failed, and returns true; or for a call of
  // Wake, the deadline or a stop, and returns false.
  bool AwaitChange(const base::Clock& clock, base::SteadyTime deadline,
                   const base::StopToken& stop);
  void Wake();

 private:
  std::string FirstKnown(const std::vector<std::string>& addresses) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  std::map<std::string, std::string> by_address_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, std::string> by_mirror_ ABSL_GUARDED_BY(mu_);
  bool changed_ ABSL_GUARDED_BY(mu_) = false;
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_CLUSTER_CLAIMS_H_
