// Finds the Work of an object that is not in its member any more, by what Works have.
#ifndef CONTROLLERS_WORK_STATUS_WORK_OF_OBJECT_H_
#define CONTROLLERS_WORK_STATUS_WORK_OF_OBJECT_H_

#include <string>
#include <vector>

#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// The index of those Works whose names do not follow from an object of theirs: those of dispatched
// EndpointSlices, and those that somebody writes by hand.
inline constexpr char kWorksByObject[] = "object-of-work-with-another-name";
std::vector<std::string> ObjectIndexValues(const kube::Object& work);

// Returns the Work that has the member's object, which `object` names by cluster, gvk and key: the
// one of the object's name, else one of the index, first one that is dispatched. nullptr when there
// is none. A Work that is being deleted, or that has its name from the object without having the
// object, is returned only if there is no other. REQUIRES: the caller reads Works, with the index.
kube::ObjectPtr WorkOfObject(kube::ClusterClient& control_plane, const kube::Request& object);

}  // namespace controllers

#endif  // CONTROLLERS_WORK_STATUS_WORK_OF_OBJECT_H_
