// Finds out what an argument means: "-" and what exists in the file system is read as files,
// anything else is looked up as TYPE/NAME on a server. So a file takes precedence over a live
// object of the same name. Of a directory only the documents are taken that are wanted, since other
// manifests lie beside them; in a file that is named, a document of the wrong sort is an error.

#include "cmd/interpret/object_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/status.h"
#include "interpreter/typed_results.h"

namespace cmd::interpret {
namespace {

bool IsPath(const std::string& argument) {
  std::error_code ignored;  // A path that cannot be examined counts as missing.
  return argument == "-" || std::filesystem::exists(argument, ignored);
}

bool IsDirectory(const std::string& argument) {
  std::error_code ignored;  // As above.
  return std::filesystem::is_directory(argument, ignored);
}

// Then -R may be what the user has forgotten.
bool HasDirectories(const std::string& directory) {
  std::error_code ignored;  // As above.
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.is_directory(ignored)) return true;
  }
  return false;
}

template <class Predicate>
void KeepOnly(std::vector<tool::Document>& documents, Predicate predicate) {
  documents.erase(
      std::remove_if(documents.begin(), documents.end(),
                     [&](const tool::Document& document) { return !predicate(document); }),
      documents.end());
}

bool IsManifestName(absl::string_view argument) {
  return absl::EndsWith(argument, ".yaml") || absl::EndsWith(argument, ".yml") ||
         absl::EndsWith(argument, ".json");
}

// Returns an error about an argument in which nothing was found.
absl::Status NothingIn(const std::string& argument, absl::string_view wanted, bool recursive) {
  const bool is_shallow = IsDirectory(argument) && !recursive && HasDirectories(argument);
  return absl::NotFoundError(absl::StrCat("no ", wanted, " in ", tool::DisplayName(argument),
                                          is_shallow ? " (use -R for folders below it)" : ""));
}

// Checks that the document is a Kubernetes object; errors begin with "<where>: ".
absl::Status CheckObject(const tool::Document& document) {
  for (const char* field : {"apiVersion", "kind"}) {
    if (!document.value[field].AsString().empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(document.Where(), ": not a Kubernetes object: ", field, " is missing"));
  }
  return absl::OkStatus();
}

bool IsCustomization(const kube::Object& object) {
  return object.gvk() == api::InterpreterCustomizations().gvk;
}

tool::BadDocument NoObject(const tool::Document& document, const absl::Status& status) {
  const absl::string_view message = status.message();
  const size_t where = document.Where().size() + 2;  // The length of "<where>: ".
  return {.file = document.file,
          .line = document.line,
          .source = std::string(document.Text().substr(0, document.Text().find('\n'))),
          .message = std::string(message.substr(where)),
          .status = status};
}

