// Each Work with unwritten changes has one entry in pending_, into which later changes are folded.
// Submit queues the Work's key, after 100 ms for settled changes and after two seconds for
// progress. A pass takes the entry out. If none of its changes is settled, the gate may have the
// pass repeated later, before anything is worked out. Else the entry is applied to the status that
// the cache holds, and statuses of manifests that the Work has no more are dropped. If that changes
// nothing, the entry is dropped; otherwise it is written, if the gate still allows it. An entry
// that must wait is put back below what was submitted in the meantime, and so is one whose write
// fails; the queue's back-off repeats the latter, without a further hold.
//
// An entry belongs to one incarnation of a Work and is dropped with it. mu_ guards pending_ and is
// not held while an entry is applied or written; the queue gives a Work to one worker at a time.
// What is pending at the end of the process is lost: the loops look at every Work and every object
// again when they start.

#include "works/work_status_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/condition.h"
#include "api/keys.h"
#include "api/known_fields.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/release_room.h"
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

const api::KnownField& ManifestStatusesField() {
  static const auto& field = *new api::KnownField{
      "manifestStatuses",
      {{"identifier",
        {{"ordinal"}, {"group"}, {"version"}, {"kind"}, {"resource"}, {"namespace"}, {"name"}}},
       {"status"},
       {"health"}},
      {"identifier.ordinal", "identifier.group", "identifier.version", "identifier.kind",
       "identifier.namespace", "identifier.name"}};
  return field;
}

json::Value ListOf(const std::vector<json::Value>& items) {
  json::Value list = json::Value::Array();
  for (const json::Value& item : items) list.Append(item);
  return list;
}

// Returns whether the item says that nothing is known of the manifest's object any more.
bool IsWithdrawn(const json::Value& item) { return !item.Has("status") && !item.Has("health"); }

bool IsApplied(const kube::Condition& condition) { return condition.type == api::kWorkApplied; }

void DropCondition(absl::string_view type, std::vector<kube::Condition>& conditions) {
  std::erase_if(conditions, [&](const kube::Condition& c) { return c.type == type; });
}

// Folds `newer` into `change`.
void Merge(WorkStatusChange newer, WorkStatusChange& change) {
  for (kube::Condition& c : newer.conditions) {
    if (IsApplied(c)) change.is_applied = false;
    DropCondition(c.type, change.conditions);
    change.conditions.push_back(std::move(c));
  }
  if (newer.is_applied) {
    const auto waits = std::find_if(change.conditions.begin(), change.conditions.end(), IsApplied);
    const bool says_so = waits != change.conditions.end() && waits->status == "True";
    if (!says_so) {
      DropCondition(api::kWorkApplied, change.conditions);
      change.is_applied = true;
    }
  }
  for (json::Value& item : newer.manifest_statuses) {
    PutItem(std::move(item), change.manifest_statuses);
  }
}

// Returns the condition Applied of a Work that is applied and has these conditions. Only the reason
// of an object that was created again is kept: otherwise the next sync, which a restart brings,
// would write the condition once more.
kube::Condition AppliedAsBefore(const json::Value& conditions) {
  const json::Value* current = kube::FindCondition(conditions, api::kWorkApplied);
  const bool was_recreated = current != nullptr && (*current)["status"].AsString() == "True" &&
                             (*current)["reason"].AsString() == api::reason::kReCreateSuccessful;
  return api::ConditionOf(
      api::kWorkApplied, true,
      was_recreated ? api::reason::kReCreateSuccessful : api::reason::kAppliedSuccessful,
      api::message::kManifestApplied);
}

}  // namespace

