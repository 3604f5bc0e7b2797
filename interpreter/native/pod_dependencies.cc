// References are collected as views into the pod spec, in the order of the fields, then sorted and
// made unique: a large template costs no copies until the answer is written. What counts is what
// upstream's GetDependenciesFromPodTemplate finds: image pull secrets, env and envFrom of all
// containers, volumes, and the service account unless it is "default". This runs for each change of
// a template, so constant parts of the answer are made once (Parts), and volume types are looked up
// by their first letter.

#include "interpreter/native/pod_dependencies.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/status.h"

namespace interpreter::native {

namespace {

using Names = PodReferences::Names;

void Add(Names& names, absl::string_view name) {
  if (!name.empty()) names.push_back(name);
}

// Returns the name in `reference`, a member of `owner` that refers to another object.
absl::string_view NameIn(Fields& owner, absl::string_view reference) {
  return owner.In(reference).String("name");
}

// Adds the objects that env and envFrom of the containers refer to.
void AddContainers(Fields& pod_spec, absl::string_view containers, PodReferences& found) {
  pod_spec.Each(containers, [&](Fields& container) {
    container.Each("env", [&](Fields& variable) {
      Fields source = variable.In("valueFrom");
      if (source.IsNull()) return;
      Add(found.config_maps, NameIn(source, "configMapKeyRef"));
      Add(found.secrets, NameIn(source, "secretKeyRef"));
    });
    container.Each("envFrom", [&](Fields& source) {
      Add(found.config_maps, NameIn(source, "configMapRef"));
      Add(found.secrets, NameIn(source, "secretRef"));
    });
  });
}

// Says where a kind of volume names its secret. If `member` is "", `field` itself is the name.
struct SecretSource {
  absl::string_view kind, field, member;
};
constexpr absl::string_view kProjected = "projected";
// In Kubernetes' order: if a volume has several sources, the first one counts.
constexpr SecretSource kSecretSources[] = {{"azureFile", "secretName", ""},
                                           {"cephfs", "secretRef", "name"},
                                           {"cinder", "secretRef", "name"},
                                           {"flexVolume", "secretRef", "name"},
                                           {kProjected, "", ""},
                                           {"rbd", "secretRef", "name"},
                                           {"secret", "secretName", ""},
                                           {"scaleIO", "secretRef", "name"},
                                           {"iscsi", "secretRef", "name"},
                                           {"storageos", "secretRef", "name"},
                                           {"csi", "nodePublishSecretRef", "name"}};

const SecretSource* FindSecretSource(absl::string_view kind) {
  return std::find_if(
      std::begin(kSecretSources), std::end(kSecretSources), [&](const SecretSource& candidate) {
        const bool alike = candidate.kind.size() == kind.size() && candidate.kind[0] == kind[0];
        return alike && candidate.kind == kind;
      });
}

void AddProjected(Fields& projected, absl::string_view kind, Names& names) {
  projected.Each("sources", [&](Fields& source) { Add(names, NameIn(source, kind)); });
}

void AddSecret(Fields& volume, const SecretSource& source, Names& names) {
  Fields held = volume.In(source.kind);
  if (source.kind == kProjected) return AddProjected(held, "secret", names);
  Add(names, source.member.empty() ? held.String(source.field) : NameIn(held, source.field));
}

void AddVolume(Fields& volume, PodReferences& found) {
  // One pass over the members; a valid volume has one source, but upstream reads others, too.
  const SecretSource* secret = std::end(kSecretSources);
  bool has_config_map = false;
  bool is_projected = false;
  for (const json::Member& member : volume.value().members()) {
    const absl::string_view kind = member.name();
    if (kind == "name" || kind == "emptyDir" || member.value.is_null()) continue;
    has_config_map |= kind == "configMap";
    is_projected |= kind == kProjected;
    if (kind == "persistentVolumeClaim") {
      Add(found.volume_claims, volume.At(member).String("claimName"));
    }
    secret = std::min(secret, FindSecretSource(kind));
  }
  if (is_projected) {
    Fields projected = volume.In(kProjected);
    AddProjected(projected, "configMap", found.config_maps);
  } else if (has_config_map) {
    Add(found.config_maps, NameIn(volume, "configMap"));
  }
  if (secret != std::end(kSecretSources)) AddSecret(volume, *secret, found.secrets);
}

void SortUnique(Names& names) {
  if (names.size() < 2) return;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// Names and constant members of references, sorted by name and made only once.
struct Parts {
  json::Member api_version{"apiVersion", "v1"};
  json::Member config_map{"kind", "ConfigMap"};
  json::Member secret{"kind", "Secret"};
  json::Member service_account{"kind", "ServiceAccount"};
  json::Member volume_claim{"kind", "PersistentVolumeClaim"};
  json::Value name = "name";
  json::Value ns = "namespace";

  static const Parts& Get() {
    static const Parts& parts = *new Parts;
    return parts;
  }
};

// Appends a reference for each name.
void AppendReferences(const json::Member& kind, const Names& names, const json::Value& ns,
                      std::vector<json::Value>& out) {
  constexpr size_t kMembers = 4;
  const Parts& parts = Parts::Get();
  for (const absl::string_view name : names) {
    std::vector<json::Member> reference;
    reference.reserve(kMembers);
    reference.push_back(parts.api_version);
    reference.push_back(kind);
    reference.emplace_back(parts.name, name);
    if (!ns.is_null()) reference.emplace_back(parts.ns, ns);
    out.push_back(json::Value::OfMembers(std::move(reference)));
  }
}

}  // namespace

PodReferences ReferencesOf(Fields& pod_spec) {
  PodReferences found;
  pod_spec.Each("imagePullSecrets",
                [&](Fields& secret) { Add(found.secrets, secret.String("name")); });
  for (const absl::string_view containers :
       {"initContainers", "containers", "ephemeralContainers"}) {
    AddContainers(pod_spec, containers, found);
  }
  pod_spec.Each("volumes", [&](Fields& volume) { AddVolume(volume, found); });
  const absl::string_view account = pod_spec.String("serviceAccountName");
  if (account != "default") Add(found.service_accounts, account);
  SortUnique(found.config_maps);
  SortUnique(found.secrets);
  SortUnique(found.volume_claims);
  return found;
}

json::Value DependenciesIn(absl::string_view ns, const PodReferences& references) {
  const Parts& parts = Parts::Get();
  const json::Value shown = ns.empty() ? json::Value() : json::Value(ns);
  std::vector<json::Value> out;
  out.reserve(references.config_maps.size() + references.secrets.size() +
              references.service_accounts.size() + references.volume_claims.size());
  AppendReferences(parts.config_map, references.config_maps, shown, out);
  AppendReferences(parts.secret, references.secrets, shown, out);
  AppendReferences(parts.service_account, references.service_accounts, shown, out);
  AppendReferences(parts.volume_claim, references.volume_claims, shown, out);
  if (out.empty()) return nullptr;
  return json::Value::OfItems(std::move(out));
}

absl::StatusOr<json::Value> TemplateDependencies(const kube::Object& object) {
  Fields spec(object.spec(), "spec");
  Fields pod_template = spec.In("template");
  Fields pod_spec = pod_template.In("spec");
  const PodReferences references = ReferencesOf(pod_spec);
  RETURN_IF_ERROR(spec.error());
  return DependenciesIn(object.ns(), references);
}

}  // namespace interpreter::native
