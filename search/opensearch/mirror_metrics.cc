#include "search/opensearch/mirror_metrics.h"

namespace search {

MirrorMetrics::MirrorMetrics(metrics::Registry* registry) : registry_(registry) {
  if (registry == nullptr) return;
  series_ = {
      .written = &registry->GetCounter("karmada_search_opensearch_documents_written_total",
                                       "Documents written to OpenSearch."),
      .deleted = &registry->GetCounter("karmada_search_opensearch_documents_deleted_total",
                                       "Documents deleted from OpenSearch."),
      .conflicts = &registry->GetCounter("karmada_search_opensearch_conflicts_total",
                                         "Writes refused because the document is as new."),
      .retries = &registry->GetCounter("karmada_search_opensearch_retries_total",
                                       "Writes that were tried again."),
      .pending = &registry->GetGauge("karmada_search_opensearch_pending_documents",
                                     "Documents that wait to be written or deleted."),
      .dead = &registry->GetGauge("karmada_search_opensearch_dead_letters",
                                  "Documents that OpenSearch refuses for their contents."),
      .connected = &registry->GetGauge("karmada_search_opensearch_connected",
                                       "How many OpenSearch back ends answer."),
  };
}

MirrorMetrics::~MirrorMetrics() {
  MirrorStatus gone = last_;
  gone.pending = gone.dead_letters = 0;
  gone.connected = false;
  Report(gone);
}

void MirrorMetrics::Report(const MirrorStatus& status) {
  if (registry_ == nullptr) return;
  series_.written->Increment(static_cast<double>(status.written - last_.written));
  series_.deleted->Increment(static_cast<double>(status.deleted - last_.deleted));
  series_.conflicts->Increment(static_cast<double>(status.conflicts - last_.conflicts));
  series_.retries->Increment(static_cast<double>(status.retries - last_.retries));
  series_.pending->Add(static_cast<double>(status.pending) - static_cast<double>(last_.pending));
  series_.dead->Add(static_cast<double>(status.dead_letters) -
                    static_cast<double>(last_.dead_letters));
  series_.connected->Add((status.connected ? 1 : 0) - (last_.connected ? 1 : 0));
  last_ = status;
}

}  // namespace search
