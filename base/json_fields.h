// Which fields of a document are wanted, so that nothing else of it is built while it is read.
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

// A tree of names. Immutable, so that any number of threads may use one.
class Fields {
 public:
  // Each path is the names of nested members, with dots between them; "*" stands for every element
  // of an array. What the last name of a path leads to is wanted as a whole. No paths: everything
  // is. `prefix` ("items.*") precedes each path.
  explicit Fields(absl::Span<const std::string> paths, absl::string_view prefix = "");

  // What is wanted of the member of that name; nullptr: nothing.
  const Fields* Find(absl::string_view name) const;
  bool wants_all() const { return members_.empty(); }

 private:
  Fields() = default;
  void Add(absl::Span<const absl::string_view> names);

  std::vector<std::pair<std::string, Fields>> members_;
};

}  // namespace json

#endif  // BASE_JSON_FIELDS_H_
