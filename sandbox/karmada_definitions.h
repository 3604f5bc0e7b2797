// The definitions of Karmada's kinds that a simulated control plane serves, for either release.
#ifndef SANDBOX_KARMADA_DEFINITIONS_H_
#define SANDBOX_KARMADA_DEFINITIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/release.h"
#include "kube/meta/object.h"

namespace sandbox {

struct KarmadaDefinitions {
  std::vector<kube::Object> objects;
  config::Release release = config::Release::kV1_18;  // As the definitions show it.
};

// Reads the definitions in `directory`. With a `wanted` release the files in the directory of its
// name below, such as "v1.19", take the place of files of the same name. kInvalidArgument when the
// definitions show another release than `wanted`; errors of reading name the file.
absl::StatusOr<KarmadaDefinitions> ReadKarmadaDefinitions(const std::string& directory,
                                                          std::optional<config::Release> wanted);

}  // namespace sandbox

#endif  // SANDBOX_KARMADA_DEFINITIONS_H_
