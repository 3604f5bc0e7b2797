// The index has terms of at most 32,766 bytes, a path in front of the value included, and fields of
// type flat_object have to be objects. So annotations, spec and status go in by an indexable copy.
// Where that differs from the original, the original is kept in `rest`, and ObjectOf prefers it.
//
// OpenSearch reads a flat_object by recursion, and a deep one overflows the stack of the whole
// server, for all users of it. `rest` is not indexed (`enabled: false`), and is as deep as an
// object can be that karmada-search reads (json::ParseOptions).

#include "search/opensearch/document.h"

#include <array>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace search {
namespace {

// Longer strings are searchable by their beginning only; paths that are longer are not searchable.
constexpr size_t kMaxIndexedString = 8000;
constexpr size_t kMaxIndexedPath = 8000;
// How deep the fields are indexed. Each level of a schema in a CustomResourceDefinition takes two
// or three of these, and it is the deepest of what people write.
constexpr int kMaxIndexedDepth = 100;

// Metadata fields that documents have at their top.
constexpr std::array<absl::string_view, 4> kTopMetadata = {"namespace", "name", "uid",
                                                           "resourceVersion"};
constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";

// OpenSearch's limit is 255 bytes; group, version and kind may be longer together.
constexpr size_t kMaxIndexName = 250;

// FNV-1a, which stays the same from build to build.
uint64_t HashOf(absl::string_view text) {
  uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

// Cuts `text` at a character's boundary.
std::string Shortened(absl::string_view text) {
  size_t size = kMaxIndexedString;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return std::string(text.substr(0, size));
}

// Makes `value` indexable; returns whether it had to be changed. `path` is the length of its path,
// and `levels` how many levels it may have.
bool MakeIndexable(json::Value& value, size_t path, int levels) {
  if ((value.is_object() || value.is_array()) && levels == 0) {
    if (value.empty()) return false;
    value = value.is_object() ? json::Value::Object() : json::Value::Array();
    return true;
  }
  if (value.is_string() && value.AsString().size() > kMaxIndexedString) {
    value = json::Value(Shortened(value.AsString()));
    return true;
  }
  bool changed = false;
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      json::Value item = value.At(i);
      if (!MakeIndexable(item, path, levels - 1)) continue;
      value.MutableAt(i) = std::move(item);
      changed = true;
    }
  }
  if (!value.is_object()) return changed;
  const json::Value before = value;
  for (const json::Member& member : before.members()) {
    const size_t length = path + member.name().size() + 1;
    json::Value inner = member.value;
    if (length > kMaxIndexedPath) {
      changed = value.Erase(member.name()) || changed;
    } else if (MakeIndexable(inner, length, levels - 1)) {
      value.Set(member.name(), std::move(inner));
      changed = true;
    }
  }
  return changed;
}

// Moves `source` to a field of its own, if it is an object; returns whether `rest` has to keep it,
// too.
bool PutFlat(json::Value& document, absl::string_view field, const json::Value& source) {
  if (!source.is_object()) return !source.is_null();
  json::Value copy = source;
  const bool changed = MakeIndexable(copy, field.size(), kMaxIndexedDepth);
  document.Set(field, std::move(copy));
  return changed;
}

bool IsSecret(const kube::Gvk& kind) { return kind.group.empty() && kind.kind == "Secret"; }

// Removes what must not leave the member.
kube::Object WithoutSecrets(const kube::Gvk& kind, kube::Object object) {
  object.Erase({"metadata", "managedFields"});
  if (!IsSecret(kind)) return object;
  object.Erase({"data"});
  object.Erase({"stringData"});
  object.EraseAnnotation(kLastApplied);
  return object;
}

json::Value OwnersOf(const kube::Object& object) {
  json::Value owners = json::Value::Array();
  for (const kube::OwnerRef& owner : object.OwnerRefs()) {
    owners.Append(
        json::Value::Object({{"kind", owner.kind}, {"name", owner.name}, {"uid", owner.uid}}));
  }
  return owners;
}

