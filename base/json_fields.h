// Selects fields of a document, so that nothing else of it is built while it is read.
//
//   const json::Fields fields({"metadata.name", "spec.containers.*.resources"});
//   json::Parse(text, {.kept = &fields});
#ifndef BASE_JSON_FIELDS_H_
#define BASE_JSON_FIELDS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace json {

// A tree of names. Immutable, so that any number of threads may use one object.
class Fields {
 public:
  // Each path consists of the names of nested members, separated by dots; "*" stands for every
  // element of an array. The member at the end of a path is selected whole. An empty list of paths
  // selects everything. `prefix` ("items.*") precedes each path.
  explicit Fields(absl::Span<const std::string> paths, absl::string_view prefix = "");

  // Returns the selection for the member of that name; nullptr when the member is not selected.
  const Fields* Find(absl::string_view name) const;
  bool wants_all() const { return members_.empty(); }

 private:
  Fields() = default;
  void Add(absl::Span<const absl::string_view> names);

  std::vector<std::pair<std::string, Fields>> members_;
};

}  // namespace json

#endif  // BASE_JSON_FIELDS_H_
