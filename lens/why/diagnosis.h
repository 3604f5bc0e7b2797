// The answer to "what became of this template, and why": the cause, and all that was found.
#ifndef LENS_WHY_DIAGNOSIS_H_
#define LENS_WHY_DIAGNOSIS_H_

#include <string>

#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

struct Diagnosis {
  // The first sentence of the answer, without its full stop: the cause; when nothing stops the
  // template, where it has arrived. It ends with what could not be read.
  std::string headline;
  std::string advice;  // "" when there is nothing to do.
  // True when nothing is stuck or waiting, and what says so could be read: the policies that may
  // govern it, the binding, Clusters, Works, and the members that are to have it.
  bool arrived = false;
  Findings findings;               // In the order of the way, the headline's included.
  const Finding* cause = nullptr;  // One of `findings`; nullptr when there is none.

  Diagnosis() = default;
  Diagnosis(Diagnosis&&) = default;  // Moving a vector keeps its elements where they are.
  Diagnosis& operator=(Diagnosis&&) = default;
};

// Runs all checks. What concerns only other clusters than the one that was asked about is left out.
Diagnosis Diagnose(const Chain& chain);

// Returns "No policy selects ..." for "no policy selects ...", with a full stop. Names of programs
// keep their first letter.
std::string AsSentence(std::string text);

// "member1, member2 and 3 more"; "no cluster" for none.
std::string ClusterList(const std::vector<api::TargetCluster>& clusters);
// Returns the cause with "$" in place of the cluster's name: two clusters with the same text have
// the same reason.
std::string WithoutCluster(const Finding& finding);

}  // namespace lens::why

#endif  // LENS_WHY_DIAGNOSIS_H_
