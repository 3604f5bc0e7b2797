// Builds paths of the Kubernetes API.
#ifndef KUBE_CLIENT_URL_H_
#define KUBE_CLIENT_URL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/meta/names.h"

namespace kube {

// Percent-encodes everything that is not allowed literally in one path segment or query value.
std::string EscapeSegment(absl::string_view text);
std::string EscapeQuery(absl::string_view text);

// Returns "/api/v1" or "/apis/apps/v1".
std::string GroupVersionPath(absl::string_view group, absl::string_view version);

// Returns whether the text can be one segment of a path and nothing else: servers decode "%2F"
// before they take a path apart, and "..", in whatever form, addresses another resource.
bool IsPathSegment(absl::string_view text);

// Returns the path of all objects, or of those of one namespace. kInvalidArgument when that would
// change the path's meaning.
absl::StatusOr<std::string> CollectionPath(const Resource& r, absl::string_view ns);

// kInvalidArgument when the name, or the namespace of a namespaced resource, is missing or would
// change the path's meaning ("" addresses the collection, ".." another resource).
absl::StatusOr<std::string> ObjectPath(const Resource& r, const ObjectKey& key,
                                       absl::string_view subresource);

// Builds "?a=b&c=d"; empty values are left out.
class Query {
 public:
  Query& Add(absl::string_view name, absl::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace kube

#endif  // KUBE_CLIENT_URL_H_
