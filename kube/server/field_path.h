// Paths of fields as messages of the API spell them: "spec.hard[pods]", "spec.items[0]".
#ifndef KUBE_SERVER_FIELD_PATH_H_
#define KUBE_SERVER_FIELD_PATH_H_

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kube::server {

inline std::string FieldPath(absl::string_view parent, absl::string_view name) {
  return parent.empty() ? std::string(name) : absl::StrCat(parent, ".", name);
}
inline std::string FieldPath(absl::string_view parent, size_t index) {
  return absl::StrCat(parent, "[", index, "]");
}

}  // namespace kube::server

#endif  // KUBE_SERVER_FIELD_PATH_H_