// From a file in a directory only the customizations are taken; a named file is taken whole.
tool::ReadText CustomizationsIn(tool::ReadText read, bool directory) {
  tool::ReadText out{{}, std::move(read.bad)};
  for (tool::Document& document : read.documents) {
    const absl::Status is_object = CheckObject(document);
    if (is_object.ok() && (!directory || IsCustomization(kube::Object(document.value)))) {
      out.documents.push_back(std::move(document));
    } else if (!is_object.ok() && !directory) {
      out.bad.push_back(NoObject(document, is_object));
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<tool::Document>> ObjectSource::Documents(const std::string& argument,
                                                                    bool recursive) {
  if (IsPath(argument)) return reader_.DocumentsOf({argument}, recursive);
  // "objects/web.yaml" has the form of TYPE/NAME, but a missing file is meant.
  if (IsManifestName(argument) || !tool::ParseLiveReference(argument).ok()) {
    return absl::NotFoundError(absl::StrCat(
        "\"", argument, "\" is neither a file that exists nor TYPE/NAME of a live object"));
  }
  auto object = live_.Get(argument);
  if (!object.ok()) return base::Annotate(object.status(), argument);
  tool::Document document;
  document.file = argument;
  document.value = object->root();
  return std::vector<tool::Document>{std::move(document)};
}

absl::StatusOr<std::vector<tool::Document>> ObjectSource::All(const std::string& argument,
                                                              bool recursive) {
  ASSIGN_OR_RETURN(std::vector<tool::Document> documents, Documents(argument, recursive));
  if (IsDirectory(argument)) {
    KeepOnly(documents, [](const tool::Document& document) { return CheckObject(document).ok(); });
  }
  for (const tool::Document& document : documents) RETURN_IF_ERROR(CheckObject(document));
  return documents;
}

absl::StatusOr<std::vector<tool::Document>> ObjectSource::Matching(const std::string& argument,
                                                                   bool recursive,
                                                                   const Wanted& wanted) {
  ASSIGN_OR_RETURN(std::vector<tool::Document> documents, All(argument, recursive));
  if (IsDirectory(argument)) {
    KeepOnly(documents, [&](const tool::Document& document) {
      return wanted.is_wanted(kube::Object(document.value));
    });
  }
  if (documents.empty()) return NothingIn(argument, wanted.plural, recursive);
  return documents;
}

absl::StatusOr<std::vector<tool::Document>> ObjectSource::Customizations(
    const std::string& argument, bool recursive) {
  return Matching(argument, recursive, {"customizations", IsCustomization});
}

absl::StatusOr<std::vector<absl::StatusOr<tool::ReadText>>> ObjectSource::CustomizationFiles(
    const std::string& argument, bool recursive) {
  std::vector<absl::StatusOr<tool::ReadText>> files;
  if (!IsPath(argument)) {
    ASSIGN_OR_RETURN(std::vector<tool::Document> documents, Customizations(argument, recursive));
    files.push_back(tool::ReadText{std::move(documents), {}});
    return files;
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, tool::FindFiles({argument}, recursive));
  const bool directory = IsDirectory(argument);
  for (const std::string& path : paths) {
    const auto text = reader_.Text(path);
    if (!text.ok()) {
      files.push_back(text.status());
      continue;
    }
    tool::ReadText read =
        CustomizationsIn(tool::ReadDocuments(tool::DisplayName(path), *text), directory);
    if (!read.documents.empty() || !read.bad.empty()) files.push_back(std::move(read));
  }
  if (files.empty()) return NothingIn(argument, "customizations", recursive);
  return files;
}

absl::StatusOr<kube::Object> ObjectSource::One(const std::string& argument) {
  ASSIGN_OR_RETURN(const std::vector<tool::Document> documents, All(argument, false));
  if (documents.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(tool::DisplayName(argument), " holds ",
                                                   documents.size(),
                                                   " objects where one is expected"));
  }
  return kube::Object(documents[0].value);
}

absl::StatusOr<json::Value> ObjectSource::RawItems(const std::string& argument) {
  ASSIGN_OR_RETURN(const std::vector<tool::Document> documents, Documents(argument, false));
  if (documents.empty()) return json::Value();
  // One document may be the whole list, a binding that contains it, or a single item.
  if (documents.size() == 1) {
    const json::Value& only = documents[0].value;
    if (only.is_array()) return only;
    // It is a binding.
    if (only.Has("kind")) return only.Get({"status", "aggregatedStatus"});
  }
  json::Value items = json::Value::Array();
  for (const tool::Document& document : documents) {
    if (document.value["clusterName"].AsString().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          document.Where(), ": not an item of an aggregated status: clusterName is missing"));
    }
    items.Append(document.value);
  }
  return items;
}

absl::StatusOr<interpreter::AggregatedItems> ObjectSource::Items(const std::string& argument) {
  ASSIGN_OR_RETURN(const json::Value raw, RawItems(argument));
  auto items = interpreter::ReadAggregatedItems(raw);
  if (!items.ok()) return base::Annotate(items.status(), tool::DisplayName(argument), ": items");
  return items;
}

}  // namespace cmd::interpret
