// Does to metadata what apiserver does before an object is stored. On creation: parts of a wrong
// type are refused, unknown and empty ones dropped, identity set. On update: what only the server
// writes is taken over from the stored object, the generation raised if what it follows has
// changed. Deletion sets the timestamp, and finalizers keep the object. The functions are pure but
// for uid and name suffix, which are random; storing is the caller's business.

#include "kube/server/metadata_rules.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/meta/annotation_limit.h"
#include "kube/meta/selector.h"

namespace kube::server {
namespace {

constexpr char kOrphanFinalizer[] = "orphan";
constexpr char kForegroundFinalizer[] = "foregroundDeletion";
constexpr int kNameSuffixLength = 5;
// A generated name has at most 63 bytes, as apiserver's, whatever longer names the kind allows.
constexpr size_t kMaxGeneratedBase = 63 - kNameSuffixLength;

// ObjectMeta's members that are kept, besides managedFields where the kind keeps them. selfLink is
// accepted and dropped.
constexpr absl::string_view kKept[] = {
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "uid",
};

bool IsKept(const ObjectRules& rules, absl::string_view name) {
  if (name == "managedFields") return rules.keeps_managed_fields;
  return std::binary_search(std::begin(kKept), std::end(kKept), name);
}

// Parts that only the server writes.
constexpr absl::string_view kServerOwned[] = {"creationTimestamp", "deletionGracePeriodSeconds",
                                              "deletionTimestamp", "generation", "uid"};

bool IsEmptyPart(const json::Value& v) {
  if (v.is_null()) return true;
  if (v.is_string()) return v.AsString().empty();
  return (v.is_object() || v.is_array()) && v.empty();
}

// The message is that of Go's decoder, with the type that the field has there.
absl::Status WrongType(const ObjectRules& rules, absl::string_view what, absl::string_view field,
                       absl::string_view go_type) {
  const kube::Gvk& gvk = rules.resource.gvk;
  return BadRequest(
      absl::StrCat(gvk.kind, " in version \"", gvk.version, "\" cannot be handled as a ", gvk.kind,
                   ": json: cannot unmarshal ", what, " into Go struct field ObjectMeta.metadata.",
                   field, " of type ", go_type));
}

absl::string_view JsonTypeName(const json::Value& v) {
  if (v.is_string()) return "string";
  if (v.is_bool()) return "bool";
  if (v.is_number()) return "number";
  return v.is_array() ? "array" : "object";
}

absl::Status CheckStringMap(const ObjectRules& rules, const json::Value& metadata,
                            absl::string_view field) {
  const json::Value& map = metadata[field];
  if (map.is_null()) return absl::OkStatus();
  if (!map.is_object()) return WrongType(rules, JsonTypeName(map), field, "map[string]string");
  for (const json::Member& member : map.members()) {
    if (!member.value.is_string() && !member.value.is_null()) {
      return WrongType(rules, JsonTypeName(member.value), field, "string");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(const ObjectRules& rules, const json::Value& metadata) {
  RETURN_IF_ERROR(CheckStringMap(rules, metadata, "labels"));
  RETURN_IF_ERROR(CheckStringMap(rules, metadata, "annotations"));
  for (absl::string_view field :
       {"name", "generateName", "namespace", "resourceVersion", "uid", "creationTimestamp"}) {
    const json::Value& v = metadata[field];
    if (!v.is_null() && !v.is_string()) return WrongType(rules, JsonTypeName(v), field, "string");
  }
  for (absl::string_view field : {"finalizers", "ownerReferences"}) {
    const json::Value& v = metadata[field];
    if (!v.is_null() && !v.is_array()) return WrongType(rules, JsonTypeName(v), field, "[]");
  }
  return absl::OkStatus();
}

// A null label or annotation decodes as the empty string.
void NullsToEmpty(json::Value& metadata, absl::string_view field) {
  std::vector<std::string> nulls;
  for (const json::Member& member : metadata[field].members()) {
    if (member.value.is_null()) nulls.emplace_back(member.name());
  }
  for (const std::string& name : nulls) metadata.Set({field, name}, "");
}

// Validates the name of a Service, the only kind that must conform to DNS 1035.
absl::Status ValidateDns1035Label(absl::string_view name) {
  const auto ok_char = [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
  };
  if (name.size() > 63) return absl::InvalidArgumentError("must be no more than 63 bytes");
  const bool ok = !name.empty() && absl::ascii_islower(name.front()) && name.back() != '-' &&
                  std::all_of(name.begin(), name.end(), ok_char);
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
      "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
      "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')");
}

absl::Status CheckName(ObjectRules::NameRule rule, absl::string_view name) {
  switch (rule) {
    case ObjectRules::NameRule::kLabel:
      return kube::ValidateDns1123Label(name);
    case ObjectRules::NameRule::kPathSegment:
      return kube::ValidatePathSegmentName(name);
    case ObjectRules::NameRule::kServiceName:
      return ValidateDns1035Label(name);
    case ObjectRules::NameRule::kSubdomain:
      break;
  }
  return kube::ValidateDns1123Subdomain(name);
}

void ValidateLabels(const kube::Object& object, FieldErrors& errors) {
  for (const json::Member& label : object.labels().members()) {
    const std::string key(label.name());
    if (const auto s = kube::ValidateQualifiedName(key); !s.ok()) {
      errors.Invalid("metadata.labels", key, s.message());
    }
    if (const auto s = kube::ValidateLabelValue(label.value.AsString()); !s.ok()) {
      errors.Invalid("metadata.labels", label.value, s.message());
    }
  }
}

void ValidateAnnotations(const kube::Object& object, FieldErrors& errors) {
  for (const json::Member& annotation : object.annotations().members()) {
    const std::string key(annotation.name());
    // Keys of annotations may have capitals in their prefix, as apimachinery allows.
    if (const auto s = kube::ValidateQualifiedName(absl::AsciiStrToLower(key)); !s.ok()) {
      errors.Invalid("metadata.annotations", key, s.message());
    }
  }
  // Their sum is limited, not each of them.
  if (kube::AnnotationBytes(object) > kube::kMaxAnnotationBytes) {
    errors.TooLong("metadata.annotations", kube::kMaxAnnotationBytes);
  }
}

void ValidateOwners(const kube::Object& object, FieldErrors& errors) {
  const json::Value& owners = object.metadata()["ownerReferences"];
  int controllers = 0;
  for (size_t i = 0; i < owners.size(); ++i) {
    const json::Value& owner = owners.At(i);
    for (absl::string_view field : {"apiVersion", "kind", "name", "uid"}) {
      if (!owner[field].AsString().empty()) continue;
      errors.Invalid(absl::StrCat("metadata.ownerReferences[", i, "].", field), "",
                     absl::StrCat(field, " must not be empty"));
    }
    if (owner["controller"].AsBool()) ++controllers;
  }
  if (controllers > 1) {
    errors.Invalid("metadata.ownerReferences", owners,
                   "Only one reference can have Controller set to true. Found \"true\" in "
                   "references for more than one owner");
  }
}

void ValidateFinalizers(const kube::Object& object, FieldErrors& errors) {
  for (const json::Value& finalizer : object.metadata()["finalizers"].items()) {
    const auto s = kube::ValidateQualifiedName(finalizer.AsString());
    if (!s.ok()) errors.Invalid("metadata.finalizers", finalizer, s.message());
  }
}

// Returns the object without metadata (and without status, where that has its own subresource).
json::Value GenerationSubject(const ObjectRules& rules, const kube::Object& object) {
  if (rules.generation == ObjectRules::Generation::kSpec) return object.spec();
  // Labels and annotations say nothing about what is wanted, so they do not raise the generation.
  json::Value rest = object.root();
  rest.Erase("metadata");
  if (rules.status_subresource) rest.Erase("status");
  return rest;
}

}  // namespace

absl::Status NormalizeMetadata(const ObjectRules& rules, kube::Object& object) {
  const json::Value* found = object.root().Find("metadata");
  if (found != nullptr && !found->is_object() && !found->is_null()) {
    return BadRequest("metadata must be an object");
  }
  json::Value metadata = found == nullptr ? json::Value::Object() : *found;
  RETURN_IF_ERROR(CheckTypes(rules, metadata));
  // It comes before empty parts are dropped, which looks at the whole map only.
  NullsToEmpty(metadata, "labels");
  NullsToEmpty(metadata, "annotations");
  std::vector<std::string> dropped;
  for (const json::Member& member : metadata.members()) {
    if (!IsKept(rules, member.name()) || IsEmptyPart(member.value))
      dropped.emplace_back(member.name());
  }
  for (const std::string& name : dropped) metadata.Erase(name);
  if (!rules.resource.namespaced) metadata.Erase("namespace");
  if (!metadata.is_object()) metadata = json::Value::Object();
  object.Set({"metadata"}, std::move(metadata));
  return absl::OkStatus();
}

void GenerateName(kube::Object& object) {
  const std::string base =
      object.metadata()["generateName"].ToString().substr(0, kMaxGeneratedBase);
  object.Set({"metadata", "name"}, absl::StrCat(base, base::RandomNameSuffix(kNameSuffixLength)));
}

void SetNewIdentity(const ObjectRules& rules, kube::Object& object, absl::Time now) {
  // What a client sends of these is ignored without an error.
  for (absl::string_view field : kServerOwned) object.Erase({"metadata", field});
  object.Set({"metadata", "uid"}, base::NewUuid());
  object.Set({"metadata", "creationTimestamp"}, kube::FormatTime(now));
  if (rules.generation != ObjectRules::Generation::kNone) {
    object.Set({"metadata", "generation"}, 1);
  }
  if (object.name().empty() && !object.metadata()["generateName"].AsString().empty()) {
    GenerateName(object);
  }
}

void KeepServerMetadata(const kube::Object& old_object, kube::Object& object) {
  for (absl::string_view field : kServerOwned) {
    // An attempt to change the deletionTimestamp is refused by validation instead.
    if (field == "deletionTimestamp" && object.IsDeleting()) continue;
    const json::Value* kept = old_object.metadata().Find(field);
    if (kept == nullptr) {
      object.Erase({"metadata", field});
    } else {
      object.Set({"metadata", field}, *kept);
    }
  }
  // The version was compared before; the store sets the next one.
  object.Set({"metadata", "resourceVersion"}, old_object.resource_version());
}

void UpdateGeneration(const ObjectRules& rules, const kube::Object& old_object,
                      kube::Object& object) {
  if (rules.generation == ObjectRules::Generation::kNone) return;
  if (GenerationSubject(rules, old_object) == GenerationSubject(rules, object)) return;
  object.Set({"metadata", "generation"}, old_object.generation() + 1);
}

void SetPropagation(absl::string_view policy, kube::Object& object) {
  if (policy.empty()) return;
  const auto set = [&object](const char* finalizer, bool wanted) {
    if (wanted) {
      object.AddFinalizer(finalizer);
    } else {
      object.RemoveFinalizer(finalizer);
    }
  };
  set(kOrphanFinalizer, policy == "Orphan");
  set(kForegroundFinalizer, policy == "Foreground");
}

void MarkDeleted(kube::Object& object, absl::Time now) {
  if (object.IsDeleting()) return;
  object.Set({"metadata", "deletionTimestamp"}, kube::FormatTime(now));
  object.Set({"metadata", "deletionGracePeriodSeconds"}, 0);
  // A deletion is a change of what is wanted, which observers tell by the generation.
  if (object.generation() > 0) object.Set({"metadata", "generation"}, object.generation() + 1);
}

void ValidateMetadata(const ObjectRules& rules, const kube::Object& object, FieldErrors& errors) {
  if (object.name().empty()) {
    errors.Required("metadata.name", "name or generateName is required");
  } else if (const auto s = CheckName(rules.name_rule, object.name()); !s.ok()) {
    errors.Invalid("metadata.name", object.name(), s.message());
  }
  if (rules.resource.namespaced) {
    if (object.ns().empty()) {
      errors.Required("metadata.namespace");
    } else if (const auto s = kube::ValidateDns1123Label(object.ns()); !s.ok()) {
      errors.Invalid("metadata.namespace", object.ns(), s.message());
    }
  }
  ValidateLabels(object, errors);
  ValidateAnnotations(object, errors);
  ValidateOwners(object, errors);
  ValidateFinalizers(object, errors);
}

void ValidateMetadataUpdate(const kube::Object& old_object, const kube::Object& object,
                            FieldErrors& errors) {
  if (object.name() != old_object.name()) {
    errors.Invalid("metadata.name", object.name(), "field is immutable");
  }
  if (object.ns() != old_object.ns()) {
    errors.Invalid("metadata.namespace", object.ns(), "field is immutable");
  }
  const json::Value& deleted = object.metadata()["deletionTimestamp"];
  if (deleted != old_object.metadata()["deletionTimestamp"]) {
    errors.Invalid("metadata.deletionTimestamp", deleted,
                   "field is immutable; may only be changed via deletion");
  }
  // While an object is being deleted, finalizers can only be removed.
  if (!old_object.IsDeleting()) return;
  std::vector<std::string> added;
  for (const json::Value& finalizer : object.metadata()["finalizers"].items()) {
    if (!old_object.HasFinalizer(finalizer.AsString())) {
      added.push_back(absl::StrCat("\"", finalizer.AsString(), "\""));
    }
  }
  if (added.empty()) return;
  errors.Forbidden("metadata.finalizers",
                   absl::StrCat("no new finalizers can be added if the object is being deleted, "
                                "found new finalizers []string{",
                                absl::StrJoin(added, ", "), "}"));
}

}  // namespace kube::server
