// Leaving an object in a member cluster without Karmada (preserveResourcesOnDeletion).
#ifndef WORKS_RELEASE_H_
#define WORKS_RELEASE_H_

#include <string>

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "works/member_objects.h"

namespace works {

// Removes the labels and annotations that mark the manifest's object in the cluster as Karmada's.
// OK when there is no such object.
absl::Status Release(MemberObjects& objects, const std::string& cluster, kube::Object manifest,
                     const base::StopToken& stop);

}  // namespace works

#endif  // WORKS_RELEASE_H_
