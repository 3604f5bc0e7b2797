#include "lens/plan/definitions.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "lens/plan/outcome.h"
#include "sandbox/sim/kinds.h"

namespace lens::plan {
namespace {

std::string PluralOf(absl::string_view kind) {
  const std::string name = absl::AsciiStrToLower(kind);
  for (const char* ending : {"s", "x", "ch", "sh"}) {
    if (absl::EndsWith(name, ending)) return name + "es";
  }
  const bool vowel = name.size() > 1 && absl::StrContains("aeiou", name[name.size() - 2]);
  if (absl::EndsWith(name, "y") && !vowel) return name.substr(0, name.size() - 1) + "ies";
  return name + "s";
}

}  // namespace

kube::Object AssumedDefinition(const kube::Gvk& gvk, bool namespaced) {
  const std::string plural = PluralOf(gvk.kind);
  kube::Object definition = kube::Object::Make(sandbox::kinds::Definitions().gvk,
                                               {"", absl::StrCat(plural, ".", gvk.group)});
  const json::Value schema = json::Value::Object(
      {{"openAPIV3Schema", json::Value::Object({{"type", "object"},
                                                {"x-kubernetes-preserve-unknown-fields", true}})}});
  const json::Value version = json::Value::Object(
      {{"name", gvk.version},
       {"served", true},
       {"storage", true},
       {"subresources", json::Value::Object({{"status", json::Value::Object()}})},
       {"schema", schema}});
  definition.Set(
      {"spec"},
      json::Value::Object(
          {{"group", gvk.group},
           {"scope", namespaced ? "Namespaced" : "Cluster"},
           {"names", json::Value::Object({{"kind", gvk.kind},
                                          {"listKind", absl::StrCat(gvk.kind, "List")},
                                          {"plural", plural},
                                          {"singular", absl::AsciiStrToLower(gvk.kind)}})},
           {"versions", json::Value::Array({version})}}));
  return definition;
}

// An apply would leave what the server's own definition has and the given one has not.
absl::Status ReplaceDefinition(sandbox::Backend& backend, const kube::Object& now,
                               kube::Object definition) {
  for (const char* field : {"labels", "annotations"}) {
    for (const json::Member& member : now.metadata()[field].members()) {
      if (!IsKarmadaKey(member.name())) continue;
      definition.Set({"metadata", field, member.name()}, member.value);
    }
  }
  definition.Set({"metadata", "finalizers"}, now.metadata()["finalizers"]);
  definition.Set({"metadata", "resourceVersion"}, now.resource_version());
  return backend.Update(sandbox::kinds::Definitions().gvr(), std::move(definition)).status();
}

}  // namespace lens::plan
