// ConfigurationOf makes what is applied to a member's object: the manifest after Retain, without
// nulls and status, with only those labels and annotations that the manifest itself has, and with
// the digest of the manifest as an annotation. IsApplied compares it with the object: every field
// of the configuration must be there, others may be added. The digest covers what such a comparison
// cannot see, a field that has left the manifest; it is stored in the member, so that a restart or
// another leader needs no request to know. No state.

#include "works/configuration.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/keys.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/status.h"
#include "works/retention.h"

namespace works {
namespace {

constexpr size_t kDigestBytes = 8;

std::string DigestOf(const kube::Object& manifest) {
  return absl::BytesToHexString(base::Sha256(json::Write(manifest.root())).substr(0, kDigestBytes));
}

// A null is not there: servers drop it, and an apply would own it.
json::Value WithoutNulls(const json::Value& value) {
  if (value.is_array()) {
    json::Value out = json::Value::Array();
    for (const json::Value& item : value.items()) out.Append(WithoutNulls(item));
    return out;
  }
  if (!value.is_object()) return value;
  json::Value out = json::Value::Object();
  for (const json::Member& member : value.members()) {
    if (!member.value.is_null()) out.Set(member.name(), WithoutNulls(member.value));
  }
  return out;
}

// The entries of a map of metadata that the manifest has, with the values of `desired`.
json::Value EntriesOf(const kube::Object& manifest, const kube::Object& desired,
                      absl::string_view map) {
  json::Value out = json::Value::Object();
  for (const json::Member& entry : manifest.metadata()[map].members()) {
    const json::Value* value = desired.metadata()[map].Find(entry.name());
    if (value != nullptr) out.Set(entry.name(), *value);
  }
  return out;
}

json::Value MetadataOf(const kube::Object& manifest, const kube::Object& desired) {
  json::Value out = json::Value::Object({{"name", manifest.name()}});
  if (!manifest.ns().empty()) out.Set("namespace", manifest.ns());
  for (const absl::string_view map : {"labels", "annotations"}) {
    json::Value entries = EntriesOf(manifest, desired, map);
    if (!entries.empty()) out.Set(map, std::move(entries));
  }
  return out;
}

bool AreNamed(const json::Value& list) {
  return std::all_of(list.items().begin(), list.items().end(),
                     [](const json::Value& item) { return item["name"].is_string(); });
}

bool Contains(const json::Value& observed, const json::Value& wanted);

// Items with names may stand among those of others.
bool ContainsItem(const json::Value& list, const json::Value& wanted) {
  return std::any_of(list.items().begin(), list.items().end(), [&](const json::Value& item) {
    return item["name"] == wanted["name"] && Contains(item, wanted);
  });
}

bool ContainsItems(const json::Value& list, const json::Value& wanted) {
  // "No rule" is not met by the rules of others: the list may be one that is replaced whole.
  if (wanted.empty()) return list.empty();
  if (AreNamed(wanted)) {
    return std::all_of(wanted.items().begin(), wanted.items().end(),
                       [&](const json::Value& item) { return ContainsItem(list, item); });
  }
  if (list.size() != wanted.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!Contains(list.At(i), wanted.At(i))) return false;
  }
  return true;
}

bool Contains(const json::Value& observed, const json::Value& wanted) {
  // Servers drop what is empty.
  const bool is_container = wanted.is_object() || wanted.is_array();
  if (is_container && wanted.empty() && observed.is_null()) return true;
  if (wanted.is_array()) return observed.is_array() && ContainsItems(observed, wanted);
  if (!wanted.is_object()) return observed == wanted;
  return observed.is_object() &&
         std::all_of(wanted.members().begin(), wanted.members().end(),
                     [&](const json::Member& member) {
                       return Contains(observed[member.name()], member.value);
                     });
}

}  // namespace

absl::StatusOr<bool> UsesServerSideApply(const kube::Object& manifest, bool by_default) {
  const absl::string_view wish = manifest.Annotation(api::kServerSideApplyAnnotation);
  if (wish.empty()) return by_default;
  if (wish == "true" || wish == "false") return wish == "true";
  // Only a changed manifest repairs it.
  return base::Terminal(absl::InvalidArgumentError(
      absl::StrCat("annotation ", api::kServerSideApplyAnnotation, ": \"", wish,
                   "\" is neither \"true\" nor \"false\"")));
}

absl::StatusOr<kube::Object> ConfigurationOf(const kube::Object& manifest,
                                             const kube::Object& observed,
                                             const interpreter::Interpreter& interpreter) {
  ASSIGN_OR_RETURN(const kube::Object desired, Retained(manifest, observed, interpreter));
  json::Value root = WithoutNulls(desired.root());
  root.Erase("status");
  root.Set("metadata", MetadataOf(manifest, desired));
  kube::Object configuration(std::move(root));
  configuration.SetAnnotation(api::kAppliedManifestAnnotation, DigestOf(manifest));
  return configuration;
}

bool IsApplied(const kube::Object& configuration, const kube::Object& observed) {
  return Contains(observed.root(), configuration.root());
}

size_t ContentOf(const kube::Object& observed) {
  json::Value content = observed.root();
  content.Erase("metadata");
  content.Erase("status");
  return absl::Hash<std::string>()(json::Write(content));
}

kube::Object WithDigest(kube::Object manifest) {
  const std::string digest = DigestOf(manifest);
  manifest.SetAnnotation(api::kAppliedManifestAnnotation, digest);
  return manifest;
}

}  // namespace works