json::Value KeysOf(const json::Value& map) {
  json::Value keys = json::Value::Array();
  for (const json::Member& member : map.members()) keys.Append(member.name());
  return keys;
}

void PutTime(json::Value& document, absl::string_view field, const json::Value& time) {
  if (time.is_string()) document.Set(field, time);
}

// Takes out of `rest` what the document has elsewhere. The name of a field and that of the member
// are the same.
void PutContents(json::Value& document, kube::Object object) {
  const json::Value annotations = object.annotations();
  if (!PutFlat(document, "annotations", annotations)) object.Erase({"metadata", "annotations"});
  const json::Value labels = object.labels();
  if (!PutFlat(document, "labels", labels)) object.Erase({"metadata", "labels"});
  document.Set("labelKeys", KeysOf(labels));
  for (const absl::string_view field : {"spec", "status"}) {
    const json::Value contents = object.root()[field];
    if (!PutFlat(document, field, contents)) object.Erase({field});
  }
  for (const absl::string_view field : kTopMetadata) object.Erase({"metadata", field});
  object.Erase({"apiVersion"});
  object.Erase({"kind"});
  document.Set("rest", object.root());
}

}  // namespace

std::string IndexName(absl::string_view prefix, const kube::Gvk& kind) {
  std::string name = absl::AsciiStrToLower(absl::StrCat(
      prefix, "-", kind.group.empty() ? "core" : kind.group, "-", kind.version, "-", kind.kind));
  if (name.size() <= kMaxIndexName) return name;
  const std::string hash = absl::StrCat("-", absl::Hex(HashOf(name), absl::kZeroPad16));
  return name.substr(0, kMaxIndexName - hash.size()) + hash;
}

std::string DocumentId(absl::string_view cluster, absl::string_view uid) {
  return absl::StrCat(cluster, "/", uid);
}

json::Value MakeDocument(absl::string_view cluster, const kube::Gvk& kind,
                         const kube::Object& object, absl::Time now) {
  json::Value document = json::Value::Object({{"cluster", cluster},
                                              {"group", kind.group},
                                              {"version", kind.version},
                                              {"kind", kind.kind},
                                              {"namespace", object.ns()},
                                              {"name", object.name()},
                                              {"uid", object.uid()},
                                              {"resourceVersion", object.resource_version()},
                                              {"mirrored", kube::FormatTime(now)},
                                              {"schema", kDocumentSchema}});
  PutTime(document, "created", object.metadata()["creationTimestamp"]);
  PutTime(document, "deleted", object.metadata()["deletionTimestamp"]);
  document.Set("owners", OwnersOf(object));
  document.Set("summary", SummaryOf(kind, object));
  PutContents(document, WithoutSecrets(kind, object));
  return document;
}

absl::StatusOr<kube::Object> ObjectOf(const json::Value& document) {
  if (!document["rest"].is_object() || document["uid"].AsString().empty()) {
    return absl::InvalidArgumentError("it is not a document that the mirror has written");
  }
  kube::Object object(document["rest"]);
  const kube::Gvk kind = {document["group"].ToString(), document["version"].ToString(),
                          document["kind"].ToString()};
  object.Set({"apiVersion"}, kind.ApiVersion());
  object.Set({"kind"}, kind.kind);
  for (const absl::string_view field : kTopMetadata) {
    if (!document[field].AsString().empty()) object.Set({"metadata", field}, document[field]);
  }
  for (const absl::string_view field : {"labels", "annotations"}) {
    const bool kept = object.metadata().Has(field);
    if (!kept && document.Has(field)) object.Set({"metadata", field}, document[field]);
  }
  for (const absl::string_view field : {"spec", "status"}) {
    if (!object.root().Has(field) && document.Has(field)) object.Set({field}, document[field]);
  }
  return object;
}

}  // namespace search
