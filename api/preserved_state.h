// The state of an application that is moved from a cluster where it failed to another one: labels
// that its object gets there, such as the id of the job that it goes on with. An eviction task has
// them in preservedLabelState, as upstream's does.
//
// A task may time out before the application is healthy again. The labels must not be taken from
// the object that is just coming up, and if it fails in the next cluster, too, the state of a run
// that never was healthy is worth nothing (upstream's issue 6232). So they are kept in an
// annotation of the binding until the application is healthy.
#ifndef API_PRESERVED_STATE_H_
#define API_PRESERVED_STATE_H_

#include "absl/strings/string_view.h"
#include "api/binding.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Returns the labels that the application's object gets in the cluster: those of the last eviction
// task, or, when no task is under way, those of the annotation. Null when there are none, when the
// binding has several clusters, when the workload was in this one before it was moved, and when the
// last task does not purge at once. Upstream: injectReservedLabelState, without the annotation.
json::Value PreservedStateFor(const BindingView& binding, absl::string_view cluster);

// Returns what the annotation has to say once this task has ended; null when the task has no state
// for another cluster.
json::Value PreservedStateOf(const EvictionTask& task);

// Reads the annotation; null when it is missing or is not a JSON object.
json::Value KeptPreservedState(const kube::Object& binding);

// Writes the annotation; null removes it. One that says the same stays as it is. A state for which
// the annotations of an object have no room is not kept: the task that has it ends all the same.
void SetKeptPreservedState(kube::Object& binding, const json::Value& state);

}  // namespace api

#endif  // API_PRESERVED_STATE_H_
