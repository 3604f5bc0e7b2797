// What kube-apiserver and its CRD controllers do over several passes happens here in one write: a
// new or changed spec gets its defaults, and its status says at once that the names are accepted
// and that the kinds are served (definition_keeper.cc serves them after the commit). There is no
// conflict of names, since the simulated servers have few kinds. ServedBy makes a ResourceInfo of
// each served version, sorted as discovery shows them; all share one table, in which objects lie in
// the storage version. The functions have no state.

#include "sandbox/kinds/custom_definitions.h"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "sandbox/kinds/default_to.h"
#include "sandbox/kinds/schema.h"

namespace sandbox {
namespace {

std::vector<std::string> StringsOf(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value& item : list.items()) out.push_back(item.ToString());
  return out;
}

// Returns "spec.replicas" for ".spec.replicas".
std::string WithoutDot(absl::string_view path) {
  return std::string(absl::StartsWith(path, ".") ? path.substr(1) : path);
}

std::string StorageVersionOf(const kube::Object& definition) {
  for (const json::Value& version : definition.spec()["versions"].items()) {
    if (version["storage"].AsBool()) return version["name"].ToString();
  }
  return "";
}

// The order of versions: "v1" before "v2beta1" before "v1alpha1", that is, by stability, then by
// number, highest first; unusual names come last.
struct VersionRank {
  int stability = 3;  // 0: GA, 1: beta, 2: alpha, 3: anything else.
  int64_t major = 0, minor = 0;
  std::string name;
};

VersionRank RankOf(const std::string& name) {
  VersionRank rank;
  rank.name = name;
  size_t at = 1;
  const auto number = [&]() {
    int64_t n = 0;
    // The bound keeps the number from overflowing; what follows it makes the name an unusual one.
    while (at < name.size() && absl::ascii_isdigit(name[at]) && n < 1000000) {
      n = n * 10 + (name[at++] - '0');
    }
    return n;
  };
  if (name.size() < 2 || name[0] != 'v' || !absl::ascii_isdigit(name[1])) return rank;
  rank.major = number();
  if (at == name.size()) {
    rank.stability = 0;
    return rank;
  }
  const absl::string_view rest = absl::string_view(name).substr(at);
  const bool beta = absl::StartsWith(rest, "beta");
  if (!beta && !absl::StartsWith(rest, "alpha")) return rank;
  at += beta ? 4 : 5;
  rank.minor = number();
  if (at == name.size()) rank.stability = beta ? 1 : 2;
  return rank;
}

bool Before(const std::string& a, const std::string& b) {
  const VersionRank x = RankOf(a), y = RankOf(b);
  if (x.stability != y.stability) return x.stability < y.stability;
  if (x.stability == 3) return x.name < y.name;
  return std::tie(x.major, x.minor) > std::tie(y.major, y.minor);
}

ResourceInfo InfoOf(const kube::Object& definition, const json::Value& version) {
  const json::Value& spec = definition.spec();
  const json::Value& names = spec["names"];
  ResourceInfo info;
  const std::string group = spec["group"].ToString();
  const std::string kind = names["kind"].ToString();
  info.resource = {{group, version["name"].ToString(), kind},
                   names["plural"].ToString(),
                   spec["scope"].AsString() == "Namespaced"};
  info.stored_as = {group, StorageVersionOf(definition), kind};
  info.singular = names["singular"].ToString();
  info.short_names = StringsOf(names["shortNames"]);
  info.categories = StringsOf(names["categories"]);
  info.custom = true;
  const json::Value& subresources = version["subresources"];
  info.status_subresource = subresources.Has("status");
  if (const json::Value& scale = subresources["scale"]; scale.is_object()) {
    info.scale = ScalePaths{WithoutDot(scale["specReplicasPath"].AsString()),
                            WithoutDot(scale["statusReplicasPath"].AsString()),
                            WithoutDot(scale["labelSelectorPath"].AsString())};
  }
  info.generation = ResourceInfo::Generation::kAllButMetadata;
  info.unconditional_update = false;
  info.schema = std::make_shared<const Schema>(version["schema"]["openAPIV3Schema"]);
  info.columns = kube::server::ColumnsOfVersion(version);
  for (const json::Value& field : version["selectableFields"].items()) {
    info.selectable_fields.push_back(field["jsonPath"].ToString());
  }
  info.terminating = definition.IsDeleting();
  return info;
}

void AddCondition(json::Value& conditions, kube::Condition condition) {
  kube::SetCondition(conditions, condition, base::RealClock().Now());
}

void AddStoredVersion(kube::Object& object) {
  json::Value& stored = object.mutable_root().Mutable(json::Path({"status", "storedVersions"}));
  const std::string version = StorageVersionOf(object);
  for (const json::Value& v : stored.items()) {
    if (v.AsString() == version) return;
  }
  stored.Append(version);
}

void DefaultNames(json::Value& spec) {
  json::Value& names = spec.Mutable("names");
  const std::string kind = names["kind"].ToString();
  DefaultTo(names, "singular", absl::AsciiStrToLower(kind));
  DefaultTo(names, "listKind", absl::StrCat(kind, "List"));
  DefaultTo(spec, "conversion", json::Value::Object({{"strategy", "None"}}));
}

}  // namespace

