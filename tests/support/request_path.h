// Splits the path of a request to an API server into resource, object and subresource.
#ifndef TESTS_SUPPORT_REQUEST_PATH_H_
#define TESTS_SUPPORT_REQUEST_PATH_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "kube/meta/names.h"

namespace tests {

struct RequestPath {
  std::string collection;  // "apps/v1/deployments"; empty for discovery.
  kube::ObjectKey key;     // The name is empty for a collection.
  std::string subresource;
  std::map<std::string, std::string> query;  // Unescaped.

  // Parses a path such as "/apis/apps/v1/namespaces/a/deployments/b/status?key=value", as
  // kube::Client writes it. A path without resource is discovery. Nothing is checked.
  static RequestPath Parse(absl::string_view text);

  // Returns the value of the query's parameter; "" if it is not there.
  std::string Parameter(const std::string& name) const;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_REQUEST_PATH_H_
