// Which OpenSearch each address leads to, and which mirror of this process works on it.
//
// Two addresses may lead to the same OpenSearch. Two mirrors there would delete one another's
// documents, so that a mirror claims the OpenSearch that it has found before it writes or deletes.
#ifndef SEARCH_OPENSEARCH_CLUSTER_CLAIMS_H_
#define SEARCH_OPENSEARCH_CLUSTER_CLAIMS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "search/opensearch/opensearch_client.h"

namespace search {

// The cluster_uuid behind each address that answered; "" where a gateway leaves it out.
using ClusterIds = std::map<std::string, std::string>;

// Asks each address of the client which OpenSearch it leads to, briefly. An address without an
// answer is left out; the error of one is returned when none answers. kFailedPrecondition when one
// is something else than OpenSearch 2.7 or newer (which has flat_object).
absl::StatusOr<ClusterIds> ReadClusterIds(OpenSearchClient& client, const base::StopToken& stop);

// Thread-safe. Mirrors are numbered by their owner.
class ClusterClaims {
 public:
  // Notes where the addresses lead to. OK: the mirror is the only one there until Release.
  // kUnavailable: another one is. kFailedPrecondition: they lead to different OpenSearches.
  absl::Status Claim(int64_t mirror, const ClusterIds& found);
  void Release(int64_t mirror);
  bool HasClaim(int64_t mirror) const;
  // Where the address led to when it was last asked; "" if that is not known.
  std::string IdOf(const std::string& address) const;

  // Waits for a call of Claim that changed something or failed, and returns true; or for a call of
  // Wake, the deadline or a stop, and returns false.
  bool AwaitChange(const base::Clock& clock, base::SteadyTime deadline,
                   const base::StopToken& stop);
  void Wake();

 private:
  mutable absl::Mutex mu_;
  std::map<std::string, std::string> by_address_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, std::string> by_mirror_ ABSL_GUARDED_BY(mu_);
  bool changed_ ABSL_GUARDED_BY(mu_) = false;
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_CLUSTER_CLAIMS_H_
