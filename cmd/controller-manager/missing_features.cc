// How it works. Objects of some kinds ask for something that this program does not do, such as a
// FederatedResourceQuota; the table is in config/support.h. Such kinds are watched only for this
// purpose, once they are served. Handlers ignore the objects of the first list, because those were
// there before and a restart must write nothing; the log names their kinds. A kind that comes to be
// served later has no first list in that sense: its objects are new.
#include "cmd/controller-manager/missing_features.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/json.h"
#include "base/log.h"
#include "config/support.h"
#include "kube/cache/cluster_client.h"
#include "kube/runtime/controller.h"

namespace cmd {
namespace {

kube::Gvk GvkOf(const config::KindSupport& kind) {
  return {std::string(kind.group), std::string(kind.version), std::string(kind.kind)};
}

// Returns the kind's row of the table; nullptr when there is none, or the kind has an effect.
const config::KindSupport* WithoutEffect(const kube::Gvk& gvk) {
  for (const config::KindSupport& kind : config::Kinds()) {
    if (kind.state == config::State::kNotYet && GvkOf(kind) == gvk) return &kind;
  }
  return nullptr;
}

// Returns false also when the server does not serve the kind, or does not answer.
bool HasObjects(kube::Client& client, const config::KindSupport& kind,
                const base::StopToken& stop) {
  const absl::StatusOr<kube::HttpResponse> page = client.GetRaw(
      absl::StrCat("/apis/", kind.group, "/", kind.version, "/", kind.resource, "?limit=1"), stop);
  if (!page.ok() || page->code != 200) return false;
  const absl::StatusOr<json::Value> list = json::Parse(page->body);
  return list.ok() && !list->Get({"items"}).empty();
}

}  // namespace

MissingFeatures::MissingFeatures(kube::Manager& manager, kube::WatchedKinds& kinds)
    : manager_(manager),
      recorder_(manager.events(), api::kControllerManagerSource),
      subscription_(kinds.Subscribe(*this)) {}

absl::Status MissingFeatures::Run(const base::StopToken& stop) {
  WarnOfKinds(stop);
  return absl::OkStatus();
}

void MissingFeatures::OnDiscovered(const kube::ServedKinds& served) {
  at_start_ = served.at_start;
  for (const config::KindSupport& kind : config::Kinds()) {
    if (kind.state != config::State::kNotYet) continue;
    const kube::Gvk gvk = GvkOf(kind);
    // Kinds that are not served are not asked for, because that would repeat discovery more often.
    const bool is_served = served.kinds.contains(gvk);
    if (is_served && watched_.insert(gvk).second) {
      subscription_.Need(gvk, "without effect");
    } else if (!is_served && watched_.erase(gvk) > 0) {
      subscription_.Release(gvk, "without effect");
    }
  }
}

kube::EventHandler MissingFeatures::HandlerFor(const kube::Resource& resource) {
  const config::KindSupport* const kind = WithoutEffect(resource.gvk);
  if (kind == nullptr) return {};
  const std::string what = absl::StrCat(kind->kind, " has no effect yet: ", kind->note);
  const bool is_new = !at_start_.contains(resource.gvk);
  return HandlerOf(is_new, [this, what](const kube::Object& object) { Report(object, what); });
}

kube::EventHandler MissingFeatures::HandlerOf(bool from_start,
                                              std::function<void(const kube::Object&)> report) {
  kube::EventHandler handler;
  handler.on_add = [from_start, report](const kube::ObjectPtr& object, bool initial_list) {
    if ((from_start || !initial_list) && !object->IsDeleting()) report(*object);
  };
  handler.on_update = [report](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
    if (kube::GenerationChanged(*before, *after) && !after->IsDeleting()) report(*after);
  };
  return handler;
}

void MissingFeatures::Report(const kube::Object& object, const std::string& what) {
  // Whoever sees the event finds the line in the log.
  base::LogWarning("an object asks for what this program does not do yet",
                   {{"object", object.Describe()}, {"what", what}});
  recorder_.Warning(kube::InvolvedObject::Of(object), api::reason::kNotSupportedYet, what);
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

}  // namespace cmd
