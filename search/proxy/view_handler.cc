#include "search/proxy/view_handler.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/search_keys.h"
#include "base/status.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"
#include "search/proxy/internal/completeness.h"
#include "search/proxy/internal/inner_request.h"
#include "search/proxy/internal/read_rights.h"
#include "search/proxy/internal/routing.h"
#include "search/proxy/internal/view_request.h"

namespace search {
namespace {

// An OpenSearch that does not answer holds up no more than these.
constexpr int kSearchThreads = 16;
constexpr size_t kMaxWaitingSearches = 64;

}  // namespace

ViewHandler::ViewHandler(Parts parts)
    : parts_(std::move(parts)),
      refused_(parts_.registry, "searches",
               "As many searches in OpenSearch wait for a thread as may; one user gets half of "
               "these places at most."),
      searches_("searches", kSearchThreads, kMaxWaitingSearches) {}

bool ViewHandler::Serves(absl::string_view path) { return IsViewPath(path); }

void ViewHandler::Handle(kube::aggregation::ApiRequest request,
                         std::shared_ptr<base::HttpResponder> responder) {
  const absl::Status refused = TryHandle(std::move(request), responder);
  if (!refused.ok()) responder->Send(kube::server::ErrorAnswer(refused));
}

absl::Status ViewHandler::TryHandle(kube::aggregation::ApiRequest request,
                                    const std::shared_ptr<base::HttpResponder>& responder) {
  ASSIGN_OR_RETURN(ViewRequest view, ViewRequestOf(std::move(request.http)));
  request.http = std::move(view.request);
  request.info = view.info;
  // One object is a list of those of this name.
  request.info.verb = "list";
  ASSIGN_OR_RETURN(const std::optional<bool> complete, CompleteDemanded(request.http));
  const std::string cluster(request.http.Query(api::kClusterParameter));
  if (!cluster.empty()) RETURN_IF_ERROR(CheckClusterName(cluster));
  if (view.category == ViewRequest::Category::kOpenSearch) {
    if (complete.value_or(false)) {
      return kube::server::BadRequest(
          "whether OpenSearch has everything is not known to a list; the condition Mirrored of the "
          "ResourceRegistries says it");
    }
    if (!parts_.open_search) {
      return kube::server::NotImplemented("no ResourceRegistry has an OpenSearch");
    }
    WithReadRights(parts_.read_authorizer, std::move(request), responder,
                   [this, responder](const ReadRequestPtr& read) {
                     RunRead(searches_, refused_, kube::aggregation::ShareOwner(read->user),
                             responder, [this, read, responder] {
                               parts_.open_search(std::move(*read), responder);
                               return absl::OkStatus();
                             });
                   });
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const bool registered, parts_.is_registered(request.info, cluster));
  if (!registered) {
    return kube::server::ToStatus(
        {404,
         "NotFound",
         absl::StrCat("no ResourceRegistry selects ", request.info.gvr.ToString(),
                      cluster.empty() ? "" : " of cluster ", cluster,
                      cluster.empty() ? std::string()
                                      : SelectedIn(parts_.cache.ClustersOf(request.info.gvr))),
         {}});
  }
  const ReadTerms terms{cluster, complete.value_or(parts_.complete)};
  parts_.cache.Answer(std::move(request), terms, responder);
  return absl::OkStatus();
}

}  // namespace search
