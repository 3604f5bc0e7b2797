// A page shows what fails, of all loops and caches. Beside each failure stands what the control
// plane shows of the leader, read every half minute: conditions from the informers, which have what
// the leader has written because a shadow writes nothing, and events by one list.

#include "cmd/controller-manager/shadow_side.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/cluster.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/log.h"
#include "cmd/controller-manager/expected_mends.h"
#include "cmd/controller-manager/shadow_watch.h"
#include "controllers/process/resync.h"

namespace cmd {

void ShadowSide::AddTo(kube::Manager& manager) {
  deps_.shadow->ExpectMends(ExpectedMends());
  deps_.shadow->ExplainBy(
      [this](const kube::Shadow::Subject& subject) { return shown_.Get()->OfWrite(subject); });
  manager.ServeBesideMetrics("/shadow",
                             [this] { return absl::StrCat(json::Write(Page(Failing())), "\n"); });
  ShadowWatch::Deps deps{
      .shadow = deps_.shadow,
      .clock = base::RealClock(),
      .look_at_everything =
          [this](const base::StopToken& stop) {
            controllers::ResyncAll(deps_.informers, deps_.members, stop);
          },
      .is_idle = [this] { return HaveRead() && deps_.manager.IsIdle(); },
      .failing = [this] { return Failing(); },
      .read_shown_failures = [this](const base::StopToken& stop) { ReadShown(stop); },
      .is_down =
          [this](const std::string& cluster) { return !shown_.Get()->OfCluster(cluster).empty(); },
      .time_limit = deps_.end.flags.time_limit};
  if (!deps_.end.flags.report.empty()) {
    deps.end = [this](const ShadowResult& result, const kube::Shadow::Failing& failing) {
      End(result, failing);
    };
  }
  manager.Add(std::make_unique<ShadowWatch>(std::move(deps)));
}

void ShadowSide::End(ShadowResult result, kube::Shadow::Failing failing) {
  int code = ExitCodeOf(result.verdict);
  AddUncompared(*uncompared_.Get(), result);
  for (const std::string& text : result.because) base::LogInfo(absl::StrCat("shadow: ", text));
  base::LogInfo("shadow: ends", {{"verdict", NameOf(result.verdict)},
                                 {"exitCode", code},
                                 {"report", deps_.end.flags.report}});
  const absl::Status written =
      WriteReport(deps_.end.flags.report, ReportText(result, Page(std::move(failing))));
  if (!written.ok()) {
    base::LogError("shadow: the report is lost", {{"error", written}});
    // A verdict that could not be reported must not look like one that was.
    code = 1;
  }
  deps_.end.end(code);
}

void ShadowSide::ReadShown(const base::StopToken& stop) {
  ReadFailures(stop);
  Uncompared uncompared;
  const auto clusters = deps_.informers.Find(api::Clusters());
  for (const auto& [name, why] : shown_.Get()->clusters()) {
    // Nothing but Works is written for a pull cluster, and those are the control plane's.
    const kube::ObjectPtr cluster =
        clusters == nullptr ? nullptr : clusters->store().Find({"", name});
    if (cluster != nullptr && api::ClusterView(*cluster).IsPush()) uncompared.clusters[name] = why;
  }
  const kube::ObjectKey lease{deps_.lease_namespace, api::kControllerManager};
  uncompared.leader =
      LeaderMissing(deps_.client.Get(api::Leases(), lease, stop), lease.ToString(), absl::Now());
  if (!stop.stop_requested()) {
    uncompared_.Set(std::make_shared<const Uncompared>(std::move(uncompared)));
  }
}

void ShadowSide::ReadFailures(const base::StopToken& stop) {
  const auto stored = [this](const kube::Resource& resource) {
    const auto informer = deps_.informers.Find(resource);
    return informer == nullptr ? std::vector<kube::ObjectPtr>() : informer->store().List();
  };
  ShownFailures::Objects objects{.works = stored(api::Works()),
                                 .clusters = stored(api::Clusters()),
                                 .bindings = stored(api::ResourceBindings())};
  for (kube::ObjectPtr& binding : stored(api::ClusterResourceBindings())) {
    objects.bindings.push_back(std::move(binding));
  }
  auto events = deps_.client.ListAll(api::Events(), "", {.field_selector = "type=Warning"}, stop);
  if (events.ok() && !events->items.empty()) {
    objects.events = std::move(events->items);
    // There are many of these, of which who, when and about what is enough.
    events = deps_.client.ListAll(
        api::Events(), "",
        {.field_selector = "type=Normal",
         .fields = {"type", "reason", "involvedObject", "source", "reportingComponent",
                    "lastTimestamp", "series", "eventTime", "firstTimestamp"}},
        stop);
    if (events.ok()) {
      objects.events.insert(objects.events.end(), std::make_move_iterator(events->items.begin()),
                            std::make_move_iterator(events->items.end()));
    } else {
      objects.events.clear();  // Which of the failures have ended is not known.
    }
  }
  if (!events.ok() && !stop.stop_requested()) {
    base::LogWarning(
        "shadow: the events of the leader cannot be read; failures that only they "
        "show count as failures of this program",
        {{"error", events.status()}});
  }
  shown_.Set(std::make_shared<const ShownFailures>(objects, absl::Now()));
}

kube::Shadow::Failing ShadowSide::Failing() const {
  kube::Shadow::Failing failing;
  for (const auto& [kind, why] : deps_.kinds.Unread()) {
    ++failing.count;
    failing.some.push_back({"cache", absl::StrCat(api::kControlPlaneName, " ", kind), why});
  }
  AddUnread(api::kControlPlaneName, {&deps_.informers}, failing);
  for (const std::string& name : deps_.members.Names()) {
    const std::shared_ptr<kube::MemberCluster> member = deps_.members.Find(name);
    if (member == nullptr) continue;
    AddUnread(name, {&member->client().informers(), &member->unfiltered()}, failing);
  }
  kube::Manager::Failures keys = deps_.manager.Failing(std::numeric_limits<size_t>::max());
  failing.count += keys.some.size();
  for (kube::Manager::Failure& key : keys.some) {
    failing.some.push_back({std::move(key.controller), std::move(key.key), std::move(key.error)});
  }
  const auto shown = shown_.Get();
  for (kube::Shadow::Failure& failure : failing.some) {
    failure.upstream = shown->OfKey(failure.controller, failure.key);
    if (!failure.upstream.empty()) ++failing.upstream;
  }
  return failing;
}

bool ShadowSide::HaveRead() const {
  if (!AllHaveRead(deps_.informers)) return false;
  for (const std::string& name : deps_.members.Names()) {
    const std::shared_ptr<kube::MemberCluster> member = deps_.members.Find(name);
    if (member == nullptr) continue;
    if (!AllHaveRead(member->client().informers()) || !AllHaveRead(member->unfiltered())) {
      return false;
    }
  }
  return true;
}

json::Value ShadowSide::Page(kube::Shadow::Failing failing) const {
  // Those that only this program has are shown first, since the list is cut.
  std::stable_partition(failing.some.begin(), failing.some.end(),
                        [](const auto& failure) { return failure.upstream.empty(); });
  if (failing.some.size() > ShadowWatch::kMostFailures) {
    failing.some.resize(ShadowWatch::kMostFailures);
  }
  json::Value page = deps_.shadow->PageObject(failing);
  const auto uncompared = uncompared_.Get();
  json::Value clusters = json::Value::Array();
  for (const auto& [cluster, why] : uncompared->clusters) clusters.Append(cluster);
  page.Set("notCompared", std::move(clusters));
  page.Set("noLeader", uncompared->leader);
  return page;
}

}  // namespace cmd
