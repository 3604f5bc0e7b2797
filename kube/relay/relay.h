// Joins a request that a server of ours has got with a Forwarder: the whole of a reverse proxy.
#ifndef KUBE_RELAY_RELAY_H_
#define KUBE_RELAY_RELAY_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/stop_token.h"
#include "kube/http/forwarder.h"

namespace kube {

struct RelayOptions {
  std::string path;  // Escaped path with query at the server; see ForwardRequest::path.
  // Added to the request's own headers, whose fields of the same names are left out:
  // Impersonate-User and so on. The request's own Authorization, Impersonate-* and X-Remote-* are
  // never passed on.
  HeaderFields set_headers;
  absl::Duration connect_timeout = absl::Seconds(30);
  absl::Duration head_timeout = absl::Seconds(60);  // Infinite for long-running requests.
  // When a stop is requested the request ends: a chunked body and an upgraded connection properly,
  // a body of known length by a cut; before the head of the answer with on_error (kCancelled).
  base::StopToken stop;
  // The credentials of the request are those of the relaying program, so that a 401 is not about
  // the client: it becomes on_error (kPermissionDenied).
  bool own_credentials = false;
  // Returns the answer for a request that could not be forwarded, or whose answer broke off before
  // any of it was passed on; see ForwardCallbacks::on_end. Besides, kInternal: an upgrade was
  // answered by neither 101 nor an error. REQUIRES: is set; thread-safe.
  std::function<base::HttpResponse(const absl::Status& error)> on_error;
  // Gets the body of a 403 of up to 32 KiB before the client does. If it returns true, that answer
  // is dropped, and the function takes care that the client gets another one. Optional. Must not
  // block.
  std::function<bool(absl::string_view body)> on_forbidden;
};

// Sends `request` (its method, headers and body) to the forwarder's server and passes the answer on
// as it arrives, at the speed of the slower side; relays an upgrade to WebSocket or SPDY/3.1 until
// either side ends, and asks for no other one, as a server is free to do. When the client closes
// the connection, the forwarded request is cancelled.
//
// X-Forwarded-For gets the client's address appended; X-Forwarded-Host, -Proto and -Uri are set to
// what the client asked for, as k8s.io/apimachinery/pkg/util/proxy does. Host is the server's.
// Headers of the answer are passed on except hop-by-hop ones. Does not block.
void Relay(const base::HttpRequest& request, std::shared_ptr<base::HttpResponder> responder,
           Forwarder& forwarder, RelayOptions options);

}  // namespace kube

#endif  // KUBE_RELAY_RELAY_H_
