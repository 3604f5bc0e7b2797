// Writes two files: a customization and its cases. Everything that can be refused (the kind, the
// operations) is checked before the first file is written. Files that exist are kept unless --force
// is given; if the second one exists or cannot be written, the first one has been written already.

#include "cmd/interpret/init.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cmd/interpret/flags.h"
#include "cmd/interpret/question_json.h"
#include "cmd/interpret/skeleton.h"
#include "interpreter/customized/customization.h"
#include "interpreter/customized/shipped.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;

constexpr char kExamples[] = R"(Examples:
  %prog% init Widget --api-version example.io/v1      # widget.yaml and widget-test.yaml
  %prog% init Widget.v1.example.io --operation InterpretHealth --dir customizations
  %prog% init CloneSet                                # a kind that is built in or shipped

Then: %prog% test widget-test.yaml --customization widget.yaml)";

struct InitOptions {
  std::string kind;
  std::string api_version;
  std::vector<std::string> operations;
  std::string directory = ".";
  bool force = false;
};

// Returns the kinds that have a built-in or a shipped rule, each once.
std::vector<kube::Gvk> KnownKinds() {
  std::vector<kube::Gvk> kinds = interpreter::NativeKinds();
  const auto shipped =
      interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles());
  for (const auto& pair : shipped->Covered()) {
    if (std::find(kinds.begin(), kinds.end(), pair.gvk) == kinds.end()) kinds.push_back(pair.gvk);
  }
  return kinds;
}

absl::Status CheckKindName(absl::string_view kind) {
  const bool good = !kind.empty() && absl::ascii_isupper(kind[0]) &&
                    std::all_of(kind.begin(), kind.end(), absl::ascii_isalnum);
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", kind, "\" is not a kind: those look like \"Deployment\""));
}

absl::StatusOr<kube::Gvk> KindOf(const std::string& api_version, const std::string& kind) {
  // "example.io" would be read as a version of the core group, which is hardly meant.
  const bool only_group =
      absl::StrContains(api_version, '.') && !absl::StrContains(api_version, '/');
  if (!only_group) return kube::ParseGvk(api_version, kind);
  return absl::InvalidArgumentError(absl::StrCat("--api-version ", api_version,
                                                 " is a group without a version: write ",
                                                 api_version, "/v1, for example"));
}

absl::StatusOr<std::vector<Operation>> OperationsOf(const InitOptions& options) {
  std::vector<Operation> operations;
  for (const std::string& name : options.operations) {
    ASSIGN_OR_RETURN(const Operation op, ParseOperation(name));
    if (interpreter::customized::ScriptFieldOf(op) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(name, " cannot be customized"));
    }
    operations.push_back(op);
  }
  return operations;
}

absl::Status Write(const std::filesystem::path& path, const std::string& text, bool force) {
  std::error_code ignored;  // An error shows when the file is written.
  if (!force && std::filesystem::exists(path, ignored)) {
    return absl::AlreadyExistsError(
        absl::StrCat(path.string(), " exists already; --force replaces it"));
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(path.string(), " cannot be written"));
}

absl::StatusOr<tool::ExitCode> Init(const InitOptions& options, const std::string& program,
                                    tool::Console& console) {
  ASSIGN_OR_RETURN(const kube::Gvk gvk, KindNamed(options.kind, options.api_version));
  ASSIGN_OR_RETURN(const auto operations, OperationsOf(options));
  const std::string name = absl::AsciiStrToLower(gvk.kind);
  const std::filesystem::path directory(options.directory);
  const std::string customization = (directory / (name + ".yaml")).lexically_normal();
  const std::string cases = (directory / (name + "-test.yaml")).lexically_normal();
  const Skeleton skeleton = MakeSkeleton(gvk, operations);
  std::error_code ignored;  // An error shows when the files are written.
  std::filesystem::create_directories(directory, ignored);
  RETURN_IF_ERROR(Write(customization, skeleton.customization, options.force));
  RETURN_IF_ERROR(Write(cases, skeleton.cases, options.force));
  console.out << "Wrote " << customization << " and " << cases << ". Now try:\n  " << program
              << " test " << cases << " --customization " << customization << "\n";
  return tool::ExitCode::kFine;
}

}  // namespace

absl::StatusOr<kube::Gvk> KindNamed(const std::string& kind, const std::string& api_version) {
  const size_t dot = kind.find('.');
  const std::string name = kind.substr(0, dot);
  RETURN_IF_ERROR(CheckKindName(name));
  if (dot != std::string::npos) {
    const std::string where = kind.substr(dot + 1);  // Such as "v1.example.io".
    const size_t group = where.find('.');
    if (group == std::string::npos) return kube::ParseGvk(where, name);
    // kubectl's form has the version before the group.
    return kube::Gvk{where.substr(group + 1), where.substr(0, group), name};
  }
  if (!api_version.empty()) return KindOf(api_version, name);
  std::vector<kube::Gvk> known = KnownKinds();
  known.erase(std::remove_if(known.begin(), known.end(),
                             [&](const kube::Gvk& gvk) { return gvk.kind != name; }),
              known.end());
  // A kind that is known in one version only needs no --api-version.
  if (known.size() == 1) return known[0];
  const std::string choice = absl::StrJoin(
      known, " or ", [](std::string* out, const kube::Gvk& gvk) { out->append(gvk.ApiVersion()); });
  return absl::InvalidArgumentError(
      absl::StrCat("the apiVersion of ", name, known.empty() ? " is not known" : " may be ", choice,
                   ": give it with --api-version GROUP/VERSION"));
}

void AddInit(tool::CommandLine& line) {
  CLI::App& app = line.Add("init", "Write a customization and its cases to begin with", kExamples);
  auto options = std::make_shared<InitOptions>();
  app.add_option("KIND", options->kind, "the kind to customize, KIND or KIND.VERSION.GROUP")
      ->required();
  app.add_option("--api-version", options->api_version, "its group and version")
      ->type_name("GROUP/VERSION");
  tool::AddRepeatable(app, "--operation", options->operations,
                      "only this operation; may be repeated (default: all but InterpretComponent)")
      ->type_name("OPERATION");
  app.add_option("--dir", options->directory, "where to write")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  app.add_flag("--force", options->force, "replace files that exist");
  line.OnRun(app, [options, program = line.program()](tool::Console& console) {
    return Init(*options, program, console);
  });
}

}  // namespace cmd::interpret
