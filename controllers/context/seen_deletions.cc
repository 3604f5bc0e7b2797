#include "controllers/context/seen_deletions.h"

#include <algorithm>
#include <utility>

#include "api/reasons.h"
#include "base/log.h"
#include "kube/client/errors.h"

namespace controllers {

void SeenDeletions::Note(const kube::ObjectKey& key) {
  absl::MutexLock lock(&mu_);
  if (!seen_.insert(key).second) return;
  order_.push_back(key);
  // A forgotten key leaves its entry in order_, so that the set may hold fewer than that, never
  // more.
  if (order_.size() <= kRemembered) return;
  seen_.erase(order_.front());
  order_.pop_front();
}

void SeenDeletions::Forget(const kube::ObjectKey& key) {
  absl::MutexLock lock(&mu_);
  seen_.erase(key);
}

bool SeenDeletions::Has(const kube::ObjectKey& key) const {
  absl::MutexLock lock(&mu_);
  return seen_.contains(key);
}

absl::StatusOr<SeenDeletions::Absence> SeenDeletions::Judge(kube::ClusterClient& client,
                                                            const kube::Resource& resource,
                                                            const kube::ObjectKey& key,
                                                            const base::StopToken& stop) const {
  const absl::Status live = client.raw().Get(resource, key, stop).status();
  if (live.ok()) return Absence::kOfCache;
  if (!kube::IsGone(live)) return live;
  return Has(key) ? Absence::kSeen : Absence::kUnseen;
}

kube::Enqueue OnDeletion(std::shared_ptr<SeenDeletions> seen, kube::MapFn map) {
  kube::Enqueue enqueue{.when = {.add = kube::Never, .update = kube::NeverUpdate}};
  enqueue.map = [seen = std::move(seen), map = std::move(map)](const kube::Object& object) {
    seen->Note(object.key());
    return map ? map(object) : std::vector<kube::Request>{{.key = object.key()}};
  };
  return enqueue;
}

kube::Action ReportKept(kube::EventRecorder& recorder, absl::Time now,
                        const std::vector<kube::ObjectPtr>& kept, absl::string_view owner) {
  absl::Duration rest = absl::ZeroDuration();
  for (const kube::ObjectPtr& object : kept) {
    if (object->IsDeleting()) continue;
    const absl::StatusOr<absl::Time> made =
        kube::ParseTime(object->metadata()["creationTimestamp"].AsString());
    const absl::Duration left = made.ok() ? *made + kOwnerPatience - now : absl::ZeroDuration();
    if (left > absl::ZeroDuration()) {
      rest = std::max(rest, std::min(left, kOwnerPatience));
      continue;
    }
    recorder.Standing(kube::InvolvedObject::Of(*object), api::reason::kOwnerMissing,
                      api::message::OwnerMissing(owner));
    base::LogWarning("an object stays although what it was made for is missing",
                     {{"object", object->Describe()}, {"made for", owner}});
  }
  return rest > absl::ZeroDuration() ? kube::Action::After(rest) : kube::Action::Done();
}

}  // namespace controllers
