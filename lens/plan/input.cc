// Documents become objects; everything that is wrong with any of them is collected, each with its
// line, and then nothing is returned, because a plan without one of its files would be misleading.
// The index of places is made once for each text and shared by its objects (the items of a List).
// Lines are those of the file: a document knows the line at which it begins.

#include "lens/plan/input.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace lens::plan {
namespace {

// Returns what keeps the document from being an object; "" when nothing does.
std::string FaultOf(const json::Value& value) {
  if (!value.is_object()) return "this is not an object with apiVersion and kind";
  const kube::Object object(value);
  for (const char* field : {"apiVersion", "kind"}) {
    if (value[field].AsString().empty()) return absl::StrCat("the object has no ", field);
  }
  if (object.gvk().empty()) {
    return absl::StrCat("\"", object.api_version(), "\" is not an apiVersion");
  }
  const json::Value& name = object.metadata()["name"];
  if (name.is_bool() || name.is_number()) {
    return absl::StrCat(
        "metadata.name of the ", object.kind(), " is the ", name.is_bool() ? "boolean " : "number ",
        json::Write(name), ", not a string: put it in quotes",
        name.is_bool() ? " (YAML takes y, n, yes, no, on and off for booleans)" : "");
  }
  if (object.name().empty()) {
    return absl::StrCat("the ", object.kind(), " has no metadata.name");
  }
  return "";
}

// A name that a map has twice: only its last value counts, as when "---" is missing between two
// objects.
void AddRepeatedNames(const tool::Document& document, Problems& problems) {
  for (const yaml::RepeatedName& repeated : yaml::FindRepeatedNames(document.Text())) {
    problems.Add({document.file, document.line + repeated.again.line - 1},
                 absl::StrCat("\"", repeated.path.back(), "\" is also at line ",
                              document.line + repeated.first.line - 1));
  }
}

}  // namespace

std::string Place::ToString() const { return empty() ? "" : absl::StrCat(file, ":", line); }

std::vector<std::string> SplitPath(absl::string_view path) {
  std::vector<std::string> parts = absl::StrSplit(path, absl::ByAnyChar(".[]"), absl::SkipEmpty());
  return parts;
}

Place InputObject::PlaceOf(absl::string_view path) const {
  std::vector<std::string> names = document.path;
  for (std::string& part : SplitPath(path)) names.push_back(std::move(part));
  while (true) {
    const std::vector<absl::string_view> views(names.begin(), names.end());
    const std::optional<yaml::Place> found = places->Find(views);
    if (found.has_value()) {
      // The document itself is where its first line is; a member is where its name is.
      const int line = found->key.line > 0 ? found->key.line : found->value.line;
      return {document.file, document.line + line - 1};
    }
    if (names.size() <= document.path.size()) return {document.file, document.line};
    names.pop_back();
  }
}

ObjectId ObjectId::Of(const kube::Object& object) {
  return {object.gvk().group, std::string(object.kind()), std::string(object.ns()),
          std::string(object.name())};
}

std::string ObjectId::ToString() const {
  return absl::StrCat(kind, " ", kube::ObjectKey{ns, name}.ToString());
}

absl::StatusOr<std::vector<InputObject>> ObjectsOf(std::vector<tool::Document> documents) {
  Problems problems;
  std::vector<InputObject> objects;
  std::map<ObjectId, Place> seen;
  std::shared_ptr<const std::string> text;
  std::shared_ptr<const yaml::PlaceIndex> places;
  for (tool::Document& document : documents) {
    // The items of a list follow one another.
    if (places == nullptr || document.text != text) {
      text = document.text;
      places = std::make_shared<const yaml::PlaceIndex>(document.Text());
      AddRepeatedNames(document, problems);
    }
    InputObject read{kube::Object(document.value), std::move(document), places};
    const std::string fault = FaultOf(read.object.root());
    if (!fault.empty()) {
      problems.Add(read.place(), fault);
      continue;
    }
    const auto [first, fresh] = seen.try_emplace(ObjectId::Of(read.object), read.place());
    if (!fresh) {
      problems.Add(read.place(),
                   absl::StrCat(read.object.Describe(), " is also at ", first->second.ToString()));
    }
    objects.push_back(std::move(read));
  }
  if (!problems.empty()) return problems.ToStatus();
  return objects;
}

void Problems::Add(const Place& place, absl::string_view message) {
  std::string line =
      place.empty() ? std::string(message) : absl::StrCat(place.ToString(), ": ", message);
  const bool is_new = std::find(lines_.begin(), lines_.end(), line) == lines_.end();
  if (is_new) lines_.push_back(std::move(line));
}

absl::Status Problems::ToStatus() const {
  return lines_.empty() ? absl::OkStatus()
                        : absl::InvalidArgumentError(absl::StrJoin(lines_, "\n"));
}

}  // namespace lens::plan
