#include "sandbox/kinds/registry.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace sandbox {
namespace {

std::vector<ResourceInfoPtr> Shared(std::vector<ResourceInfo> infos) {
  std::vector<ResourceInfoPtr> out;
  out.reserve(infos.size());
  for (ResourceInfo& info : infos) {
    out.push_back(std::make_shared<const ResourceInfo>(std::move(info)));
  }
  return out;
}

}  // namespace

Registry::Registry() : builtin_(Shared(BuiltinResources())) {
  absl::MutexLock lock(&mu_);
  Rebuild();
}

ResourceInfoPtr Registry::Find(const kube::Gvr& gvr) const {
  absl::MutexLock lock(&mu_);
  const auto it = by_gvr_.find(gvr);
  return it == by_gvr_.end() ? nullptr : it->second;
}

ResourceInfoPtr Registry::Find(const kube::Gvk& gvk) const {
  absl::MutexLock lock(&mu_);
  const auto it = by_gvk_.find(gvk);
  return it == by_gvk_.end() ? nullptr : it->second;
}

ResourceInfoPtr Registry::FindAny(const GroupName& resource) const {
  absl::MutexLock lock(&mu_);
  for (const ResourceInfoPtr& info : all_) {
    if (info->name() == resource) return info;
  }
  return nullptr;
}

std::vector<ResourceInfoPtr> Registry::All() const {
  absl::MutexLock lock(&mu_);
  return all_;
}

void Registry::SetCustom(const std::string& definition, std::vector<ResourceInfo> versions) {
  absl::MutexLock lock(&mu_);
  if (versions.empty()) {
    custom_.erase(definition);
  } else {
    custom_[definition] = Shared(std::move(versions));
  }
  Rebuild();
}

void Registry::Rebuild() {
  all_ = builtin_;
  for (const auto& [name, versions] : custom_) {
    all_.insert(all_.end(), versions.begin(), versions.end());
  }
  // Definitions are sorted by plural first, but discovery needs each group together.
  std::stable_sort(all_.begin() + static_cast<std::ptrdiff_t>(builtin_.size()), all_.end(),
                   [](const ResourceInfoPtr& a, const ResourceInfoPtr& b) {
                     return a->resource.gvk.group < b->resource.gvk.group;
                   });
  by_gvr_.clear();
  by_gvk_.clear();
  for (const ResourceInfoPtr& info : all_) {
    by_gvr_.emplace(info->resource.gvr(), info);
    by_gvk_.emplace(info->resource.gvk, info);
  }
}

}  // namespace sandbox
