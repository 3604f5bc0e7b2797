// Reads a JSON document of any path of an API server: for APIs whose paths are not those of
// objects, such as custom metrics.
#ifndef KUBE_CLIENT_DOCUMENT_H_
#define KUBE_CLIENT_DOCUMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/client/client.h"

namespace kube {

struct DocumentPath {
  std::vector<std::string> segments;  // {"apis", "metrics.k8s.io", "v1beta1"}, not escaped.
  // Names and values, not escaped; parameters without a value are left out.
  std::vector<std::pair<std::string, std::string>> query;
};

// Sends a GET; reads that fail are repeated within the deadline as those of Client. Errors are
// those of Client::Get; kInvalidArgument if a segment is empty, "." or "..", which would change
// the path's meaning; kResourceExhausted for a document of more than 16 MiB.
absl::StatusOr<json::Value> GetDocument(Client& client, const DocumentPath& path,
                                        absl::Duration timeout, const base::StopToken& stop);

}  // namespace kube

#endif  // KUBE_CLIENT_DOCUMENT_H_
