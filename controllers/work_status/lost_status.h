// Finds the objects whose status has been taken from their Work.
#ifndef CONTROLLERS_WORK_STATUS_LOST_STATUS_H_
#define CONTROLLERS_WORK_STATUS_LOST_STATUS_H_

#include <vector>

#include "kube/meta/object.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// Returns whether an update of a Work has taken an item from its status.manifestStatuses. The
// execution loop withdraws the status of an object that it could not apply and did not find.
bool LostStatus(const kube::Object& before, const kube::Object& after);
// Maps such an update to requests for the objects without a status. An object may have come at the
// moment of the withdrawal, which then has replaced the status that was collected just before.
std::vector<kube::Request> ObjectsThatLostStatus(const kube::Object& before,
                                                 const kube::Object& after);

}  // namespace controllers

#endif  // CONTROLLERS_WORK_STATUS_LOST_STATUS_H_
