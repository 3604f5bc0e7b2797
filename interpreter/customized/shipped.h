// The customizations that come with the program: lua/scripts, embedded when it is built.
#ifndef INTERPRETER_CUSTOMIZED_SHIPPED_H_
#define INTERPRETER_CUSTOMIZED_SHIPPED_H_

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "interpreter/customized/customization_set.h"

namespace interpreter::customized {

struct ShippedFile {
  absl::string_view path;  // "apps.kruise.io/v1alpha1/CloneSet/customizations.yaml"
  absl::string_view text;  // Its customization, as the JSON that was made of it by the build.
};
// Returns the embedded files, sorted by path.
const std::vector<ShippedFile>& ShippedFiles();

// Returns the embedded source of the library "karmada" (lua/scripts/karmada.lua).
absl::string_view KarmadaLibrarySource();

// Merges the customizations of the files. A file that cannot be read is among the set's problems
// under its path; the other files are used.
std::shared_ptr<const CustomizationSet> LoadShipped(absl::Span<const ShippedFile> files);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_SHIPPED_H_
