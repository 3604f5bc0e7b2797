// Keeps what this program does not know in the parts of Karmada's objects that it writes whole.
//
// A later release of Karmada may have more fields than this program knows, in objects and in items
// of lists. A merge patch leaves other members of an object alone, but not those of the items of a
// list, because it replaces the list; and a part that is made from its typed form has what that
// form has. So whoever writes such a part says which members it knows, and the others are taken
// over from the part as it was:
//
//   const KnownField kTargets = {"clusters", {{"name"}, {"replicas"}}, {"name"}};
//   spec.Set("clusters", api::WithUnknown(std::move(wanted), spec["clusters"], kTargets));
//
// It is not for copies: what another object determines follows that one, with all of its members.
#ifndef API_KNOWN_FIELDS_H_
#define API_KNOWN_FIELDS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"

namespace api {

// A field that this program writes.
struct KnownField {
  absl::string_view name;
  // The known members of the object, or of each item of the list. None: the value is replaced
  // whole, because it is a text, a number, a map with any names, or a copy.
  std::vector<KnownField> members = {};
  // For a list: what identifies an item, as paths ("workload.kind"). Items that have the same
  // identity correspond in their order.
  std::vector<absl::string_view> identity = {};
};

// Returns `written` with the members that `held`, the state that it replaces, has besides the known
// ones, at any depth. A known member that `written` lacks is not taken over, nor is an item.
// Neither needs to have the form that it should have.
json::Value WithUnknown(json::Value written, const json::Value& held, const KnownField& field);

// Returns the members of the object whose names are not known; null when there are none.
json::Value UnknownMembers(const json::Value& object, absl::Span<const absl::string_view> known);

}  // namespace api

#endif  // API_KNOWN_FIELDS_H_
