// Each Work with unwritten changes has one entry in pending_, into which later changes are folded.
// Submit queues the Work's key, after 100 ms for settled news and after two seconds for progress. A
// pass writes at once when any news of the entry is settled; otherwise the gate may tell it to come
// again later. To write, the entry is taken out and applied to the status that the cache holds, and
// statuses of manifests that the Work has no more are dropped. When the write fails, the entry is
// put back below what came in the meantime; the queue's back-off repeats it, without a further
// hold.
//
// An entry belongs to one incarnation of a Work and is dropped with it. mu_ guards pending_ and is
// not held during a write; the queue gives a Work to one worker at a time. What is pending at the
// end of the process is lost: the loops look at every Work and every object again when they start.
#include "works/work_status_writer.h"

#include <algorithm>
#include <utility>

#include "api/resources.h"
#include "api/work.h"
#include "base/status.h"
#include "kube/cache/cluster_client.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace works {
namespace {

int64_t OrdinalOf(const json::Value& item) { return item["identifier"]["ordinal"].AsInt(); }

// Puts `item` in the place of the item with the same ordinal, or in order of ordinals if there is
// none.
void PutItem(json::Value item, std::vector<json::Value>& items) {
  std::erase_if(items, [&](const json::Value& old) { return OrdinalOf(old) == OrdinalOf(item); });
  const auto place = std::find_if(items.begin(), items.end(), [&](const json::Value& other) {
    return OrdinalOf(other) > OrdinalOf(item);
  });
  items.insert(place, std::move(item));
}

json::Value ListOf(const std::vector<json::Value>& items) {
  json::Value list = json::Value::Array();
  for (const json::Value& item : items) list.Append(item);
  return list;
}

// Folds `newer` into `change`.
void Merge(WorkStatusChange newer, WorkStatusChange& change) {
  for (kube::Condition& c : newer.conditions) {
    std::erase_if(change.conditions,
                  [&](const kube::Condition& old) { return old.type == c.type; });
    change.conditions.push_back(std::move(c));
  }
  for (json::Value& item : newer.manifest_statuses) {
    PutItem(std::move(item), change.manifest_statuses);
  }
}

}  // namespace

json::Value WithChange(const json::Value& status, const WorkStatusChange& change, absl::Time now) {
  json::Value out = status;
  for (const kube::Condition& c : change.conditions) {
    json::Value conditions = out["conditions"];
    kube::SetCondition(conditions, c, now);
    out.Set("conditions", std::move(conditions));
  }
  if (change.manifest_statuses.empty()) return out;
  const absl::Span<const json::Value> known = status["manifestStatuses"].items();
  std::vector<json::Value> items(known.begin(), known.end());
  for (const json::Value& item : change.manifest_statuses) PutItem(item, items);
  out.Set("manifestStatuses", ListOf(items));
  return out;
}

json::Value WithoutStrangers(const json::Value& status, absl::Span<const json::Value> manifests) {
  std::vector<json::Value> kept;
  for (const json::Value& item : status["manifestStatuses"].items()) {
    const auto identifier = api::ManifestIdentifier::FromJson(item["identifier"]);
    const auto ordinal = static_cast<size_t>(identifier.ordinal);
    if (ordinal >= manifests.size()) continue;
    const kube::Object manifest(manifests[ordinal]);
    if (identifier == api::ManifestIdentifier::Of(manifest, identifier.ordinal)) {
      kept.push_back(item);
    }
  }
  json::Value out = status;
  if (kept.size() < status["manifestStatuses"].size()) out.Set("manifestStatuses", ListOf(kept));
  return out;
}

class WorkStatusWriter::Loop : public kube::Reconciler {
 public:
  explicit Loop(kube::Manager& manager) : manager_(manager), gate_(manager.clock()) {}

  void Attach(kube::WorkQueue& queue) { queue_ = &queue; }

