// How long a request may take, and whether it counts as one that is being executed.
#ifndef KUBE_AGGREGATION_REQUEST_LENGTH_H_
#define KUBE_AGGREGATION_REQUEST_LENGTH_H_

#include "kube/server/request_info.h"

namespace kube::aggregation {

enum class RequestLength {
  kBounded,  // Has the server's deadline, and counts.
  // Counts, but has no other deadline than the one that the client asks for with ?timeout=. For
  // reads that the server forwards, of which it does not know how long they take.
  kPatient,
  kLongRunning,  // Has no deadline and does not count: a watch, a log, a session.
};

// Upstream's BasicLongRunningRequestCheck: watches, and the subresources attach, exec, proxy, log
// and portforward, are long-running; everything else is bounded.
RequestLength LengthOf(const server::RequestInfo& info);

// As above, for a request to a proxy, where `inner` is what the path inside its path stands for. A
// list that is forwarded is patient; upstream bounds it, and cuts it after a minute.
RequestLength LengthOfForwarded(const server::RequestInfo& inner);

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_REQUEST_LENGTH_H_
