// Answers lists of the view from OpenSearch.
#ifndef CMD_SEARCH_OPENSEARCH_VIEW_H_
#define CMD_SEARCH_OPENSEARCH_VIEW_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/http_server.h"
#include "kube/aggregation/api_handler.h"
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
  };
  // REQUIRES: what the parts refer to outlives the object.
  explicit OpenSearchView(Parts parts) : parts_(std::move(parts)) {}

  // `request.http` and `request.info` are those of the request for the resource. Blocks.
  void Handle(const kube::aggregation::ApiRequest& request, base::HttpResponder& responder) const;

 private:
  absl::StatusOr<base::HttpResponse> Answer(const kube::aggregation::ApiRequest& request) const;

  const Parts parts_;
  const search::CustomKinds no_kinds_;
};

}  // namespace cmd

#endif  // CMD_SEARCH_OPENSEARCH_VIEW_H_
