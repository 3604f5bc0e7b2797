// Writes the source that holds the shipped customizations and the library of their scripts:
//
//   embed_shipped OUT ROOT PATH...      (paths below ROOT, in which the library is karmada.lua)
//
// A customization is embedded as JSON, so that programs need not read half a megabyte of YAML at
// each start; scripts keep their lines. The build runs this (cmake/ShippedScripts.cmake), and fails
// with a file that is not YAML.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "base/files.h"
#include "base/json.h"
#include "base/status.h"
#include "base/yaml.h"

namespace {

// $0: the files, $1: the library.
constexpr char kSource[] = R"(// Made by cmake/embed_shipped.cc from lua/scripts.
#include "interpreter/customized/shipped.h"

namespace interpreter::customized {

const std::vector<ShippedFile>& ShippedFiles() {
  static const std::vector<ShippedFile> files = {
$0  };
  return files;
}

absl::string_view KarmadaLibrarySource() { return $1; }

}  // namespace interpreter::customized
)";

// Text that no customization contains, so that any text can stand between two of it.
constexpr char kMark[] = "km_shipped_file";

absl::StatusOr<std::string> Literal(absl::string_view text) {
  const std::string end = absl::StrCat(")", kMark, "\"");
  if (absl::StrContains(text, end)) {
    return absl::InvalidArgumentError(absl::StrCat("contains ", end));
  }
  return absl::StrCat("R\"", kMark, "(", text, end);
}

absl::StatusOr<std::string> Customization(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(file));
  ASSIGN_OR_RETURN(const json::Value customization, yaml::Parse(text));
  return Literal(json::Write(customization));
}

absl::Status Embed(const std::string& out, const std::string& root,
                   std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  std::string files;
  for (const std::string& path : paths) {
    const auto literal = Customization(absl::StrCat(root, "/", path));
    if (!literal.ok()) return base::Annotate(literal.status(), path);
    absl::StrAppend(&files, "      {\"", path, "\", ", *literal, "},\n");
  }
  ASSIGN_OR_RETURN(const std::string library, base::ReadFile(root + "/karmada.lua"));
  ASSIGN_OR_RETURN(const std::string library_literal, Literal(library));
  std::ofstream file(out);
  file << absl::Substitute(kSource, files, library_literal);
  file.close();
  return file ? absl::OkStatus() : absl::InternalError(absl::StrCat("cannot write ", out));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const absl::Status status = Embed(argv[1], argv[2], {argv + 3, argv + argc});
  if (status.ok()) return 0;
  std::fprintf(stderr, "embed_shipped: %s\n", std::string(status.message()).c_str());
  return 1;
}
