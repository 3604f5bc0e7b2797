// The arguments that a karmada-controller-manager runs with.
#ifndef LENS_PREFLIGHT_ARGUMENTS_H_
#define LENS_PREFLIGHT_ARGUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace lens::preflight {

struct Arguments {
  std::string source;  // "Deployment karmada-system/karmada-controller-manager", "args.txt"
  std::string image;   // The container's image; "" for a list of arguments.
  // Without the name of the program, one argument each, with variables filled in.
  std::vector<std::string> words;
  // Arguments that are not among the words, because they name a variable whose value is not known
  // outside of the pod.
  std::vector<std::string> unresolved;
};

// Returns the arguments in the pod template of an object such as a Deployment. `$(NAME)` stands for
// the value of the container's environment, as in Kubernetes; addresses that only a running pod has
// become 127.0.0.1, since only their form is looked at. kInvalidArgument when no container runs
// karmada-controller-manager, or a shell starts it.
absl::StatusOr<Arguments> ArgumentsOf(const kube::Object& workload);

// Returns the arguments in the text of a file: of the first object that runs a
// karmada-controller-manager; of a YAML or JSON list of strings; or words that begin with a flag or
// the program's name, with quotes as in a shell and # before comments. In a list a variable whose
// name ends in _IP is an address. kInvalidArgument says what the file has instead.
absl::StatusOr<Arguments> ArgumentsOfText(const std::string& file, absl::string_view text);

}  // namespace lens::preflight

#endif  // LENS_PREFLIGHT_ARGUMENTS_H_
