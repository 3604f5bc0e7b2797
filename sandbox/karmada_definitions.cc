#include "sandbox/karmada_definitions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/status.h"
#include "config/binding_schema.h"
#include "sandbox/manifests.h"

namespace sandbox {
namespace {

// Returns the release that the definitions show; nullopt when ResourceBinding is not among them.
std::optional<config::Release> ReleaseOf(const std::vector<kube::Object>& definitions) {
  const kube::Resource& bindings = api::ResourceBindings();
  for (const kube::Object& definition : definitions) {
    const json::Value& spec = definition.spec();
    if (spec["group"].AsString() != bindings.gvk.group) continue;
    if (spec["names"]["kind"].AsString() != bindings.gvk.kind) continue;
    for (const json::Value& version : spec["versions"].items()) {
      if (version["name"].AsString() != bindings.gvk.version) continue;
      return config::ReleaseOfBindingSchema(version["schema"]["openAPIV3Schema"]);
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<KarmadaDefinitions> ReadKarmadaDefinitions(const std::string& directory,
                                                          std::optional<config::Release> wanted) {
  KarmadaDefinitions read;
  const std::string instead =
      wanted.has_value() ? absl::StrCat(directory, "/", config::kReleases.TextOf(*wanted)) : "";
  ASSIGN_OR_RETURN(read.objects, ReadManifests(directory, instead));
  read.release = ReleaseOf(read.objects).value_or(wanted.value_or(config::Release::kV1_18));
  if (wanted.has_value() && read.release != *wanted) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the definitions in ", directory, " are those of Karmada ",
        config::kReleases.TextOf(read.release), ", not of ", config::kReleases.TextOf(*wanted)));
  }
  return read;
}

}  // namespace sandbox
