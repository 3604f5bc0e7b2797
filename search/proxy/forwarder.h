// Sends a request on to one server and its answer back, whatever they are: watches, logs that are
// followed, changes of protocol.
#ifndef SEARCH_PROXY_FORWARDER_H_
#define SEARCH_PROXY_FORWARDER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/stop_token.h"

namespace search {

struct ForwardedRequest {
  // As the caller sent it, but for the body, and without anything that says who the caller is. Its
  // target is that of the outer request, about which the server is told by X-Forwarded-Uri.
  base::HttpRequest request;
  std::string target;  // The path with query at the server.
  // Impersonate-User and so on.
  std::vector<std::pair<std::string, std::string>> identity;
  // From the connection to the head of the answer; infinite for long-running requests.
  absl::Duration head_timeout = absl::InfiniteDuration();
  // An application behind the server answers (.../pods/web/proxy), not the server itself.
  bool of_application = false;
  // Requested when this program ends or nobody wants the answer any more: a watch or session that
  // is under way ends.
  base::StopToken stop;
  // Is let go of when the request has ended. Optional.
  std::shared_ptr<const void> held;
};

// Thread-safe.
class Forwarder {
 public:
  // Gets the body of a 403 before the client does. If it returns true, that answer is dropped, and
  // the function has taken care that the client gets another one. Optional.
  using OnForbidden = std::function<bool(absl::string_view body)>;

  virtual ~Forwarder() = default;
  // Authenticates by the server's credentials and relays head and body of the answer as they come.
  // A server that does not answer becomes a 503 that names it, and so does one that does not know
  // this program's credentials: its 401 is not about the caller's. Does not block.
  virtual void Forward(ForwardedRequest request, std::shared_ptr<base::HttpResponder> responder,
                       OnForbidden on_forbidden) = 0;
  // As kube::Transport::ReplaceToken().
  virtual bool ReplaceToken(const std::string& token) = 0;
};

// Thread-safe.
class MemberForwarders {
 public:
  virtual ~MemberForwarders() = default;
  // Returns what sends requests to the member with the token of its ServiceAccount
  // karmada-impersonator. API errors: 404 for a cluster that does not exist; 500, with upstream's
  // texts, for one without such a token or an address. Does not block.
  virtual absl::StatusOr<std::shared_ptr<Forwarder>> For(const std::string& cluster) = 0;
};

}  // namespace search

#endif  // SEARCH_PROXY_FORWARDER_H_
