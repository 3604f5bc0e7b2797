#include "binding/other_claims.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "api/resources.h"
#include "works/binding_works.h"
#include "works/related.h"
#include "works/standing_binding.h"

namespace binding {
namespace {

// Karmada makes one binding for each object; a copy or two are somebody's.
constexpr size_t kMostOriginals = 8;

bool IsSame(const kube::Object& a, const kube::Object& b) {
  return a.key() == b.key();  // The scopes differ in having a namespace.
}

}  // namespace

bool OtherClaims::IsSyncedInto(const kube::Object& object, const std::string& cluster) const {
  if (!is_synced_ || object.gvk() != api::Namespaces().gvk) return false;
  const kube::ObjectPtr ns = client_.Find(api::Namespaces(), object.key());
  const kube::ObjectPtr member = client_.Find(api::Clusters(), {"", cluster});
  return ns != nullptr && is_synced_(*ns) && member != nullptr &&
         works::TakesWorks(client_, *member);
}

OtherClaims::Claimant OtherClaims::Of(const kube::Object& work, const kube::Object& binding) const {
  const absl::StatusOr<std::string> cluster = api::ClusterOfExecutionNamespace(work.ns());
  const kube::Object object = works::ObjectOf(work);
  if (!cluster.ok() || object.name().empty()) return Claimant::kNone;
  const auto is_other_there = [&](const kube::Object& other) {
    return !IsSame(other, binding) && works::Expects(other, *cluster);
  };
  if (works::StandingBinding(client_, object.kind(), object.key(), is_other_there) != nullptr) {
    return Claimant::kBinding;
  }
  return IsSyncedInto(object, *cluster) ? Claimant::kNamespaceSync : Claimant::kNone;
}

Originals OtherClaims::OriginalsOf(const kube::Object& binding) const {
  Originals originals;
  const std::vector<kube::ObjectPtr> before = works::BindingsBefore(client_, binding);
  if (before.size() > kMostOriginals) {
    originals.everywhere = before.front();
    return originals;
  }
  for (const kube::ObjectPtr& other : before) {
    for (const std::string& cluster : api::BindingView(*other).ExpectedClusters()) {
      // The first in the order of BindingsBefore has the Work; the others are copies, too.
      originals.by_cluster.try_emplace(cluster, other);
    }
  }
  return originals;
}

absl::Status Originals::CheckIsNoCopy(const kube::Object& binding,
                                      absl::string_view cluster) const {
  const auto found = by_cluster.find(cluster);
  if (everywhere == nullptr && found == by_cluster.end()) return absl::OkStatus();
  const kube::Object& original = everywhere != nullptr ? *everywhere : *found->second;
  return absl::FailedPreconditionError(
      absl::StrCat("the Work of ", api::BindingView(binding).Resource().Describe(), " is that of ",
                   original.Describe(), ", which stands for the same object; ", binding.Describe(),
                   " is a copy: delete one of the two"));
}

}  // namespace binding
