// Forgets old revisions of etcd, as apiserver's compactor does: --etcd-compaction-interval.
//
// Every server that uses an etcd may run one. They agree by a key, compact_rev_key, which counts
// the rounds: whoever raises it first compacts up to the revision of the previous round, so that
// every revision is kept for at least one interval.
#ifndef SEARCH_REGISTRY_ETCD_COMPACTOR_H_
#define SEARCH_REGISTRY_ETCD_COMPACTOR_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "search/registry/etcd_gateway.h"
#include "search/registry/etcd_store.h"

namespace search {

class EtcdCompactor {
 public:
  // The errors are those of NewEtcdStore. REQUIRES: `clock` outlives the compactor.
  static absl::StatusOr<std::unique_ptr<EtcdCompactor>> Create(const EtcdOptions& options,
                                                               const base::Clock& clock);
  EtcdCompactor(std::unique_ptr<EtcdGateway> gateway, absl::Duration timeout,
                const base::Clock& clock)
      : gateway_(std::move(gateway)), timeout_(timeout), clock_(clock) {}

  // Makes one round each interval until stopped; failures are logged. An interval of 0 turns
  // compaction off: it returns at once. Blocks.
  void Run(absl::Duration interval, const base::StopToken& stop);
  // Makes one round. Returns whether this process was the one that compacted.
  absl::StatusOr<bool> Round(const base::StopToken& stop);

 private:
  const std::unique_ptr<EtcdGateway> gateway_;
  const absl::Duration timeout_;
  const base::Clock& clock_;
  int64_t round_ = 0;     // The version of the key that this process expects.
  int64_t revision_ = 0;  // The revision of the round before.
};

}  // namespace search

#endif  // SEARCH_REGISTRY_ETCD_COMPACTOR_H_
