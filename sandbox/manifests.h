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
  std::string wanted;  // A directory; empty: one of the usual places.
  std::string
      name;  // "crds": under share/karmada/ when installed, under config/ in the source tree.
  std::string flag;  // The flag by which a user names the directory.
};
// `wanted`, or the first of these that has *.yaml files: ../share/karmada/<name> beside the
// directory of the running program; config/<name> of the source tree it was built in, or of the
// working directory. kNotFound lists where it looked, and what to do.
absl::StatusOr<std::string> FindManifests(const ManifestPlace& place);

// Every document of every *.yaml file, in order of file names. Errors name the file.
absl::StatusOr<std::vector<kube::Object>> ReadManifests(const std::string& directory);

// Creates the custom resource definitions of a directory; one that is there stays.
absl::Status LoadDefinitions(const std::string& directory, Backend& backend);

}  // namespace sandbox

#endif  // SANDBOX_MANIFESTS_H_
