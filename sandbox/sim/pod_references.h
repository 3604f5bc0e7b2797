// The ConfigMaps and Secrets that a pod cannot start without.
#ifndef SANDBOX_SIM_POD_REFERENCES_H_
#define SANDBOX_SIM_POD_REFERENCES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// What a kubelet waits for, as it stands in the state of the containers.
struct MissingReference {
  std::string reason;   // "ContainerCreating" for volumes, "CreateContainerConfigError" for env.
  std::string message;  // Empty for volumes: a kubelet reports those in events only.
};

// The first reference that is not optional and whose object or key is not there; volumes come
// first, as a kubelet mounts before it creates containers. nullopt when nothing is missing.
absl::StatusOr<std::optional<MissingReference>> FindMissingReference(Backend& backend,
                                                                     const kube::Object& pod);

}  // namespace sandbox

#endif  // SANDBOX_SIM_POD_REFERENCES_H_
