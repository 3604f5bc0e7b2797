// The ConfigMaps and Secrets that a pod cannot start without.
#ifndef SANDBOX_SIM_POD_REFERENCES_H_
#define SANDBOX_SIM_POD_REFERENCES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// What a kubelet waits for, as in the state of the containers.
struct MissingReference {
  std::string reason;   // "ContainerCreating" for volumes, "CreateContainerConfigError" for env.
  std::string message;  // Empty for volumes, which a kubelet reports only in events.
};

// Returns the first reference that is not optional and whose object or key does not exist; volumes
// come first, as a kubelet mounts before it creates containers. nullopt when nothing is missing.
absl::StatusOr<std::optional<MissingReference>> FindMissingReference(Backend& backend,
                                                                     const kube::Object& pod);

}  // namespace sandbox

#endif  // SANDBOX_SIM_POD_REFERENCES_H_
