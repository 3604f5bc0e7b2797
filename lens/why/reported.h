// Clusters in pull mode that do not answer from here: what their karmada-agents report stands for
// what is there.
#ifndef LENS_WHY_REPORTED_H_
#define LENS_WHY_REPORTED_H_

#include <string>

#include "kube/meta/object.h"
#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Finds clusters whose agent has not reported yet what its Work says: an earlier generation of the
// template, or another number of replicas.
Findings ReportIsBehind(const Chain& chain);

// Notes clusters whose object was not compared with its Work, since they do not answer from here.
Findings MemberIsNotCompared(const Chain& chain);

// Returns "generation 1, and its Work is of generation 2" for an object in the member that was made
// of an earlier state of the template than the Work; "" for others.
std::string EarlierThanWork(const Chain& chain, const kube::Object& in_member,
                            const kube::Object& work);

}  // namespace lens::why

#endif  // LENS_WHY_REPORTED_H_
