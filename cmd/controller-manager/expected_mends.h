// The writes that are due on a control plane that upstream has run, because this program repairs
// what upstream leaves wrong.
#ifndef CMD_CONTROLLER_MANAGER_EXPECTED_MENDS_H_
#define CMD_CONTROLLER_MANAGER_EXPECTED_MENDS_H_

#include <vector>

#include "kube/shadow/shadow.h"

namespace cmd {

// Returns what a shadow tells from other writes. docs/operations.md has the same list, for those
// who take over.
std::vector<kube::Shadow::Mend> ExpectedMends();

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_EXPECTED_MENDS_H_
