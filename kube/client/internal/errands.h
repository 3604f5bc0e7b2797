// Threads for what can only be done by blocking: asking a name server, running a plugin.
#ifndef KUBE_CLIENT_INTERNAL_ERRANDS_H_
#define KUBE_CLIENT_INTERNAL_ERRANDS_H_

#include <functional>

#include "absl/time/time.h"

namespace kube {

// Runs `errand` on one of a few threads of this process, which start when needed and end when idle.
// Errands that are all stuck make later ones wait; whoever waits for an errand has a deadline and
// leaves it behind when that has come, so an errand owns what it uses.
void RunErrand(std::function<void()> errand);

// Waits until no errand is under way; false after `patience`. For the end of the process.
bool AwaitNoErrand(absl::Duration patience);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_ERRANDS_H_
