#include "interpreter/live/unserved_targets.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kube/client/failed_groups.h"
#include "kube/meta/nearest_kind.h"

namespace interpreter::live {

namespace {

std::string NameOf(const kube::Gvk& gvk) { return absl::StrCat(gvk.ApiVersion(), " ", gvk.kind); }

std::string ProblemText(const kube::Gvk& target, const std::set<kube::Gvk>& served) {
  const std::optional<kube::Gvk> meant = kube::NearestKind(target, served);
  return absl::StrCat("spec.target: the control plane does not serve ", NameOf(target),
                      "; the customization has no effect until it does",
                      meant ? absl::StrCat("; did you mean ", NameOf(*meant), "?") : "");
}

}  // namespace

void UnservedTargets::Look(const std::set<kube::Gvk>& targets, const base::StopToken& stop) {
  next_look_ = base::SteadyTime::InfiniteFuture();
  std::set<kube::Gvk> unknown;
  for (const kube::Gvk& target : targets) {
    if (!target.empty() && !mapper_.Known(target).has_value()) unknown.insert(target);
  }
  std::erase_if(missing_, [&](const auto& entry) { return !unknown.contains(entry.first); });
  if (unknown.empty()) return;
  const absl::StatusOr<std::shared_ptr<const kube::Discovery>> found = mapper_.Discover(stop);
  if (!found.ok()) return;
  std::set<kube::Gvk> served;
  for (const kube::ApiResource& resource : (*found)->resources)
    served.insert(resource.resource.gvk);
  const base::SteadyTime now = clock_.SteadyNow();
  for (const kube::Gvk& target : unknown) {
    if (served.contains(target)) {
      missing_.erase(target);
      continue;
    }
    if (kube::IsUnread((*found)->failed_groups, target.ApiVersion())) continue;
    const auto [entry, is_new] = missing_.try_emplace(target, Missing{.since = now});
    if (is_new) next_look_ = now + kPatience;
    Missing& missing = entry->second;
    if (now >= missing.since + kPatience) missing.problem = ProblemText(target, served);
  }
}

std::string UnservedTargets::ProblemOf(const kube::Gvk& target) const {
  const auto found = missing_.find(target);
  return found == missing_.end() ? "" : found->second.problem;
}

}  // namespace interpreter::live
