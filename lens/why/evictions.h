// What becomes of a template in a cluster that it is being evicted from.
#ifndef LENS_WHY_EVICTIONS_H_
#define LENS_WHY_EVICTIONS_H_

#include <string>

#include "api/binding.h"
#include "lens/why/chain.h"

namespace lens::why {

// Returns until when the evicted copy stays: "it stays there until it is healthy in member2, at
// most until ...".
std::string EvictionEnds(const Chain& chain, const api::BindingView& binding,
                         const api::EvictionTask& task);

// Returns what is true until its replacement is healthy: "until then it stays in member1, which it
// leaves (TaintUntolerated, by TaintManager), at most until ...". REQUIRES: task.KeepsWork().
std::string StaysMeanwhile(const api::EvictionTask& task);

// Returns how to keep the template in the cluster that it is being evicted from, and what is lost
// otherwise, as the rest of an advice. "" when no task evicts it from there.
std::string HowToStay(const Chain& chain, const api::BindingView& binding,
                      const std::string& cluster);

}  // namespace lens::why

#endif  // LENS_WHY_EVICTIONS_H_
