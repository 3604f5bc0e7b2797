#include "search/registry/registry_handler.h"

#include <utility>

#include "search/registry/secret_rights.h"

namespace search {

bool RegistryHandler::MayBlock(const kube::aggregation::ApiRequest& request) const {
  if (!RegistryApi::Serves(request.info)) return next_.MayBlock(request);
  return request.info.verb != "watch";  // A watch is served from memory.
}

void RegistryHandler::Handle(kube::aggregation::ApiRequest request,
                             std::shared_ptr<base::HttpResponder> responder) {
  if (!RegistryApi::Serves(request.info)) {
    next_.Handle(std::move(request), std::move(responder));
    return;
  }
  if (request.info.verb == "watch") {
    api_.Watch(request.http, request.info, responder, request.stop);
    return;
  }
  RegistryApi::MirrorRight may_mirror;
  if (authorizer_ != nullptr) {
    may_mirror = [&](const api::OpenSearchTarget& target) {
      return MaySendSecret(*authorizer_, clock_, request.user, target, request.stop);
    };
  }
  responder->Send(api_.Answer(request.http, request.info, request.stop, may_mirror));
}

}  // namespace search
