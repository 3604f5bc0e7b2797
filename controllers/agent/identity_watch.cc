#include "controllers/agent/identity_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"

namespace controllers {

IdentityWatch::IdentityWatch(std::string cluster, std::string id, kube::Manager& manager)
    : Periodic(manager.clock()),
      cluster_(std::move(cluster)),
      id_(std::move(id)),
      clusters_(manager.cluster().informers().Get(api::Clusters())) {
  const auto look = [this](const kube::ObjectPtr& cluster) {
    if (IsAnother(*cluster)) Wake();
  };
  handler_ = clusters_->AddHandler(
      {.on_add = [look](const kube::ObjectPtr& cluster, bool) { look(cluster); },
       .on_update = [look](const kube::ObjectPtr&,
                           const kube::ObjectPtr& cluster) { look(cluster); }});
}

IdentityWatch::~IdentityWatch() { clusters_->RemoveHandler(handler_); }

absl::Duration IdentityWatch::Tick(const base::StopToken&) {
  const kube::ObjectPtr cluster = clusters_->store().Find({"", cluster_});
  if (cluster != nullptr && IsAnother(*cluster)) {
    EndWith(absl::AbortedError(
        absl::StrCat("the name ", cluster_, " has been given to another cluster, with the ID \"",
                     cluster->spec()["id"].AsString(), "\"; this one, with the ID \"", id_,
                     "\", is left as it is")));
  }
  return absl::InfiniteDuration();
}

// One without an identity says nothing about whose it is.
bool IdentityWatch::IsAnother(const kube::Object& cluster) const {
  const absl::string_view its = cluster.spec()["id"].AsString();
  return cluster.name() == cluster_ && !its.empty() && its != id_;
}

}  // namespace controllers
