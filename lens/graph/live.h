// The graph of a live control plane.
#ifndef LENS_GRAPH_LIVE_H_
#define LENS_GRAPH_LIVE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "interpreter/customized/customization_set.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/names.h"
#include "lens/graph/graph.h"

namespace lens::graph {

struct LiveQuestion {
  // An object that is shown even if nothing propagates it. Optional.
  kube::Resource resource;
  kube::ObjectKey key;
  std::string ns;  // What may not be read of all namespaces is read of this one, unless it is "".
  interpreter::customized::MergeOptions merge;  // As the daemon puts customizations together.
};

// Reads policies, bindings, Works, clusters and templates, and never writes. What templates need is
// what their bindings record, what the interpreter says (webhooks are not called), and what is
// attached to them. What could not be read is in Graph::unread, and nothing is concluded from its
// absence. kNotFound for a server that is not a Karmada control plane, kPermissionDenied when
// neither bindings could be read nor an object was asked about.
absl::StatusOr<Graph> GraphOfLive(kube::Client& client, const kube::Discovery& discovery,
                                  const LiveQuestion& question, const base::StopToken& stop);

}  // namespace lens::graph

#endif  // LENS_GRAPH_LIVE_H_
