// What an API server serves, as subscribers of WatchedKinds get to know it.
#ifndef KUBE_RUNTIME_SERVED_KINDS_H_
#define KUBE_RUNTIME_SERVED_KINDS_H_

#include <set>
#include <string>
#include <vector>

#include "kube/meta/names.h"

namespace kube {

// What rounds of discovery have shown.
struct ServedKinds {
  // Those that can be watched. A kind whose group could not be read this time is among them if it
  // was before.
  std::set<Gvk> kinds;
  // Of these, those that have been there since the first round; also those of a group that no round
  // could read before, of which nobody knows better.
  std::set<Gvk> at_start;
  // What the last round could not read, as in Discovery: kinds may be served there that no round
  // has shown.
  std::vector<std::string> failed_groups;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_SERVED_KINDS_H_
