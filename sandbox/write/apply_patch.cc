#include "sandbox/write/apply_patch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sandbox {
namespace {

// Fields that identify an object are not owned by anybody.
json::Value OwnedPart(const kube::Object& config) {
  json::Value owned = config.root();
  owned.Erase("apiVersion");
  owned.Erase("kind");
  for (absl::string_view field : {"name", "namespace", "uid", "resourceVersion",
                                  "creationTimestamp", "generation", "managedFields"}) {
    owned.Erase({"metadata", field});
  }
  return owned;
}

struct Clash {
  std::string manager, path;
};

absl::Status ConflictsError(const std::vector<Clash>& clashes) {
  json::Value causes = json::Value::Array();
  std::vector<std::string> lines;
  for (const Clash& c : clashes) {
    const std::string message = absl::StrCat("conflict with \"", c.manager, "\"");
    causes.Append(json::Value::Object(
        {{"reason", "FieldManagerConflict"}, {"message", message}, {"field", c.path}}));
    lines.push_back(absl::StrCat(message, ": ", c.path));
  }
  return ToStatus({409, "Conflict",
                   absl::StrCat("Apply failed with ", clashes.size(),
                                clashes.size() == 1 ? " conflict: " : " conflicts: ",
                                absl::StrJoin(lines, "\n")),
                   json::Value::Object({{"causes", causes}})});
}

}  // namespace

FieldOwnership::ByManager FieldOwnership::Of(const Request& request, const kube::Object& current) {
  absl::MutexLock lock(&mu_);
  const auto found = applied_.find({request.table, request.key});
  if (found == applied_.end()) return {};
  ByManager out;
  for (const auto& [manager, applied] : found->second) {
    if (applied.uid == current.uid()) out.emplace(manager, applied);
  }
  return out;
}

absl::StatusOr<kube::Object> FieldOwnership::Apply(const ResourceInfo& info, const Request& request,
                                                   const kube::Object& current,
                                                   const kube::Object& config) {
  if (current.empty()) return config;
  const ApplyMerge merge(info);
  const json::Value owned = OwnedPart(config);
  const ByManager managers = Of(request, current);
  std::vector<Clash> clashes;
  // Fields that other appliers still set are kept even if this one drops them.
  json::Value kept = owned;
  for (const auto& [manager, applied] : managers) {
    if (manager == request.manager) continue;
    for (std::string& path : merge.Differences(owned, applied.config)) {
      clashes.push_back({manager, std::move(path)});
    }
    kept = merge.Merge(kept, applied.config);
  }
  if (!clashes.empty() && !request.force) return ConflictsError(clashes);
  json::Value live = current.root();
  const auto mine = managers.find(request.manager);
  if (mine != managers.end()) live = merge.Remove(live, mine->second.config, kept);
  return kube::Object(merge.Merge(live, config.root()));
}

void FieldOwnership::Remember(const Request& request, const kube::Object& stored,
                              const kube::Object& config) {
  absl::MutexLock lock(&mu_);
  ByManager& managers = applied_[{request.table, request.key}];
  for (auto it = managers.begin(); it != managers.end();) {
    it = it->second.uid == stored.uid() ? std::next(it) : managers.erase(it);
  }
  managers[request.manager] = {std::string(stored.uid()), OwnedPart(config)};
}

void FieldOwnership::Forget(const GroupName& table, const kube::ObjectKey& key) {
  absl::MutexLock lock(&mu_);
  applied_.erase({table, key});
}

}  // namespace sandbox
