// unhealthy_, under mu_, has each object that was unhealthy in its last pass, with the message of
// that pass. One request of the loop's queue looks at all of them: it is put there, with a delay,
// when the first object is added to the account, and repeats itself while the account has objects
// that are not reported. A rollout that succeeds is out of the account before the look.
//
// The account is this process's. What its first pass finds unhealthy, as the Work shows already,
// began before this process did and counts as reported: a restart, or a take-over, must not write
// an event for each unhealthy object, and it is not known which of them have had theirs.

#include "controllers/work_status/health_reports.h"

#include <algorithm>
#include <utility>

#include "api/binding.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "base/release_room.h"
#include "base/status.h"
#include "kube/cache/cluster_client.h"
#include "works/related.h"

namespace controllers {
namespace {

kube::Request ObjectOf(const HealthReports::Subject& subject) {
  return {.key = subject.object.key(), .gvk = subject.object.gvk(), .cluster = subject.cluster};
}

}  // namespace

void HealthReports::LookWith(kube::WorkQueue& queue, kube::Request look) {
  queue_ = &queue;
  look_ = std::move(look);
}

absl::StatusOr<std::string> HealthReports::Interpret(const Subject& subject) {
  const kube::Gvk gvk = subject.object.gvk();
  if (!interpreter_.HasRule(gvk, interpreter::Operation::kInterpretHealth)) {
    Removed(subject);  // Its rule may have been deleted.
    return std::string(api::kHealthy);
  }
  const kube::ObjectKey key = subject.object.key();
  const auto about = kube::InvolvedObject::Of(subject.work);
  const absl::StatusOr<interpreter::Health> health = interpreter_.InterpretHealth(subject.object);
  if (!health.ok()) {
    // For how long it has been unhealthy is not known any more.
    Removed(subject);
    recorder_.Warning(about, api::reason::kInterpretHealthFailed,
                      api::message::HealthNotInterpreted(gvk.kind, key, health.status()));
    return base::Annotate(health.status(), "interpreting health of ", subject.object.Describe(),
                          " in cluster ", subject.cluster);
  }
  const std::string now = health->healthy ? api::kHealthy : api::kUnhealthy;
  bool is_news = subject.known != now;
  if (health->healthy) {
    Removed(subject);
  } else {
    // While the write of the Work is held, later passes find more of the same with other words.
    is_news = Added(subject, health->message) && is_news;
  }
  if (!is_news) return now;
  const std::string text = health->healthy
                               ? api::message::HealthInterpreted(gvk.kind, key, true)
                               : api::message::UnhealthyBecause(gvk.kind, key, health->message);
  if (subject.known.empty()) {
    recorder_.Routine(about, api::reason::kInterpretHealthSucceed, text);
  } else {
    recorder_.Normal(about, api::reason::kInterpretHealthSucceed, text);
  }
  return now;
}

bool HealthReports::Added(const Subject& subject, std::string message) {
  const base::SteadyTime now = manager_.clock().SteadyNow();
  bool is_new = false;
  bool queues_look = false;
  {
    absl::MutexLock lock(&mu_);
    const auto [at, inserted] = unhealthy_.try_emplace(ObjectOf(subject));
    Unhealthy& unhealthy = at->second;
    is_new = inserted;
    unhealthy.work = subject.work.key();
    unhealthy.message = std::move(message);
    if (is_new) {
      unhealthy.since = now;
      unhealthy.is_reported = subject.known == api::kUnhealthy;
    }
    queues_look = !unhealthy.is_reported && !look_is_queued_;
    // One look for all objects, so that the queue has one entry however many are unhealthy.
    if (queues_look) look_is_queued_ = true;
  }
  if (queues_look && queue_ != nullptr) queue_->AddAfter(look_, kLongUnhealthy);
  return is_new;
}

void HealthReports::Removed(const Subject& subject) {
  absl::MutexLock lock(&mu_);
  unhealthy_.erase(ObjectOf(subject));
  base::ReleaseRoom(unhealthy_);
}

void HealthReports::Forget(const std::string& cluster, const kube::Gvk& gvk,
                           const kube::ObjectKey& key) {
  absl::MutexLock lock(&mu_);
  unhealthy_.erase({.key = key, .gvk = gvk, .cluster = cluster});
  base::ReleaseRoom(unhealthy_);
}

void HealthReports::ForgetCluster(absl::string_view cluster) {
  absl::MutexLock lock(&mu_);
  absl::erase_if(unhealthy_, [&](const Entry& entry) { return entry.first.cluster == cluster; });
  base::ReleaseRoom(unhealthy_);
}

HealthReports::Due HealthReports::TakeDue() {
  const base::SteadyTime now = manager_.clock().SteadyNow();
  Due due;
  absl::MutexLock lock(&mu_);
  for (auto& [object, unhealthy] : unhealthy_) {
    if (unhealthy.is_reported) continue;
    const base::SteadyTime at = unhealthy.since + kLongUnhealthy;
    // A cluster that breaks makes many objects unhealthy at once; the rest is reported later.
    if (at <= now && due.objects.size() < kMostReportedAtOnce) {
      due.objects.emplace_back(object, unhealthy);
      unhealthy.is_reported = true;
      continue;
    }
    const absl::Duration wait = std::max(at - now, kBetweenReports);
    due.next = std::min(due.next.value_or(wait), wait);
  }
  look_is_queued_ = due.next.has_value();
  return due;
}

kube::Action HealthReports::ReportLong() {
  const Due due = TakeDue();
  for (const auto& [object, unhealthy] : due.objects) ReportOne(object, unhealthy);
  return due.next.has_value() ? kube::Action::After(*due.next) : kube::Action::Done();
}

void HealthReports::ReportOne(const kube::Request& object, const Unhealthy& unhealthy) {
  const kube::ObjectPtr work = manager_.cluster().Find(api::Works(), unhealthy.work);
  if (work == nullptr || work->IsDeleting()) return;
  const absl::Duration lasted = manager_.clock().SteadyNow() - unhealthy.since;
  const std::string text = api::message::UnhealthyFor(
      kube::Object::Make(object.gvk, object.key).Describe(), object.cluster,
      absl::Trunc(lasted, absl::Seconds(1)), unhealthy.message);
  recorder_.Warning(kube::InvolvedObject::Of(*work), api::reason::kUnhealthy, text);
  const kube::ObjectPtr binding = works::BindingOfWork(manager_.cluster(), *work);
  if (binding == nullptr) return;
  recorder_.Warning(kube::InvolvedObject::Of(*binding), api::reason::kUnhealthy, text);
}

}  // namespace controllers
