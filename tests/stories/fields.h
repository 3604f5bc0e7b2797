// Compares JSON values field by field, and names the fields that differ.
#ifndef TESTS_STORIES_FIELDS_H_
#define TESTS_STORIES_FIELDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace tests {

// Scalars, and empty lists and objects, by their path: "spec.tasks[0].replicas".
using Leaves = std::map<std::string, json::Value>;
Leaves LeavesOf(const json::Value& value);

// A field that differs; null stands for a field that is not there.
struct FieldChange {
  std::string path;
  json::Value before, after;
};
// Returns the fields that differ, sorted by path.
std::vector<FieldChange> ChangedFields(const json::Value& before, const json::Value& after);

// Returns "<path>: expected <value>, got <value>" for each field of `expected` that `actual` has
// not. Further members of objects are ignored; lists must have as many items, and a list of
// conditions (items with `type` and `status`) only those with these types. A null expects that the
// field is absent.
std::vector<std::string> Mismatches(const json::Value& expected, const json::Value& actual,
                                    const std::string& path = "");

// Returns the value for a message: "absent" for null.
std::string Shown(const json::Value& value);

// Returns the value with the generation in place of each string "$GENERATION", and with the same as
// a string in place of "$GENERATION_TEXT".
json::Value WithGeneration(const json::Value& value, int64_t generation);

}  // namespace tests

#endif  // TESTS_STORIES_FIELDS_H_
