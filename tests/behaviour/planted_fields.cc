// The definitions tell which objects there are: PlantIn goes down a value and its schema together.
// Each object is written twice, without and with the subresource "status", with the version that
// was read, and read again when somebody else was faster. A field is found again by its name, which
// is unique, and the path of its object without the places in lists.

#include "tests/behaviour/planted_fields.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/keys.h"

namespace tests {
namespace {

constexpr char kUnknown[] = "x-kubernetes-preserve-unknown-fields";
constexpr char kMark[] = "OfLaterRelease";

const kube::Resource kDefinitions{
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"}, "customresourcedefinitions", false};

bool IsOfKarmada(absl::string_view group) {
  return absl::EndsWith(group, "karmada.io") || group == "multicluster.x-k8s.io";
}

void Relax(json::Value& schema) {
  if (schema.Has("properties")) {
    schema.Set(kUnknown, true);
    std::vector<std::string> names;
    for (const json::Member& property : schema["properties"].members()) {
      names.emplace_back(property.name());
    }
    for (const std::string& name : names) Relax(schema.Mutable({"properties", name}));
  }
  for (const char* part : {"items", "additionalProperties"}) {
    if (schema[part].is_object()) Relax(schema.Mutable(part));
  }
}

// Returns whether a part of a binding follows another object with all that it has.
bool IsCopied(const kube::Object& object, const std::string& path) {
  if (!absl::EndsWith(object.kind(), "ResourceBinding")) return false;
  const bool has_policy = !object.Label(api::kPropagationPolicyIdLabel).empty() ||
                          !object.Label(api::kClusterPropagationPolicyIdLabel).empty();
  if (path == "spec.placement" || path == "spec.failover") return has_policy;
  return path == "spec.requiredBy[].clusters";
}

std::string Joined(const std::string& path, absl::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

// Fields by path and name.
using Found = std::map<std::pair<std::string, std::string>, json::Value>;

void Find(const json::Value& value, const std::string& path, Found& found) {
  for (const json::Member& member : value.members()) {
    if (absl::EndsWith(member.name(), kMark)) {
      found[{path, std::string(member.name())}] = member.value;
    } else {
      Find(member.value, Joined(path, member.name()), found);
    }
  }
  for (const json::Value& item : value.items()) Find(item, absl::StrCat(path, "[]"), found);
}

Found FieldsOf(const kube::Object& object) {
  Found found;
  Find(object.root(), "", found);
  return found;
}

}  // namespace

PlantedFields::PlantedFields(ControlPlane& plane, uint64_t seed) : plane_(plane), random_(seed) {
  RelaxDefinitions();
}

void PlantedFields::RelaxDefinitions() {
  const auto definitions = plane_.client("host").ListAll(kDefinitions, "", {}, {});
  REQUIRE(definitions.ok());
  for (const kube::Object& definition : definitions->items) {
    const json::Value& spec = definition.spec();
    if (!IsOfKarmada(spec["group"].AsString())) continue;
    json::Value versions = spec["versions"];
    for (size_t i = 0; i < versions.size(); ++i) {
      const json::Value schema = versions.At(i)["schema"]["openAPIV3Schema"];
      if (versions.At(i)["storage"].AsBool()) {
        kinds_.push_back({{{spec["group"].ToString(), versions.At(i)["name"].ToString(),
                            spec["names"]["kind"].ToString()},
                           spec["names"]["plural"].ToString(),
                           spec["scope"].AsString() == "Namespaced"},
                          schema});
      }
      Relax(versions.MutableAt(i).Mutable({"schema", "openAPIV3Schema"}));
    }
    json::Value patch = json::Value::Object();
    patch.Set({"spec", "versions"}, std::move(versions));
    const absl::Status relaxed =
        plane_.client("host")
            .Patch(kDefinitions, definition.key(), kube::PatchType::kMerge, patch, {}, {})
            .status();
    INFO(relaxed);
    REQUIRE(relaxed.ok());
  }
  REQUIRE(kinds_.size() > 15);
}

json::Value PlantedFields::AnyValue() {
  const int64_t n = ++count_;
  switch (std::uniform_int_distribution<int>(0, 4)(random_)) {
    case 0:
      return absl::StrCat("value ", n);
    case 1:
      return n;
    case 2:
      return true;
    case 3:
      return json::Value::Object({{"number", n}, {"list", json::Value::Array({n, "text"})}});
    default:
      return json::Value::Array({json::Value::Object({{"number", n}})});
  }
}

void PlantedFields::PlantIn(json::Value& value, const json::Value& schema, const std::string& path,
                            const kube::Object& of) {
  if (IsCopied(of, path)) return;
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      PlantIn(value.MutableAt(i), schema["items"], absl::StrCat(path, "[]"), of);
    }
    return;
  }
  if (!value.is_object() || !schema.Has("properties") || schema[kUnknown].AsBool()) return;
  std::vector<std::string> names;
  for (const json::Member& member : value.members()) names.emplace_back(member.name());
  for (const std::string& name : names) {
    PlantIn(value.Mutable(name), schema["properties"][name], Joined(path, name), of);
  }
  PlantOne(value, path);
}

void PlantedFields::PlantOne(json::Value& value, const std::string& path) {
  // Names before and after those that are there.
  const char first = static_cast<char>('a' + std::uniform_int_distribution<int>(0, 25)(random_));
  Field field = {path, absl::StrCat(std::string(1, first), count_, kMark), AnyValue()};
  value.Set(field.name, field.value);
  attempt_.push_back(std::move(field));
}

kube::Object PlantedFields::Get(const Address& at) const {
  absl::StatusOr<kube::Object> object =
      plane_.client("host").Get(kinds_[at.first].resource, at.second, {});
  return object.ok() ? *std::move(object) : kube::Object();
}

void PlantedFields::PlantInPart(const Address& at, const std::string& subresource) {
  const Kind& kind = kinds_[at.first];
  absl::Status written;
  plane_.Eventually([&] {
    kube::Object object = Get(at);
    attempt_.clear();
    const kube::Object before = object;
    for (const json::Member& member : before.root().members()) {
      const bool is_status = member.name() == "status";
      const std::string name(member.name());
      if (name == "apiVersion" || name == "kind" || name == "metadata") continue;
      if (is_status != (subresource == "status")) continue;
      PlantIn(object.mutable_root().Mutable(name), kind.schema["properties"][name], name, before);
    }
    if (subresource.empty()) PlantOne(object.mutable_root(), "");
    written = plane_.client("host")
                  .Replace(kind.resource, object, {.subresource = subresource}, {})
                  .status();
    return !absl::IsAborted(written);
  });
  INFO(kind.resource.gvk.kind << " " << at.second.ToString() << ": " << written);
  REQUIRE(written.ok());
  std::vector<Field>& all = planted_[at];
  all.insert(all.end(), attempt_.begin(), attempt_.end());
}

void PlantedFields::Plant() {
  for (size_t i = 0; i < kinds_.size(); ++i) {
    const auto objects = plane_.client("host").ListAll(kinds_[i].resource, "", {}, {});
    REQUIRE(objects.ok());
    for (const kube::Object& object : objects->items) {
      PlantInPart({i, object.key()}, "");
      if (object.root().Has("status")) PlantInPart({i, object.key()}, "status");
    }
  }
  REQUIRE(Missing() == "");
}

std::string PlantedFields::Missing(const MayGo& may_go) const {
  std::string missing;
  for (const auto& [at, fields] : planted_) {
    const Found found = FieldsOf(Get(at));
    for (const Field& field : fields) {
      const auto here = found.find({field.path, field.name});
      if (here != found.end() && here->second == field.value) continue;
      const std::string line =
          absl::StrCat(kinds_[at.first].resource.gvk.kind, " ", at.second.ToString(), ": ",
                       field.path, ".", field.name);
      if (!may_go(line)) absl::StrAppend(&missing, line, "\n");
    }
  }
  return missing;
}

std::vector<std::string> PlantedFields::Below(const kube::Gvk& gvk, const kube::ObjectKey& key,
                                              const std::string& path) const {
  std::vector<std::string> names;
  for (const auto& [at, name] : FieldsOf(*plane_.Get("host", gvk, key))) {
    if (absl::StartsWith(at.first, path)) names.push_back(at.second);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string PlantedFields::Versions() const {
  std::string versions;
  for (const auto& [at, fields] : planted_) {
    const std::string& kind = kinds_[at.first].resource.gvk.kind;
    if (kind == "Cluster" || kind == "FederatedHPA") continue;
    absl::StrAppend(&versions, kind, " ", at.second.ToString(), " ", Get(at).resource_version(),
                    "\n");
  }
  return versions;
}

}  // namespace tests
