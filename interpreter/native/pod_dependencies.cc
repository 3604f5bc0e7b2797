#include "interpreter/native/pod_dependencies.h"

#include <algorithm>
#include <iterator>

namespace interpreter::native {

namespace {

using Names = PodReferences::Names;

void Add(Names& names, const json::Value& name) {
  if (!name.AsString().empty()) names.push_back(name.AsString());
}

// What env and envFrom of the containers refer to.
void AddContainers(const json::Value& containers, PodReferences& found) {
  for (const json::Value& container : containers.items()) {
    for (const json::Value& source : container["envFrom"].items()) {
      Add(found.config_maps, source["configMapRef"]["name"]);
      Add(found.secrets, source["secretRef"]["name"]);
    }
    for (const json::Value& variable : container["env"].items()) {
      const json::Value& source = variable["valueFrom"];
      if (source.is_null()) continue;
      Add(found.config_maps, source["configMapKeyRef"]["name"]);
      Add(found.secrets, source["secretKeyRef"]["name"]);
    }
  }
}

void AddProjected(const json::Value& projected, absl::string_view kind, Names& names) {
  for (const json::Value& source : projected["sources"].items()) Add(names, source[kind]["name"]);
}

// Where a kind of volume names its secret; member "": `field` itself is the name.
struct SecretSource {
  absl::string_view kind, field, member;
};
constexpr absl::string_view kProjected = "projected";
// In Kubernetes' order: of several sources in one volume the first one counts.
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

void AddVolumeSecret(const json::Value& volume, Names& names) {
  const SecretSource* source = std::end(kSecretSources);
  for (const json::Member& member : volume.members()) {
    if (member.value.is_null()) continue;
    source = std::min(source, std::find_if(std::begin(kSecretSources), std::end(kSecretSources),
                                           [&](const SecretSource& candidate) {
                                             return candidate.kind == member.name();
                                           }));
  }
  if (source == std::end(kSecretSources)) return;
  const json::Value& held = volume[source->kind];
  if (source->kind == kProjected) return AddProjected(held, "secret", names);
  const json::Value& field = held[source->field];
  Add(names, source->member.empty() ? field : field[source->member]);
}

void AddVolumes(const json::Value& volumes, PodReferences& found) {
  for (const json::Value& volume : volumes.items()) {
    if (const json::Value& projected = volume[kProjected]; !projected.is_null()) {
      AddProjected(projected, "configMap", found.config_maps);
    } else {
      Add(found.config_maps, volume["configMap"]["name"]);
    }
    AddVolumeSecret(volume, found.secrets);
    Add(found.volume_claims, volume["persistentVolumeClaim"]["claimName"]);
  }
}

void SortUnique(Names& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// Appends a reference for each name. `reference` is used to make them.
void AppendReferences(absl::string_view kind, const Names& names, json::Value& reference,
                      json::Value& out) {
  if (names.empty()) return;
  reference.Set("kind", kind);
  for (const absl::string_view name : names) {
    reference.Set("name", name);
    out.Append(reference);
  }
}

}  // namespace

PodReferences ReferencesOf(const json::Value& pod_spec) {
  PodReferences found;
  for (const json::Value& secret : pod_spec["imagePullSecrets"].items()) {
    Add(found.secrets, secret["name"]);
  }
  for (const char* containers : {"initContainers", "containers", "ephemeralContainers"}) {
    AddContainers(pod_spec[containers], found);
  }
  AddVolumes(pod_spec["volumes"], found);
  const absl::string_view account = pod_spec["serviceAccountName"].AsString();
  if (!account.empty() && account != "default") found.service_accounts.push_back(account);
  SortUnique(found.config_maps);
  SortUnique(found.secrets);
  SortUnique(found.volume_claims);
  return found;
}

json::Value DependenciesIn(absl::string_view ns, const PodReferences& references) {
  json::Value reference =
      json::Value::Object({{"apiVersion", "v1"}, {"kind", ""}, {"name", ""}, {"namespace", ns}});
  if (ns.empty()) reference.Erase("namespace");
  json::Value out;
  AppendReferences("ConfigMap", references.config_maps, reference, out);
  AppendReferences("Secret", references.secrets, reference, out);
  AppendReferences("ServiceAccount", references.service_accounts, reference, out);
  AppendReferences("PersistentVolumeClaim", references.volume_claims, reference, out);
  return out;
}

absl::StatusOr<json::Value> TemplateDependencies(const kube::Object& object) {
  return DependenciesIn(object.ns(), ReferencesOf(object.Get({"spec", "template", "spec"})));
}

}  // namespace interpreter::native
