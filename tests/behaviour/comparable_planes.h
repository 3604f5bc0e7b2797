// What two planes hold, in a form in which it can be compared.
#ifndef TESTS_BEHAVIOUR_COMPARABLE_PLANES_H_
#define TESTS_BEHAVIOUR_COMPARABLE_PLANES_H_

#include <map>
#include <set>
#include <string>

#include "base/json.h"
#include "tests/behaviour/walked_objects.h"

namespace tests {

// The objects that were created more than once in each member, as EffectiveWrites names them.
using CreatedAgain = std::map<std::string, std::set<std::string>>;

// Objects without what differs between two planes that hold the same, by the names of a Snapshot.
using Contents = std::map<std::string, json::Value>;

// What has gone from its member and has come again may be reported as such.
Contents Comparable(const Snapshot& snapshot, const CreatedAgain& created_again);

// Returns a line for each object that is not in both or differs; "" when there is none.
std::string Differences(const Contents& here, const Contents& quiet);

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_COMPARABLE_PLANES_H_
