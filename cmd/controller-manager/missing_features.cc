#include "cmd/controller-manager/missing_features.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/resources.h"
#include "base/json.h"
#include "base/log.h"
#include "config/support.h"
#include "kube/cache/cluster_client.h"

namespace cmd {
namespace {

// False as well when the server does not serve the kind, or does not answer.
bool HasObjects(kube::Client& client, const config::KindSupport& kind,
                const base::StopToken& stop) {
  const absl::StatusOr<kube::HttpResponse> page = client.GetRaw(
      absl::StrCat("/apis/", kind.group, "/", kind.version, "/", kind.resource, "?limit=1"), stop);
  if (!page.ok() || page->code != 200) return false;
  const absl::StatusOr<json::Value> list = json::Parse(page->body);
  return list.ok() && !list->Get({"items"}).empty();
}

bool HasItems(const kube::Object& object, absl::string_view field) {
  return !object.Get({"spec", field}).empty();
}

}  // namespace

absl::Status MissingFeatures::Run(const base::StopToken& stop) {
  WarnOfKinds(stop);
  WarnOfBindings(stop);
  return absl::OkStatus();
}

void MissingFeatures::WarnOfKinds(const base::StopToken& stop) {
  std::vector<std::string> found;
  for (const config::KindSupport& kind : config::Kinds()) {
    if (kind.state != config::State::kNotYet) continue;
    if (!HasObjects(manager_.cluster().raw(), kind, stop)) continue;
    found.push_back(absl::StrCat(kind.resource, ".", kind.group, " (", kind.note, ")"));
  }
  if (found.empty()) return;
  base::LogWarning("the control plane has objects of features that this program does not have yet",
                   {{"kinds", absl::StrJoin(found, ", ")}, {"see", "docs/support.md"}});
}

void MissingFeatures::WarnOfBindings(const base::StopToken& stop) {
  int evictions = 0, dependencies = 0;
  for (const kube::Resource& resource : {api::ResourceBindings(), api::ClusterResourceBindings()}) {
    const auto informer = manager_.cluster().informers().Get(resource);
    const base::SteadyTime deadline =
        manager_.clock().SteadyNow() + manager_.options().cache_sync_timeout;
    if (!informer->WaitForSync(deadline, stop).ok()) return;
    for (const kube::ObjectPtr& binding : informer->store().List()) {
      evictions += HasItems(*binding, "gracefulEvictionTasks") ? 1 : 0;
      dependencies += HasItems(*binding, "requiredBy") ? 1 : 0;
    }
  }
  if (evictions > 0) {
    base::LogWarning("bindings have graceful eviction tasks, which this program does not end yet",
                     {{"bindings", evictions}});
  }
  if (dependencies > 0) {
    base::LogWarning(
        "bindings of dependencies exist: they follow their templates, but this program makes no "
        "new ones and removes none yet",
        {{"bindings", dependencies}});
  }
}

}  // namespace cmd
