// What differs between two answers of the interpreter, for people: field by field, in one line, and
// line by line.
#ifndef CMD_INTERPRET_VALUE_CHANGES_H_
#define CMD_INTERPRET_VALUE_CHANGES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"

namespace cmd::interpret {

// A field with two values. The null value also stands for a field that is absent.
struct FieldChange {
  std::string path;  // "spec.containers[0].image"; "" for the whole value.
  json::Value before, after;
};

struct FieldChanges {
  std::vector<FieldChange> first;  // The first ones, in the order of the names.
  size_t count = 0;                // All of them.
};

// Compares objects member by member, arrays of equal length item by item, and other values whole.
FieldChanges ChangesBetween(const json::Value& before, const json::Value& after);

// Returns one line: "true → false", "spec.replicas: 2 → 3, and 4 more". Values are compact JSON,
// each cut to some forty bytes.
std::string ShortText(const FieldChanges& changes);

// Returns the diff of both as YAML, at most `max_lines` lines and a last one that says how many are
// left out.
std::string BoundedDiff(const json::Value& before, const json::Value& after, size_t max_lines);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_VALUE_CHANGES_H_
