#include "interpreter/live/unknown_kinds.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace interpreter::live {

namespace {

bool CannotTell(const webhook::Hook& hook, const kube::Gvk& gvk) {
  return std::any_of(hook.rules.begin(), hook.rules.end(),
                     [&](const webhook::Rule& rule) { return rule.kinds.NeedsResourceOf(gvk); });
}

}  // namespace

std::optional<kube::Resource> UnknownKinds::LookUp(const kube::Gvk& gvk) {
  std::optional<kube::Resource> known = mapper_.Known(gvk);
  if (known.has_value()) return known;
  absl::MutexLock lock(&mu_);
  if (kinds_.size() < kMost) kinds_.insert(gvk);
  return std::nullopt;
}

std::set<kube::Gvk> UnknownKinds::Remembered() const {
  absl::MutexLock lock(&mu_);
  return kinds_;
}

std::set<kube::Gvk> UnknownKinds::TakeKnown(const base::StopToken& stop) {
  std::set<kube::Gvk> known;
  for (const kube::Gvk& gvk : Remembered()) {
    if (mapper_.ForKind(gvk, stop).ok()) known.insert(gvk);
  }
  absl::MutexLock lock(&mu_);
  for (const kube::Gvk& gvk : known) kinds_.erase(gvk);
  return known;
}

std::vector<std::string> UnknownKinds::ProblemsOf(const std::vector<webhook::Hook>& hooks) const {
  std::vector<std::string> problems;
  const std::set<kube::Gvk> kinds = Remembered();
  for (const webhook::Hook& hook : hooks) {
    for (const kube::Gvk& gvk : kinds) {
      if (!CannotTell(hook, gvk)) continue;
      problems.push_back(absl::StrCat("webhook ", hook.uid, " is not asked about ", gvk.kind, " (",
                                      gvk.ApiVersion(),
                                      "): the API server does not serve the kind, so that nobody "
                                      "knows which resource it is"));
    }
  }
  return problems;
}

}  // namespace interpreter::live
