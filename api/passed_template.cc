#include "api/passed_template.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "api/keys.h"
#include "base/digest.h"
#include "kube/meta/specification.h"

namespace api {
namespace {

// The version of the format. A record of another version counts as none.
constexpr absl::string_view kVersion = "1";
constexpr size_t kFields = 5;
constexpr size_t kDigestBytes = 8;

std::string DigestOf(const json::Value& value) {
  return absl::BytesToHexString(base::Sha256(json::Write(value)).substr(0, kDigestBytes));
}

// Removes the labels or annotations that users do not determine, and the map when it is empty.
void EraseOwnKeys(json::Value& object, absl::string_view map) {
  std::vector<std::string> own;
  for (const json::Member& m : object.Get({"metadata", map}).members()) {
    if (absl::StrContains(m.name(), kGroupSuffix) && m.name() != kSkipAutoPropagationLabel) {
      own.emplace_back(m.name());
    }
  }
  for (const std::string& key : own) object.Erase({"metadata", map, key});
  if (object.Get({"metadata", map}).empty()) object.Erase({"metadata", map});
}

json::Value WithoutOwnKeys(const kube::Object& object) {
  json::Value value = object.root();
  EraseOwnKeys(value, "labels");
  EraseOwnKeys(value, "annotations");
  return value;
}

std::string NamesDigest(const kube::Object& object) {
  const json::Value value = WithoutOwnKeys(object);
  json::Value names = json::Value::Object();
  for (const absl::string_view map : {"labels", "annotations"}) {
    const json::Value& entries = value.Get({"metadata", map});
    if (!entries.empty()) names.Set(map, entries);
  }
  return DigestOf(names);
}

std::string ContentDigest(const kube::Object& object) {
  json::Value content = object.root();
  content.Erase("metadata");
  content.Erase("status");
  return DigestOf(content);
}

// Whoever may read bindings may not read Secrets, and could try values until the hash fits.
bool IsSecret(const kube::Object& object) {
  return object.kind() == "Secret" && object.api_version() == "v1";
}

}  // namespace

json::Value UserSpecification(const kube::Object& object) {
  json::Value value = kube::SpecificationOf(object);
  value.Erase({"metadata", "generation"});
  EraseOwnKeys(value, "labels");
  EraseOwnKeys(value, "annotations");
  return value;
}

std::string PassedTemplateRecord(const kube::Object& object) {
  const std::string state =
      absl::StrCat(kVersion, ":", object.resource_version(), ":", object.generation(), ":");
  if (IsSecret(object)) return absl::StrCat(state, ":");
  return absl::StrCat(state, NamesDigest(object), ":", ContentDigest(object));
}

PassedRecord CompareWithRecord(const kube::Object& binding, const kube::Object& object) {
  const std::vector<absl::string_view> record =
      absl::StrSplit(binding.Annotation(kPassedTemplateAnnotation), ':');
  if (record.size() != kFields || record[0] != kVersion) return PassedRecord::kNone;
  const absl::string_view version = record[1], generation = record[2];
  const absl::string_view names = record[3], content = record[4];
  if (version != binding.spec()["resource"]["resourceVersion"].AsString()) {
    return PassedRecord::kNone;
  }
  if (version == object.resource_version()) return PassedRecord::kSame;
  if (IsSecret(object)) return PassedRecord::kNone;
  if (names != NamesDigest(object)) return PassedRecord::kOther;
  const bool same_generation =
      object.generation() > 0 && generation == absl::StrCat(object.generation());
  const bool is_same = same_generation || content == ContentDigest(object);
  return is_same ? PassedRecord::kSame : PassedRecord::kOther;
}

}  // namespace api
