// Each object that is put back has an account: how often since its window began. The window begins
// with the first time, and again with the first one after its end. At kDriftsToReport the event is
// written and the object is silent for a while. Who has changed the object is asked right before it
// is put back for that time; caches do not hold who owns fields. Accounts whose window and silence
// are over are removed, once in a window at most.

#include "works/drift_reports.h"

#include <utility>

#include "absl/strings/match.h"
#include "api/programs.h"
#include "base/release_room.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/patch.h"
#include "kube/meta/patch_paths.h"
#include "works/related.h"

namespace works {
namespace {

constexpr size_t kPathsShown = 5;

// Returns the object without what its API server and its status writers change.
json::Value Wanted(const kube::Object& object) {
  json::Value wanted = object.root();
  wanted.Erase("status");
  wanted.Set("metadata", json::Value::Object(
                             {{"labels", object.labels()}, {"annotations", object.annotations()}}));
  return wanted;
}

// Returns the manager, other than Karmada, that has last set one of these fields; "" if none has.
std::string ManagerOf(const json::Value& managed_fields, const json::Value& patch) {
  std::string manager;
  absl::Time last = absl::InfinitePast();
  for (const json::Value& entry : managed_fields.items()) {
    const absl::string_view name = entry["manager"].AsString();
    // Karmada's own entries are what was put back; those of the status do not drift.
    if (absl::StartsWith(name, "karmada") || entry["subresource"].AsString() == "status") continue;
    if (!kube::OwnsChanged(entry["fieldsV1"], patch)) continue;
    const absl::Time at = kube::ParseTime(entry["time"].AsString()).value_or(absl::UnixEpoch());
    if (at < last) continue;
    last = at;
    manager = std::string(name);
  }
  return manager;
}

kube::Request RequestFor(const std::string& cluster, const kube::Object& object) {
  return {.key = object.key(), .gvk = object.gvk(), .cluster = cluster};
}

}  // namespace

bool DriftReports::IsDue(const kube::Request& object) const {
  const base::SteadyTime now = manager_.clock().SteadyNow();
  absl::MutexLock lock(&mu_);
  const auto found = accounts_.find(object);
  if (found == accounts_.end()) return false;
  const Account& account = found->second;
  return account.times + 1 >= kDriftsToReport && now - account.began < kDriftWindow &&
         now >= account.silent_until;
}

json::Value DriftReports::OwnersBefore(const std::string& cluster, const kube::Object& drifted,
                                       const base::StopToken& stop) {
  // The owners cost a request to the member, so they are read only when a report may need them.
  if (!IsDue(RequestFor(cluster, drifted))) return {};
  return objects_.ManagedFieldsOf(cluster, drifted, stop).value_or(json::Value());
}

int DriftReports::Count(const kube::Request& object) {
  const base::SteadyTime now = manager_.clock().SteadyNow();
  absl::MutexLock lock(&mu_);
  if (now >= next_cleaning_) {
    next_cleaning_ = now + kDriftWindow;
    absl::erase_if(accounts_, [&](const auto& entry) {
      const Account& account = entry.second;
      return now - account.began >= kDriftWindow && now >= account.silent_until;
    });
    base::ReleaseRoom(accounts_);
  }
  Account& account = accounts_[object];
  if (now - account.began >= kDriftWindow) {
    // A new window; drifts of the last one do not count.
    account.began = now;
    account.times = 0;
  }
  if (++account.times < kDriftsToReport || now < account.silent_until) return 0;
  account.silent_until = now + kBetweenDriftReports;
  return account.times;
}

void DriftReports::Note(const PutBack& put_back) {
  const kube::Object& drifted = put_back.drifted;
  const int times = Count(RequestFor(put_back.cluster, drifted));
  if (times == 0) return;
  const json::Value patch = kube::DiffMergePatch(Wanted(drifted), Wanted(put_back.now));
  const api::RepeatedDrift drift{kube::PathsOf(patch, kPathsShown),
                                 ManagerOf(put_back.owners, patch), times};
  const std::string text = api::message::DriftsAgainAndAgain(drifted, put_back.cluster, drift);
  recorder_.Warning(kube::InvolvedObject::Of(put_back.work), api::reason::kRepeatedDrift, text);
  const kube::ObjectPtr binding = BindingOfWork(manager_.cluster(), put_back.work);
  if (binding == nullptr) return;
  recorder_.Warning(kube::InvolvedObject::Of(*binding), api::reason::kRepeatedDrift, text);
}

void DriftReports::ForgetCluster(absl::string_view cluster) {
  absl::MutexLock lock(&mu_);
  absl::erase_if(accounts_, [&](const auto& entry) { return entry.first.cluster == cluster; });
  base::ReleaseRoom(accounts_);
}

}  // namespace works
