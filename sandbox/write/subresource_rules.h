// Which part of an object each way of writing may change, and when a deleted object really goes.
#ifndef SANDBOX_WRITE_SUBRESOURCE_RULES_H_
#define SANDBOX_WRITE_SUBRESOURCE_RULES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// resourceVersion (409 when it is not the current one, 422 when the kind demands one and it is
// missing) and uid of the wanted state.
absl::Status CheckWritePreconditions(const ResourceInfo& info, const kube::Object& current,
                                     const kube::Object& wanted);

// Undoes in `wanted` what this subresource may not touch: the main resource leaves status alone
// when the kind has the status subresource, /status leaves everything else alone (metadata too for
// custom resources), /finalize changes a namespace's spec.finalizers only.
void RestrictToSubresource(const ResourceInfo& info, absl::string_view subresource,
                           const kube::Object& current, kube::Object& wanted);

// Returns whether nothing holds a deleted object any more.
bool IsReadyToGo(const ResourceInfo& info, const kube::Object& object);

// Finalizers that carry the propagation policy to the garbage collector ("Orphan", "Foreground", ""
// for the kind's default) and the one that lets a definition's instances go first.
void SetDeletionFinalizers(const ResourceInfo& info, absl::string_view propagation,
                           kube::Object& object);
// What deletion changes besides metadata: a namespace's phase, a definition's Terminating
// condition.
void MarkTerminating(const ResourceInfo& info, kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_WRITE_SUBRESOURCE_RULES_H_
