// Answers with warnings about members that could not be looked into.
#ifndef SEARCH_PROXY_INTERNAL_WARNED_RESPONDER_H_
#define SEARCH_PROXY_INTERNAL_WARNED_RESPONDER_H_

#include <memory>
#include <vector>

#include "base/http_server.h"
#include "kube/server/api_errors.h"
#include "search/cache/list_answer.h"

namespace search {

// Returns a responder that answers by `responder`, and adds to every answer a header Warning for
// each member that has not been read and may have the object of the request, too. Stale members are
// left out. Without any it is `responder` itself.
std::shared_ptr<base::HttpResponder> WarnedOfUnread(std::shared_ptr<base::HttpResponder> responder,
                                                    std::vector<MissingCluster> unread);

// Returns a responder that answers by `responder`, and adds to every answer a header Warning that
// the resource is in no registry, so that the request was one to the control plane.
std::shared_ptr<base::HttpResponder> WarnedOfControlPlane(
    std::shared_ptr<base::HttpResponder> responder, const kube::server::GroupName& resource);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_WARNED_RESPONDER_H_
