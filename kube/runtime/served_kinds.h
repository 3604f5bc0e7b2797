// The kinds that an API server serves, as subscribers of WatchedKinds receive them.
#ifndef KUBE_RUNTIME_SERVED_KINDS_H_
#define KUBE_RUNTIME_SERVED_KINDS_H_

#include <set>
#include <string>
#include <vector>

#include "kube/meta/names.h"

namespace kube {

// The combined result of the rounds of discovery so far.
struct ServedKinds {
  // The kinds that can be watched. A kind whose group could not be read in the last round is among
  // them if it was before.
  std::set<Gvk> kinds;
  // The subset of `kinds` that has been served since the first round. A kind of a group that no
  // earlier round could read counts as served since then.
  std::set<Gvk> at_start;
  // The groups that the last round could not read, as in Discovery; they may have kinds that no
  // round has found.
  std::vector<std::string> failed_groups;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_SERVED_KINDS_H_
