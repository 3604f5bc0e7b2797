// Clusters in pull mode that do not answer from here: what their karmada-agents report stands for
// what is there.
#ifndef LENS_WHY_REPORTED_H_
#define LENS_WHY_REPORTED_H_

#include "lens/why/checks.h"

namespace lens::why {

// Finds clusters whose agent has not reported yet what its Work says: an earlier generation of the
// template, or another number of replicas.
Findings ReportIsBehind(const Chain& chain);

// Notes clusters whose object was not compared with its Work, since they do not answer from here.
Findings MemberIsNotCompared(const Chain& chain);

}  // namespace lens::why

#endif  // LENS_WHY_REPORTED_H_
