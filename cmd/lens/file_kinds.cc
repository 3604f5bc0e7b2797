#include "cmd/lens/file_kinds.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "config/support.h"
#include "sandbox/kinds/custom_definitions.h"
#include "sandbox/kinds/resource_info.h"
#include "sandbox/sim/kinds.h"

namespace cmd::lens {
namespace {

void Add(kube::Resource resource, std::vector<std::string> short_names, kube::Discovery& kinds) {
  kinds.resources.push_back({std::move(resource), {"get"}, std::move(short_names), true});
}

void AddAll(const std::vector<sandbox::ResourceInfo>& infos, kube::Discovery& kinds) {
  for (const sandbox::ResourceInfo& info : infos) Add(info.resource, info.short_names, kinds);
}

// The short names of the kinds that a graph shows beside templates.
std::vector<std::string> ShortNamesOf(absl::string_view resource) {
  if (resource == "propagationpolicies") return {"pp"};
  if (resource == "clusterpropagationpolicies") return {"cpp"};
  return {};
}

}  // namespace

kube::Discovery KindsFor(const std::vector<::lens::plan::InputObject>& objects) {
  kube::Discovery kinds;
  AddAll(sandbox::BuiltinResources(), kinds);
  for (const config::KindSupport& kind : config::Kinds()) {
    const kube::Gvk gvk{std::string(kind.group), std::string(kind.version), std::string(kind.kind)};
    Add({gvk, std::string(kind.resource), true}, ShortNamesOf(kind.resource), kinds);
  }
  for (const ::lens::plan::InputObject& read : objects) {
    if (read.object.gvk() == sandbox::kinds::Definitions().gvk) {
      AddAll(sandbox::ServedBy(read.object), kinds);
    }
  }
  // A custom resource without its definition has the plural that most have.
  for (const ::lens::plan::InputObject& read : objects) {
    const std::string plural = absl::StrCat(absl::AsciiStrToLower(read.object.kind()), "s");
    Add({read.object.gvk(), plural, true}, {}, kinds);
  }
  return kinds;
}

}  // namespace cmd::lens
