// Errors in the words of Kubernetes' Go client. Messages that controllers show to users are part of
// the product: programs and runbooks look for upstream's text, which is what its client says.
//
//   const absl::Status shown = kube::InGoWords(error, kube::GoCall("get", resource, name));
#ifndef KUBE_CLIENT_GO_WORDS_H_
#define KUBE_CLIENT_GO_WORDS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/meta/names.h"

namespace kube {

// Returns the error with the message that client-go gives it: that of the server's Status object
// alone; for any other answer what client-go says instead of it, followed by `call` in parentheses
// unless that is empty. An error that no server sent stays as it is. The code stays, and what
// kube/client/errors.h needs.
absl::Status InGoWords(const absl::Status& error, absl::string_view call);

// Returns a request as client-go names it: "get deployments.apps web". `verb` is the HTTP method in
// small letters; without a name it ends with the resource.
std::string GoCall(absl::string_view verb, const Resource& resource, absl::string_view name = "");

}  // namespace kube

#endif  // KUBE_CLIENT_GO_WORDS_H_
