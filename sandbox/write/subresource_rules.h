// Which part of an object each kind of write may change, and when a deleted object is removed.
#ifndef SANDBOX_WRITE_SUBRESOURCE_RULES_H_
#define SANDBOX_WRITE_SUBRESOURCE_RULES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Checks resourceVersion (409 when it is not the current one, 422 when the kind requires one and it
// is missing) and uid of the wanted state.
absl::Status CheckWritePreconditions(const ResourceInfo& info, const kube::Object& current,
                                     const kube::Object& wanted);

// Restores in `wanted` the parts that this subresource must not change: the main resource leaves
// status alone when the kind has the status subresource, /status leaves everything else alone
// (metadata too for custom resources), /finalize changes only a namespace's spec.finalizers,
// /approval only the conditions of a CertificateSigningRequest.
void RestrictToSubresource(const ResourceInfo& info, absl::string_view subresource,
                           const kube::Object& current, kube::Object& wanted);

// Returns whether nothing holds a deleted object any more.
bool IsReadyToGo(const ResourceInfo& info, const kube::Object& object);

// Sets the finalizers that pass the propagation policy to the garbage collector ("Orphan",
// "Foreground", "" for the kind's default), and the one that lets a definition's instances be
// deleted first.
void SetDeletionFinalizers(const ResourceInfo& info, absl::string_view propagation,
                           kube::Object& object);
// Changes what deletion changes besides metadata: a namespace's phase, a definition's Terminating
// condition.
void MarkTerminating(const ResourceInfo& info, kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_WRITE_SUBRESOURCE_RULES_H_