GroupName DefinitionTable() { return {"apiextensions.k8s.io", "customresourcedefinitions"}; }

bool IsDefinitionKind(const ResourceInfo& info) { return info.table() == DefinitionTable(); }

void PrepareDefinition(const ResourceInfo& info, const kube::Object& old_object,
                       kube::Object& object) {
  if (!IsDefinitionKind(info)) return;
  DefaultNames(object.mutable_root().Mutable("spec"));
  // A write of metadata or status alone must not move the times of the conditions.
  if (!old_object.empty() && old_object.spec() == object.spec()) return;
  json::Value& status = object.mutable_root().Mutable("status");
  if (!status.is_object()) status = json::Value::Object();
  status.Set("acceptedNames", object.spec()["names"]);
  json::Value& conditions = status.Mutable("conditions");
  AddCondition(conditions, {"NamesAccepted", "True", "NoConflicts", "no conflicts found"});
  AddCondition(conditions, {"Established", "True", "InitialNamesAccepted",
                            "the initial names have been accepted"});
  AddStoredVersion(object);
}

void ValidateDefinition(const ResourceInfo& info, const kube::Object& object, FieldErrors& errors) {
  if (!IsDefinitionKind(info)) return;
  const json::Value& spec = object.spec();
  const std::string group = spec["group"].ToString();
  const std::string plural = spec["names"]["plural"].ToString();
  const std::string wanted = absl::StrCat(plural, ".", group);
  if (object.name() != wanted) {
    errors.Invalid("metadata.name", object.name(),
                   absl::StrCat("must be spec.names.plural+\".\"+spec.group"));
  }
  if (group.empty()) errors.Required("spec.group");
  if (plural.empty()) errors.Required("spec.names.plural");
  if (spec["names"]["kind"].AsString().empty()) errors.Required("spec.names.kind");
  const std::string scope = spec["scope"].ToString();
  if (scope != "Namespaced" && scope != "Cluster") {
    errors.NotSupported("spec.scope", scope, {"Cluster", "Namespaced"});
  }
  int storage = 0;
  for (size_t i = 0; i < spec["versions"].size(); ++i) {
    const json::Value& version = spec["versions"].At(i);
    const std::string path = FieldPath("spec.versions", i);
    storage += version["storage"].AsBool();
    if (version["name"].AsString().empty()) errors.Required(FieldPath(path, "name"));
    if (!version["schema"]["openAPIV3Schema"].is_object()) {
      errors.Required(FieldPath(path, "schema.openAPIV3Schema"), "schemas are required");
    }
  }
  if (storage != 1) {
    errors.Invalid("spec.versions", spec["versions"],
                   "must have exactly one version marked as storage version");
  }
}

std::vector<ResourceInfo> ServedBy(const kube::Object& definition) {
  std::vector<ResourceInfo> out;
  for (const json::Value& version : definition.spec()["versions"].items()) {
    if (version["served"].AsBool()) out.push_back(InfoOf(definition, version));
  }
  std::sort(out.begin(), out.end(), [](const ResourceInfo& a, const ResourceInfo& b) {
    return Before(a.resource.gvk.version, b.resource.gvk.version);
  });
  return out;
}

}  // namespace sandbox
