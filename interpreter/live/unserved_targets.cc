#include "interpreter/live/unserved_targets.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "kube/discovery/failed_groups.h"
#include "kube/meta/nearest_kind.h"

namespace interpreter::live {

namespace {

std::string NameOf(const kube::Gvk& gvk) { return absl::StrCat(gvk.ApiVersion(), " ", gvk.kind); }

constexpr absl::string_view kTarget = "spec.target";

// Returns the end of the problem's text.
std::string Hint(const kube::Gvk& target, const std::set<kube::Gvk>& served) {
  const std::optional<kube::Gvk> meant = kube::NearestKind(target, served);
  return meant ? absl::StrCat("; did you mean ", NameOf(*meant), "?") : "";
}

}  // namespace

bool UnservedTargets::Look(const std::set<kube::Gvk>& targets, const base::StopToken& stop) {
  std::set<kube::Gvk> unknown;
  for (const kube::Gvk& target : targets) {
    if (!target.empty() && !mapper_.Known(target).has_value()) unknown.insert(target);
  }
  const auto before = Problems();
  std::erase_if(missing_, [&](const auto& entry) { return !unknown.contains(entry.first); });
  if (!unknown.empty()) Judge(unknown, stop);
  PlanNextLook();
  return Problems() != before;
}

void UnservedTargets::Judge(const std::set<kube::Gvk>& unknown, const base::StopToken& stop) {
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
    // A group whose server did not answer may serve the kind; what was known about it stays.
    if (kube::IsUnread((*found)->failed_groups, target.ApiVersion())) continue;
    Missing& missing = missing_.try_emplace(target, Missing{.since = now}).first->second;
    if (now >= missing.since + kPatience) missing.problem = Hint(target, served);
  }
}

void UnservedTargets::PlanNextLook() {
  const base::SteadyTime now = clock_.SteadyNow();
  next_look_ = base::SteadyTime::InfiniteFuture();
  for (const auto& [target, missing] : missing_) {
    if (missing.problem.has_value()) continue;
    const base::SteadyTime over = missing.since + kPatience;
    // When the patience is over and there is no problem, the look has failed.
    next_look_ = std::min(next_look_, over > now ? over : now + kPatience);
  }
}

std::map<kube::Gvk, std::string> UnservedTargets::Problems() const {
  std::map<kube::Gvk, std::string> problems;
  for (const auto& [target, missing] : missing_) {
    if (missing.problem.has_value()) problems.emplace(target, *missing.problem);
  }
  return problems;
}

std::string UnservedTargets::ProblemOf(const kube::Gvk& target) const {
  return ProblemOf(target, kTarget);
}

std::string UnservedTargets::ProblemOf(const kube::Gvk& target, absl::string_view field) const {
  const auto found = missing_.find(target);
  if (found == missing_.end() || !found->second.problem.has_value()) return "";
  return absl::StrCat(field, ": the control plane does not serve ", NameOf(target), "; ",
                      field == kTarget ? "the customization" : "the entry",
                      " has no effect until it does", *found->second.problem);
}

}  // namespace interpreter::live
