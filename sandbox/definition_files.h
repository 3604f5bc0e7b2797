// Loads custom resource definitions from a directory of YAML files into a server.
#ifndef SANDBOX_DEFINITION_FILES_H_
#define SANDBOX_DEFINITION_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sandbox/backend.h"

namespace sandbox {

// The first of these that has *.yaml files: `wanted`; ../share/karmada/crds beside the running program's
// directory (an installed program); config/crds of the source tree it was built in. kNotFound lists them.
absl::StatusOr<std::string> FindDefinitionDirectory(const std::string& wanted);

// Creates every document of every *.yaml file, in order of file names; one that is there stays. Errors name
// the file.
absl::Status LoadDefinitions(const std::string& directory, Backend& backend);

}  // namespace sandbox

#endif  // SANDBOX_DEFINITION_FILES_H_
