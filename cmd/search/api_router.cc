#include "cmd/search/api_router.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "api/search_keys.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"
#include "search/proxy/proxy_handler.h"
#include "search/proxy/view_handler.h"

namespace cmd {
namespace {

using kube::aggregation::ApiRequest;

bool IsConnect(const kube::server::RequestInfo& info, absl::string_view resource) {
  // The verbs of the deprecated paths .../v1alpha1/watch/<resource> and .../proxy/<resource>:
  // rights were asked for something else than what the path behind them says.
  if (info.verb == "watch" || info.verb == "proxy") return false;
  return info.is_resource && info.gvr.group == api::kSearchGroup && info.gvr.resource == resource;
}

}  // namespace

kube::aggregation::RequestLength LengthOf(
    const kube::server::RequestInfo& info, const base::HttpRequest& request,
    const std::function<bool(const kube::Gvr& gvr)>& is_registered) {
  if (!IsConnect(info, "proxying")) return kube::aggregation::LengthOf(info);
  const kube::server::RequestInfo inner = kube::server::ReadRequest(
      request.method, info.sub_path, kube::server::QueryFlag(request, "watch"));
  const auto length = kube::aggregation::LengthOfForwarded(inner);
  const bool is_cached =
      length == kube::aggregation::RequestLength::kPatient && is_registered(inner.gvr);
  return is_cached ? kube::aggregation::RequestLength::kBounded : length;
}

kube::aggregation::ApiHandler* ApiRouter::HandlerOf(const ApiRequest& request) const {
  // Both have to agree: the path, which the handlers read, and its meaning, which was authorized.
  const absl::string_view path = request.http.path;
  if (search::ProxyHandler::Serves(path)) {
    return IsConnect(request.info, "proxying") ? parts_.proxy : nullptr;
  }
  if (search::ViewHandler::Serves(path)) {
    return IsConnect(request.info, "search") ? parts_.view : nullptr;
  }
  return &parts_.registries;
}

bool ApiRouter::MayBlock(const ApiRequest& request) const {
  const kube::aggregation::ApiHandler* handler = HandlerOf(request);
  return handler != nullptr && handler->MayBlock(request);
}

void ApiRouter::Handle(ApiRequest request, std::shared_ptr<base::HttpResponder> responder) {
  if (auto answer = parts_.documents.Answer(request.http)) {
    return responder->Send(*std::move(answer));
  }
  kube::aggregation::ApiHandler* handler = HandlerOf(request);
  if (handler == nullptr) {
    return responder->Send(kube::server::ErrorAnswer(kube::server::NoSuchResource()));
  }
  handler->Handle(std::move(request), std::move(responder));
}

void NothingThere::Handle(ApiRequest, std::shared_ptr<base::HttpResponder> responder) {
  responder->Send(kube::server::ErrorAnswer(kube::server::NoSuchResource()));
}

}  // namespace cmd