  void Submit(const kube::Object& work, WorkStatusChange change, News news) {
    const kube::ObjectPtr now = manager_.cluster().Find(api::Works(), work.key());
    // A Work of the same name has replaced it.
    if (now != nullptr && now->uid() != work.uid()) return;
    {
      absl::MutexLock lock(&mu_);
      const auto [found, is_new] = pending_.try_emplace(work.key());
      if (is_new || found->second.uid != work.uid()) {
        found->second = {
            .uid = std::string(work.uid()), .change = {}, .since = manager_.clock().SteadyNow()};
      }
      if (news == News::kSettled) found->second.has_settled_news = true;
      Merge(std::move(change), found->second.change);
    }
    kube::Request request;
    request.key = work.key();
    queue_->AddAfter(request, news == News::kSettled ? kSettledHold : kProgressHold);
  }

  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override {
    Pending taken;
    {
      absl::MutexLock lock(&mu_);
      const auto found = pending_.find(request.key);
      if (found == pending_.end()) return kube::Action::Done();
      const absl::Duration hold = found->second.has_settled_news
                                      ? absl::ZeroDuration()
                                      : gate_.HoldFor(found->second.since);
      if (hold > absl::ZeroDuration()) return kube::Action::After(hold);
      taken = std::move(found->second);
      pending_.erase(found);
    }
    const absl::Status written = Write(request.key, taken, stop);
    if (written.ok()) return kube::Action::Done();
    TakeBack(request.key, std::move(taken));
    return written;
  }

 private:
  struct Pending {
    std::string uid;  // The uid of the Work.
    WorkStatusChange change;
    bool has_settled_news = false;
    base::SteadyTime since;  // When the first of these changes came.
  };

  absl::Status Write(const kube::ObjectKey& key, const Pending& pending,
                     const base::StopToken& stop) {
    kube::ClusterClient& client = manager_.cluster();
    const kube::ObjectPtr work = client.Find(api::Works(), key);
    if (work == nullptr || work->uid() != pending.uid) return absl::OkStatus();
    kube::Object after = *work;
    after.Set({"status"},
              WithoutStrangers(WithChange(work->status(), pending.change, manager_.clock().Now()),
                               api::WorkView(*work).Manifests()));
    kube::UpdateOptions options;
    options.subresource = "status";
    // No other writer changes the two lists, so no precondition is needed.
    options.precondition = kube::UpdateOptions::Precondition::kNever;
    const absl::Status sent = client.Update(api::Works(), work, after, options, stop).status();
    return kube::IgnoreGone(sent);
  }

  // Makes changes that could not be written pending again; newer pending ones win.
  void TakeBack(const kube::ObjectKey& key, Pending taken) {
    absl::MutexLock lock(&mu_);
    const auto [found, is_new] = pending_.try_emplace(key);
    Pending& slot = found->second;
    // The pending changes belong to a later Work of the same name.
    if (!is_new && slot.uid != taken.uid) return;
    Merge(std::move(slot.change), taken.change);
    slot = std::move(taken);
    // The changes have been held already, so they are not held again.
    slot.has_settled_news = true;
  }

  kube::Manager& manager_;
  ProgressGate gate_;
  kube::WorkQueue* queue_ = nullptr;
  absl::Mutex mu_;
  absl::flat_hash_map<kube::ObjectKey, Pending> pending_ ABSL_GUARDED_BY(mu_);
};

WorkStatusWriter::WorkStatusWriter(kube::Manager& manager) {
  auto loop = std::make_unique<Loop>(manager);
  loop_ = loop.get();
  kube::Controller& controller = kube::ControllerBuilder(manager)
                                     .Named("work-status-writer")
                                     .Reads(api::Works())
                                     .WithWorkers(3)
                                     .Build(std::move(loop));
  loop_->Attach(controller.queue());
}

WorkStatusWriter::~WorkStatusWriter() = default;

void WorkStatusWriter::Submit(const kube::Object& work, WorkStatusChange change, News news) {
  loop_->Submit(work, std::move(change), news);
}

}  // namespace works
