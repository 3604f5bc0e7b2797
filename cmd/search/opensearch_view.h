// Answers lists of the view from OpenSearch.
#ifndef CMD_SEARCH_OPENSEARCH_VIEW_H_
#define CMD_SEARCH_OPENSEARCH_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/fair_share.h"
#include "base/http_server.h"
#include "base/metrics.h"
#include "kube/aggregation/api_handler.h"
#include "kube/aggregation/refusals.h"
#include "kube/meta/names.h"
#include "search/opensearch/mirror_set.h"
#include "search/proxy/custom_kinds.h"

namespace cmd {

// Thread-safe.
class OpenSearchView {
 public:
  struct Parts {
    // Returns the registered resource; nullopt when no registry names it.
    std::function<std::optional<kube::Resource>(const kube::Gvr& gvr)> resource;
    const search::MirrorSet& mirrors;
    std::string index_prefix;
    const base::Clock& clock;
    // The columns of custom kinds. Optional.
    const search::CustomKinds* kinds = nullptr;
    metrics::Registry* registry = nullptr;  // Counts what is refused. Optional.
    // Bounds what all searches have read and found and what is being sent of it; each user has a
    // share (base::FairShare).
    int64_t max_bytes = 256 << 20;
  };
  // REQUIRES: what the parts refer to outlives the object.
  explicit OpenSearchView(Parts parts);

  // `request.http` and `request.info` are those of the request for the resource. Blocks.
  void Handle(const kube::aggregation::ApiRequest& request, base::HttpResponder& responder) const;

 private:
  absl::StatusOr<base::HttpResponse> Answer(const kube::aggregation::ApiRequest& request) const;

  // Takes memory for as long as what it returns is kept; 429 if there is too much.
  absl::StatusOr<std::shared_ptr<const void>> Take(const std::string& owner, size_t bytes) const;

  const Parts parts_;
  const search::CustomKinds no_kinds_;
  mutable base::FairShare memory_{parts_.max_bytes};
  const kube::aggregation::Refusals refused_;
};

}  // namespace cmd

#endif  // CMD_SEARCH_OPENSEARCH_VIEW_H_
