#include "interpreter/customized/script_libraries.h"

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "interpreter/customized/kube_library.h"
#include "interpreter/customized/shipped.h"

namespace interpreter::customized {
namespace {

constexpr char kKarmada[] = "karmada";
constexpr absl::string_view kDefinition = "function karmada.";

lua::Library KarmadaLibrary() {
  lua::Library library;
  library.name = kKarmada;
  // A process may have thousands of interpreters.
  static const auto& source = *new std::shared_ptr<const std::string>(
      std::make_shared<const std::string>(KarmadaLibrarySource()));
  library.source = source;
  return library;
}

// Returns the names of the functions that the source of the library "karmada" defines.
std::vector<std::string> FunctionsInSource() {
  std::vector<std::string> names;
  for (absl::string_view line : absl::StrSplit(KarmadaLibrarySource(), '\n')) {
    if (!absl::ConsumePrefix(&line, kDefinition)) continue;
    names.emplace_back(line.substr(0, line.find('(')));
  }
  return names;
}

}  // namespace

std::vector<lua::Library> ScriptLibraries(const RequirementRules& rules) {
  std::vector<lua::Library> libraries;
  libraries.push_back(KubeLibrary(rules));
  libraries.push_back(KarmadaLibrary());
  return libraries;
}

std::vector<std::string> FunctionsOf(const std::string& library) {
  if (library == kKarmada) return FunctionsInSource();
  std::vector<std::string> names;
  const lua::Library kube = KubeLibrary();
  if (library != kube.name) return names;
  for (const auto& entry : kube.functions) names.push_back(entry.name);
  return names;
}

}  // namespace interpreter::customized
