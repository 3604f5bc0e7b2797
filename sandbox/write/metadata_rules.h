// What the server itself decides about metadata: identity, timestamps, generation, finalizers, and
// which of it a client may change. As apiserver's rest.BeforeCreate, BeforeUpdate and BeforeDelete.
#ifndef SANDBOX_WRITE_METADATA_RULES_H_
#define SANDBOX_WRITE_METADATA_RULES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Drops unknown and empty parts of metadata as decoding into ObjectMeta does; kInvalidArgument
// (400) for parts of a wrong type.
absl::Status NormalizeMetadata(const ResourceInfo& info, kube::Object& object);

// Identity of a new object: uid, creationTimestamp, generation 1 where the kind has generations; a
// name from generateName when it has no name.
void SetNewIdentity(const ResourceInfo& info, kube::Object& object, absl::Time now);
// Draws another name for an object whose generated name was taken.
void GenerateName(kube::Object& object);

// Brings what clients cannot change back to the stored state.
void KeepServerMetadata(const kube::Object& old_object, kube::Object& object);
// Bumps the generation when what it follows differs.
void UpdateGeneration(const ResourceInfo& info, const kube::Object& old_object,
                      kube::Object& object);
// Sets deletionTimestamp once, which also counts as a new generation.
void MarkDeleted(kube::Object& object, absl::Time now);

void ValidateMetadata(const ResourceInfo& info, const kube::Object& object, FieldErrors& errors);
void ValidateMetadataUpdate(const kube::Object& old_object, const kube::Object& object,
                            FieldErrors& errors);

}  // namespace sandbox

#endif  // SANDBOX_WRITE_METADATA_RULES_H_
