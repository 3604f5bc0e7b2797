// The server's rules for metadata: identity, timestamps, generation, finalizers, and which parts a
// client may change. They follow apiserver's rest.BeforeCreate, BeforeUpdate and BeforeDelete.
#ifndef KUBE_SERVER_METADATA_RULES_H_
#define KUBE_SERVER_METADATA_RULES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/meta/object.h"
#include "kube/server/api_errors.h"
#include "kube/server/object_rules.h"

namespace kube::server {

// Removes unknown and empty parts of metadata as decoding into ObjectMeta does; kInvalidArgument
// (400) for parts of a wrong type.
absl::Status NormalizeMetadata(const ObjectRules& rules, kube::Object& object);

// Sets the identity of a new object: uid, creationTimestamp, generation 1 where the kind has
// generations; and a name from generateName when it has none.
void SetNewIdentity(const ObjectRules& rules, kube::Object& object, absl::Time now);
// Draws another name for an object whose generated name was taken.
void GenerateName(kube::Object& object);

// Restores what clients cannot change from the stored state.
void KeepServerMetadata(const kube::Object& old_object, kube::Object& object);
// Raises the generation when the part that it follows differs.
void UpdateGeneration(const ObjectRules& rules, const kube::Object& old_object,
                      kube::Object& object);
// Sets the finalizers that pass a propagation policy ("Orphan", "Foreground", "Background") to the
// garbage collector; "" changes nothing.
void SetPropagation(absl::string_view policy, kube::Object& object);
// Sets deletionTimestamp once, which also raises the generation.
void MarkDeleted(kube::Object& object, absl::Time now);

void ValidateMetadata(const ObjectRules& rules, const kube::Object& object, FieldErrors& errors);
void ValidateMetadataUpdate(const kube::Object& old_object, const kube::Object& object,
                            FieldErrors& errors);

}  // namespace kube::server

#endif  // KUBE_SERVER_METADATA_RULES_H_
