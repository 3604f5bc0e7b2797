// Sets of fields of an object, in the form in which API servers show them (FieldsV1): nested
// objects whose members are named "f:NAME" for a field, 'k:{"name":"x"}' for the item of a list
// that has these keys, and 'v:"x"' for an item of a list that is a set. An empty object is a field
// of the set; one with members is in the set itself when it has the member ".".
//
// A set shares its parts with those that it was made from.
#ifndef KUBE_SERVER_FIELDS_FIELD_SET_H_
#define KUBE_SERVER_FIELDS_FIELD_SET_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace kube::server {

// The names of a field and of what it is in, outermost first, as in a set.
using PathOfField = std::vector<std::string>;

// Return the names of a field, and of the item of a list that is a set.
std::string FieldStep(absl::string_view name);
std::string SetItemStep(const json::Value& item);
// `keys` is an object. Its members are in one order, so equal keys have equal names.
std::string KeyedItemStep(const json::Value& keys);
// Returns the name of a member if the step is one; "" otherwise.
absl::string_view NameOfStep(absl::string_view step);
// Returns the path as messages have it: '.spec.containers[name="web"].image'.
std::string PathText(const PathOfField& path);

class FieldSet {
 public:
  FieldSet() : root_(json::Value::Object()) {}
  // REQUIRES: the form described above.
  explicit FieldSet(json::Value root);
  // Makes a set of what a client sent: names are brought to their form, unknown ones left out.
  static FieldSet Read(const json::Value& fields_v1);

  const json::Value& root() const { return root_; }
  bool empty() const { return root_.empty(); }

  // What contains the field is not put into the set. An empty path changes nothing.
  void Insert(const PathOfField& path);
  // Removes the field and everything in it.
  void EraseTree(const PathOfField& path);
  bool Has(const PathOfField& path) const;

  FieldSet Union(const FieldSet& other) const;
  FieldSet Intersection(const FieldSet& other) const;
  // Without the fields of `other`; what is in such a field stays.
  FieldSet Difference(const FieldSet& other) const;
  // Calls `visit` for each field: first the ones at one place, then those in them.
  void ForEach(absl::FunctionRef<void(const PathOfField&)> visit) const;

  friend bool operator==(const FieldSet& a, const FieldSet& b) { return a.root_ == b.root_; }

 private:
  json::Value root_;
};

// For walks through a set's form. Return whether the node is in the set itself, and whether
// something in it is.
bool IsInSet(const json::Value& node);
bool HasFieldsBelow(const json::Value& node);
// The member that says that a node with members is in the set.
inline constexpr char kSelf[] = ".";

}  // namespace kube::server

#endif  // KUBE_SERVER_FIELDS_FIELD_SET_H_