json::Value WithChange(const json::Value& status, const WorkStatusChange& change, absl::Time now) {
  json::Value out = status;
  std::vector<kube::Condition> changed = change.conditions;
  if (change.is_applied) changed.push_back(AppliedAsBefore(status["conditions"]));
  for (const kube::Condition& c : changed) {
    json::Value conditions = out["conditions"];
    kube::SetCondition(conditions, c, now);
    out.Set("conditions", std::move(conditions));
  }
  if (change.manifest_statuses.empty()) return out;
  const absl::Span<const json::Value> known = status["manifestStatuses"].items();
  std::vector<json::Value> items(known.begin(), known.end());
  for (const json::Value& item : change.manifest_statuses) PutItem(item, items);
  std::erase_if(items, IsWithdrawn);
  if (items.empty()) {
    out.Erase("manifestStatuses");
  } else {
    out.Set("manifestStatuses",
            api::WithUnknown(ListOf(items), status["manifestStatuses"], ManifestStatusesField()));
  }
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
    {
      absl::MutexLock lock(&mu_);
      // Under the lock: changes of a later Work may be submitted at the same time, and these must
      // not replace them.
      const kube::ObjectPtr now = manager_.cluster().Find(api::Works(), work.key());
      // A Work of the same name has replaced it.
      if (now != nullptr && now->uid() != work.uid()) return;
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
    std::optional<Pending> taken = Take(request.key);
    if (!taken.has_value()) return kube::Action::Done();
    const bool may_wait = !taken->has_settled_news;
    std::optional<Revision> revision;
    absl::Duration hold = may_wait ? gate_.Look(taken->since) : absl::ZeroDuration();
    if (hold == absl::ZeroDuration()) {
      revision = RevisionOf(request.key, *taken);
      if (!revision.has_value()) return kube::Action::Done();
      if (may_wait) hold = gate_.HoldFor(taken->since);
    }
    if (hold > absl::ZeroDuration()) {
      TakeBack(request.key, *std::move(taken));
      return kube::Action::After(hold);
    }
    const absl::Status written = Write(*revision, stop);
    if (written.ok()) return kube::Action::Done();
    taken->has_settled_news = true;  // The changes have been held already.
    TakeBack(request.key, *std::move(taken));
    return written;
  }

 private:
  struct Pending {
    std::string uid;  // The uid of the Work.
    WorkStatusChange change;
    bool has_settled_news = false;
    base::SteadyTime since;  // When the first of these changes was submitted.
  };

  struct Revision {
    kube::ObjectPtr before;
    kube::Object after;
  };

  std::optional<Pending> Take(const kube::ObjectKey& key) {
    absl::MutexLock lock(&mu_);
    auto node = pending_.extract(key);
    if (node.empty()) return std::nullopt;
    base::ReleaseRoom(pending_);
    return std::move(node.mapped());
  }

  // Returns nullopt when there is nothing to write.
  std::optional<Revision> RevisionOf(const kube::ObjectKey& key, const Pending& pending) const {
    kube::ObjectPtr work = manager_.cluster().Find(api::Works(), key);
    if (work == nullptr || work->uid() != pending.uid) return std::nullopt;
    json::Value status =
        WithoutStrangers(WithChange(work->status(), pending.change, manager_.clock().Now()),
                         api::WorkView(*work).Manifests());
    if (status == work->status()) return std::nullopt;
    kube::Object after = *work;
    after.Set({"status"}, std::move(status));
    return Revision{std::move(work), std::move(after)};
  }

  absl::Status Write(const Revision& revision, const base::StopToken& stop) {
    kube::UpdateOptions options;
    options.subresource = "status";
    // No other loop changes the two lists. But the server may execute a request of which nobody
    // knows any more, or the last one of a former leader, after newer ones, and nothing would
    // repair an older list.
    options.precondition = kube::UpdateOptions::Precondition::kAlways;
    return kube::IgnoreGone(
        manager_.cluster()
            .Update(api::Works(), revision.before, revision.after, options, stop)
            .status());
  }

  // Makes changes that were not written pending again; newer pending ones win.
  void TakeBack(const kube::ObjectKey& key, Pending taken) {
    absl::MutexLock lock(&mu_);
    const auto [found, is_new] = pending_.try_emplace(key);
    Pending& slot = found->second;
    // The pending changes belong to a later Work of the same name.
    if (!is_new && slot.uid != taken.uid) return;
    Merge(std::move(slot.change), taken.change);
    taken.has_settled_news = taken.has_settled_news || slot.has_settled_news;
    slot = std::move(taken);
  }

  kube::Manager& manager_;
  ProgressGate gate_;
  kube::WorkQueue* queue_ = nullptr;
  absl::Mutex mu_;
  absl::flat_hash_map<kube::ObjectKey, Pending> pending_ ABSL_GUARDED_BY(mu_);
};

WorkStatusWriter::WorkStatusWriter(kube::Manager& manager, const kube::RateLimiterOptions& limiter,
                                   int workers) {
  auto loop = std::make_unique<Loop>(manager);
  loop_ = loop.get();
  kube::Controller& controller = kube::ControllerBuilder(manager)
                                     .Named(api::kWorkStatusWriter)
                                     .Reads(api::Works())
                                     .WithWorkers(std::max(workers, kLeastWorkers))
                                     .WithLimiter(limiter)
                                     .Build(std::move(loop));
  loop_->Attach(controller.queue());
}

WorkStatusWriter::~WorkStatusWriter() = default;

void WorkStatusWriter::Submit(const kube::Object& work, WorkStatusChange change, News news) {
  loop_->Submit(work, std::move(change), news);
}

}  // namespace works
