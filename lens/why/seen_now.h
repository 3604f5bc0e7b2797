// Refusals of a member, seen with what the member shows now: a condition may be of an earlier time,
// since what fails is tried again at longer and longer intervals.
#ifndef LENS_WHY_SEEN_NOW_H_
#define LENS_WHY_SEEN_NOW_H_

#include <string>

#include "absl/strings/string_view.h"
#include "lens/why/chain.h"
#include "lens/why/refusals.h"

namespace lens::why {

// Returns whether the message is about the namespace of the object.
bool IsAboutNamespace(absl::string_view message);

// Returns the clusters that refuse the object for its namespace; not all of very many.
Objects ClustersWithoutNamespace(const Chain& chain);

// As ExplainRefusal, with what the member shows: the finalizers of a namespace that is being
// deleted, why a namespace is not there, and that what was in the way has gone.
Refusal ExplainRefusalNow(const Chain& chain, const std::string& cluster,
                          absl::string_view message);

}  // namespace lens::why

#endif  // LENS_WHY_SEEN_NOW_H_
