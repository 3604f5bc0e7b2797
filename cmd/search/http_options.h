// How the HTTP server of karmada-search listens, and what it refuses before anybody reads it.
#ifndef CMD_SEARCH_HTTP_OPTIONS_H_
#define CMD_SEARCH_HTTP_OPTIONS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "base/metrics.h"
#include "cmd/search/options.h"
#include "kube/aggregation/authenticator.h"
#include "kube/aggregation/refusals.h"

namespace cmd {

// Returns how many threads receive and send, and how many write watches.
int ServerThreads(const ServingOptions& serving);

// Returns how many watches and sessions there may be: four of five connections.
int MaxLongRunning(const ServingOptions& serving);

// Returns what counts bodies for which there is no room, and words their refusal.
kube::aggregation::Refusals BodyRefusals(metrics::Registry& registry);

// Without a certificate in the options it is one that signs itself. REQUIRES: `refused_bodies`
// outlives the server.
absl::StatusOr<base::HttpServerOptions> HttpOptions(
    const ServingOptions& serving, const kube::aggregation::Refusals& refused_bodies);

// Refuses, with a 401, a body of more than 16 KiB, or one of unknown length, from a client that
// shows no credentials: it may write nothing, and would fill the memory.
std::optional<base::HttpResponse> CheckHead(const base::HttpRequest& head);

// If the client shows credentials, they are verified before such a body is read: anybody can invent
// some. 401 if they are not valid; 429 or 503 while that cannot be determined. So what may be kept
// of clients that nobody knows is bounded by the number of connections. REQUIRES: the authenticator
// outlives the server.
base::HttpHeadReview ReviewOfLongBodies(kube::aggregation::Authenticator& authenticator);

}  // namespace cmd

#endif  // CMD_SEARCH_HTTP_OPTIONS_H_
