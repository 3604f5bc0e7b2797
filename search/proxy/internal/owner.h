// Determines which member cluster a request for one object goes to.
#ifndef SEARCH_PROXY_INTERNAL_OWNER_H_
#define SEARCH_PROXY_INTERNAL_OWNER_H_

#include <string>

#include "absl/status/statusor.h"
#include "kube/meta/names.h"
#include "kube/server/request_info.h"
#include "search/proxy/cached_reads.h"
#include "search/proxy/internal/inner_request.h"

namespace search {

// What is known of a named object.
struct OwnerHints {
  Holders holders;
  std::string origin;  // WriteBody::origin().
  // No member that has not been read may have it, too (InnerRequest::complete).
  bool complete = false;
};

// Returns the object that a request with a name is for. The subresource "proxy" of pods, services
// and nodes takes "<scheme>:<name>:<port>", "<name>:<port>" or "<name>" in the place of the name,
// as k8s.io/apimachinery/pkg/util/net.SplitSchemeNamePort reads it; 400, as of an API server, for
// anything else.
absl::StatusOr<kube::ObjectKey> ObjectOf(const kube::server::RequestInfo& info);

// Returns the member. The caller's choice comes first, but for a PUT of what was read from another
// member, which is a 409; then the member from which the object in the body was read, if it has the
// object; and if the body does not say that, the only member that has the object.
//
// The errors are API errors: 404 when no member has the object, and 409 when several have one,
// naming them in order, both with upstream's texts; 409 when the member that the body names does
// not have it any more; 503 (LackError) when a first list that has just begun could show that
// another member has it, too (only what changes nothing, a log or a status, goes to the one that is
// known to have it), when no member is known to have it and MayExist, and when the member that the
// body names has not been read. Members that cannot be read, or take long to be read, stop nothing
// that is for an object of another one.
absl::StatusOr<std::string> OwnerOf(const InnerRequest& inner, OwnerHints hints);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_OWNER_H_
