// Which requests are let in, before anything is read for them.
#ifndef LENS_SERVE_ACCESS_H_
#define LENS_SERVE_ACCESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/http_server.h"

namespace lens::serve {

enum class Mode {
  kLocal,   // On the loopback address, without TLS: all have the rights of the kubeconfig.
  kTokens,  // Over TLS: each viewer shows a bearer token, whose rights count.
  kUsers,   // Over TLS, behind the API server, which names the users, whose rights count.
};

// Returns whether the host of an address to listen on is this machine alone.
bool IsLoopback(absl::string_view host);

// kPermissionDenied for what another site may have made a browser send: a Host that is not local
// (DNS rebinding), or a question that a page of another origin asks. kUnimplemented for methods
// other than GET and HEAD. kInvalidArgument for a target that is too long.
absl::Status CheckRequest(Mode mode, const base::HttpRequest& request);

// Returns the bearer token. kUnauthenticated when there is none, or more than one could be.
absl::StatusOr<std::string> TokenOf(const base::HttpRequest& request);

}  // namespace lens::serve

#endif  // LENS_SERVE_ACCESS_H_
