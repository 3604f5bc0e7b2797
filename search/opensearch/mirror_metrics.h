// The metrics of a mirror; nothing happens without a registry.
#ifndef SEARCH_OPENSEARCH_MIRROR_METRICS_H_
#define SEARCH_OPENSEARCH_MIRROR_METRICS_H_

#include "base/metrics.h"
#include "search/opensearch/mirror.h"

namespace search {

class MirrorMetrics {
 public:
  explicit MirrorMetrics(metrics::Registry* registry);
  ~MirrorMetrics();  // Takes back what the mirror contributed to gauges.
  MirrorMetrics(const MirrorMetrics&) = delete;
  // Reports the difference to the last call. Calls come one after the other.
  void Report(const MirrorStatus& status);

 private:
  struct Series {
    metrics::Counter *written, *deleted, *conflicts, *retries;
    metrics::Gauge *pending, *dead, *connected;
  };
  metrics::Registry* const registry_;
  Series series_ = {};
  MirrorStatus last_;
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_MIRROR_METRICS_H_
