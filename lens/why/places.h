// The clusters that have a Work for the template, for checks that look at each of them.
#ifndef LENS_WHY_PLACES_H_
#define LENS_WHY_PLACES_H_

#include <string>
#include <utility>

#include "kube/meta/object.h"
#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// A cluster that has a Work for the template.
struct Place {
  const std::string& cluster;
  kube::ObjectPtr object;  // The Cluster; nullptr when it does not exist.
  const kube::Object& work;
  const MemberAnswer* answer;  // nullptr when the member was not asked.
};

// Calls `check` for each chosen cluster with a Work; a finding without cause is none.
template <class CheckOne>
Findings ForEachPlace(const Chain& chain, CheckOne check) {
  Findings findings;
  if (chain.object == nullptr) return findings;
  for (const api::TargetCluster& target : chain.Targets()) {
    const auto work = chain.works.find(target.name);
    if (work == chain.works.end()) continue;
    const auto cluster = chain.clusters.find(target.name);
    const auto answer = chain.members.find(target.name);
    Finding finding =
        check(Place{target.name, cluster == chain.clusters.end() ? nullptr : cluster->second,
                    *work->second, answer == chain.members.end() ? nullptr : &answer->second});
    if (finding.cause.empty()) continue;
    finding.cluster = target.name;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace lens::why

#endif  // LENS_WHY_PLACES_H_
