// Reads manifests from directories of YAML files, and finds the directories that come with the
// program.
#ifndef SANDBOX_MANIFESTS_H_
#define SANDBOX_MANIFESTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

struct ManifestPlace {
  std::string wanted;  // A directory; empty stands for the usual places.
  std::string
      // "crds": a directory below share/karmada/ when installed, below config/ in the source tree.
      name;
  std::string flag;  // The flag with which a user gives the directory.
};
// Returns `wanted`, or the first of these that has *.yaml files: ../share/karmada/<name> beside the
// directory of the running program; config/<name> of the source tree in which it was built, or of
// the working directory. kNotFound lists the searched places and what to do.
absl::StatusOr<std::string> FindManifests(const ManifestPlace& place);

// Returns every document of every *.yaml file, in the order of file names. A file of the same name
// in the directory `instead`, if that is there, takes the place of one. Errors name the file.
absl::StatusOr<std::vector<kube::Object>> ReadManifests(const std::string& directory,
                                                        const std::string& instead = "");

// Creates the custom resource definitions that were read from a directory; existing ones stay.
absl::Status LoadDefinitions(const std::string& directory, std::vector<kube::Object> definitions,
                             Backend& backend);

}  // namespace sandbox

#endif  // SANDBOX_MANIFESTS_H_
