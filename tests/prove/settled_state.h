// What a workload has left behind on all servers, in a form in which two runs can be compared: what
// depends on the moment or on chance (uids, versions, times, generated names, how often something
// was written) is replaced by what it means.
#ifndef TESTS_PROVE_SETTLED_STATE_H_
#define TESTS_PROVE_SETTLED_STATE_H_

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "sandbox/fleet.h"

namespace prove {

// "cluster/Kind.group/namespace/name" -> the object without what depends on chance.
using SettledState = std::map<std::string, json::Value>;

// Reads all servers of the fleet, but for what is not the manager's business: events, leases,
// pods, ReplicaSets, and heartbeats.
SettledState ReadSettledState(sandbox::Fleet& fleet);

// One line for each field that differs: "host/Work...: status.conditions: X instead of Y".
std::vector<std::string> Differences(const SettledState& wanted, const SettledState& found);

}  // namespace prove

#endif  // TESTS_PROVE_SETTLED_STATE_H_
