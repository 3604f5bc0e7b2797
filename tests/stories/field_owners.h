// Finds fights over the fields of one object: who wrote a field last, and who takes it away.
#ifndef TESTS_STORIES_FIELD_OWNERS_H_
#define TESTS_STORIES_FIELD_OWNERS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/stories/fields.h"

namespace tests {

// A controller in the member writes what it wants until it is so. A control plane that changes a
// field which such a controller has written last, and which nobody has left to it, begins a fight
// without end: the first overwriting already counts.
//
// Not thread-safe.
class FieldOwners {
 public:
  // Records what the member's side has changed.
  void MemberWrote(const json::Value& before, const json::Value& after);
  // Records what the control plane has changed, and returns the fields that it has taken from the
  // member's side. Fields in `left`, and below them, are left to it.
  std::vector<FieldChange> ControlPlaneWrote(const json::Value& before, const json::Value& after,
                                             const std::set<std::string>& left);

 private:
  std::set<std::string> of_member_;  // Paths of the fields that the member's side wrote last.
};

// Returns the object without what only the API server writes, and without its status.
json::Value Written(const json::Value& object);

}  // namespace tests

#endif  // TESTS_STORIES_FIELD_OWNERS_H_
