// The page /statusz, which API servers have by default since Kubernetes 1.36 (ComponentStatusz):
// what runs here, since when, and which other pages there are.
#ifndef KUBE_AGGREGATION_STATUSZ_H_
#define KUBE_AGGREGATION_STATUSZ_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/http_server.h"

namespace kube::aggregation {

struct Statusz {
  absl::Time started;
  std::string version;             // Of Kubernetes, as which the server behaves: "1.36".
  std::vector<std::string> paths;  // Of pages for operators, in alphabetical order.
};

// Returns text for people, or a Statusz of config.k8s.io, v1beta1 or v1alpha1, for a client whose
// Accept names it: "application/json;as=Statusz;v=v1beta1;g=config.k8s.io", or YAML. 406 when the
// header names neither. The first clause that can be served counts, whatever its q.
base::HttpResponse StatuszAnswer(const base::HttpRequest& request, const Statusz& about,
                                 absl::Time now);

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_STATUSZ_H_
