// The informer of one resource: lists, watches, and lists again when the watch cannot go on.
#ifndef KUBE_CACHE_INTERNAL_REFLECTOR_H_
#define KUBE_CACHE_INTERNAL_REFLECTOR_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/byte_budget.h"
#include "base/json_fields.h"
#include "kube/cache/informer.h"
#include "kube/cache/internal/backoff.h"
#include "kube/cache/internal/cache_writer.h"
#include "kube/cache/internal/failure_log.h"
#include "kube/cache/internal/own_versions.h"
#include "kube/cache/internal/task_pool.h"
#include "kube/cache/text_dictionary.h"
#include "kube/client/client.h"
#include "kube/meta/selector.h"

namespace kube::internal {

// Thread-safe. The pages of lists and the (re)starts of the watch are tasks of lanes, one at a
// time; the watch calls back on the transport's threads.
class Reflector final : public Informer,
                        public WatchHandler,
                        public std::enable_shared_from_this<Reflector> {
 public:
  struct Lanes {
    std::shared_ptr<TaskPool::Lane> lists;
    // For AskState and CatchUp; an AskState after the end is answered with kUnavailable.
    std::shared_ptr<TaskPool::Lane> questions;
    // For the starts of watches, which do not block.
    std::shared_ptr<TaskPool::Lane> watches;
  };
  // See InformerSet::SetBudget. Without a budget nothing is counted.
  struct Memory {
    std::shared_ptr<base::ByteBudget> budget;
    std::function<void()> on_exceeded;
    double share = 1;
  };
  struct Environment {
    Client& client;
    const base::Clock& clock;
    Lanes lanes;
    FailureLog& failures;
    Memory memory;
    std::shared_ptr<TextDictionary> dictionary;  // For the texts that are kept; else null.
  };
  // REQUIRES: the clock outlives the object, and the client and the failures its last task, that is
  // the lanes' Stop; the object is owned by a shared_ptr.
  Reflector(Resource resource, InformerOptions options, Environment environment);
  ~Reflector() override;

  void Start();
  // Idempotent. REQUIRES: not called from a handler.
  void Stop();
  void AgeDeletions() ABSL_LOCKS_EXCLUDED(mu_);

  const Resource& resource() const override { return resource_; }
  const Store& store() const override { return writer_.store(); }
  bool HoldsAll() const override {
    return !options_.local && options_.label_selector.empty() && options_.name.empty() &&
           (options_.namespaces.empty() || !resource_.namespaced) && !LeavesOut();
  }
  bool IsLocal() const override { return options_.local; }
  bool LeavesOut() const override;
  void AddIndex(const std::string& name, IndexFn fn) override;
  int64_t AddHandler(EventHandler handler) override;
  void RemoveHandler(int64_t id) override;
  void Resync() override { writer_.Resync(); }
  bool HasSynced() const override { return writer_.HasSynced(); }
  // See kube/cache/sync_notice.h.
  void CallWhenSettled(std::function<void()> call) { writer_.CallWhenSettled(std::move(call)); }
  absl::Status WaitForSync(base::SteadyTime deadline, const base::StopToken& stop) const override;
  absl::Status last_error() const override;
  Progress progress() const override { return writer_.progress(); }
  base::SteadyTime last_page() const override;
  void CatchUp() override;
  void AskState(const ObjectKey& about, StateFn done) override;
  void Written(const Object& object) override;
  void WrittenDeleteOf(const ObjectKey& key, absl::string_view uid) override {
    writer_.DeleteForGood(key, uid);
  }

  void OnOpen() override;
  void OnEvent(EventType type, Object object) override;
  bool OnKnownState(absl::string_view resource_version) override;
  void OnEnd(absl::Status status) override;

 private:
  enum class Step { kList, kWatch, kCatchUp, kAsk, kFillUp };

  // How long a kind is not listed again whose list has an object that is too long, or has too many.
  static constexpr absl::Duration kLongPause = absl::Minutes(5);

  // What a list is for: a watch follows it, or is running and is caught up with.
  enum class ListFor { kWatch, kCatchUp };
  // A list that is under way.
  struct ListRun;
  using ListRunPtr = std::shared_ptr<ListRun>;

  TaskPool::Lane& LaneOf(Step step) const;
  void RunAfter(absl::Duration delay, Step step);
  struct Asker {
    ObjectKey about;
    StateFn done;
  };

  // Begins the list, or has it begin when the one under way has ended.
  void RequestList(ListFor purpose) ABSL_LOCKS_EXCLUDED(mu_);
  void BeginList(ListRun& run) ABSL_LOCKS_EXCLUDED(mu_);
  // Reads the next page; what follows it is another task, or the end of the list.
  void ReadPage(const ListRunPtr& run);
  void ReadPageLater(const ListRunPtr& run);
  // Has a watch run from the version of a list that takes long.
  void WatchFromList(ListRun& run) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns whether a watch has everything, or will have, that changed since the list began.
  bool IsFollowed(const ListRun& run) const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns whether it was the last page.
  absl::StatusOr<bool> TakePage(ListRun& run);
  // Stores an object of the list, or notes that there is no room for it. An error ends the list.
  absl::Status TakeListed(ObjectPtr object, ListRun& run);
  // Charges what the list itself remembers, and ends it when that alone is too much.
  absl::Status ChargeNames(ListRun& run) const;
  // Ends a list of which all pages have been read. Returns whether another one has to follow at
  // once.
  bool TakeWhole(ListRun& run) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns how many objects are gone.
  size_t StoreList(const ListRun& run) ABSL_LOCKS_EXCLUDED(mu_);
  void EndList(const ListRun& run, const absl::Status& listed);
  void EndListBeforeWatch(const ListRun& run, const absl::Status& listed);
  void EndListBesideWatch(const absl::Status& listed);
  // `lasting`: false for a watch that the server ends after kShortWatch.
  void StartWatch(bool lasting = true);
  // Ends the watch until the next StartWatch. Returns whether one was running.
  bool EndWatch() ABSL_LOCKS_EXCLUDED(mu_, watch_mu_);
  void ListBesideWatch();
  std::vector<Asker> TakeAskers() ABSL_LOCKS_EXCLUDED(mu_);
  void AnswerEnded(const std::vector<Asker>& askers) const;
  // Asks about the object, or without a name about none.
  absl::StatusOr<ServerState> ReadServerState(const ObjectKey& about);
  // Notes how a request beside the watch went; one that failed is followed by another.
  void NoteAsked(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void AskAgain() ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the connection of the watch, whatever it sends.
  void LeaveWatch() ABSL_LOCKS_EXCLUDED(watch_mu_);
  bool IsOverBudget() const {
    return env_.memory.budget != nullptr && env_.memory.budget->IsOver();
  }
  // The following are in reflector_memory.cc.
  int64_t MostForNewObjects() const;
  // Returns the memory that an object of this informer is charged.
  int64_t MemoryOf(const Object& object) const;
  // Returns whether `object`, which is charged already, may be stored in the place of the one with
  // its key.
  bool HasRoomFor(const Object& object) const;
  // Returns the equal object that options_.held has, null if it has none.
  ObjectPtr HeldEqual(const Object& object) const;
  // The errors of a server with more objects than there is room for.
  absl::Status LeavesOutError() const;
  absl::Status NoRoomError() const;
  // Notes that an object was left out, and schedules a list that may find room for it.
  void NoteLeftOut() ABSL_LOCKS_EXCLUDED(mu_);
  // Notes that a list has left nothing out. `left_out_before`: left_outs_ when it began.
  void NoteWhole(int left_out_before) ABSL_LOCKS_EXCLUDED(mu_);
  // Lists again because of what was left out.
  void FillUp() ABSL_LOCKS_EXCLUDED(mu_);
  // Replaces the running watch by one that begins where it is; nothing happens when none is
  // running.
  void RestartWatch(bool lasting);
  bool HasWatch() const ABSL_LOCKS_EXCLUDED(mu_);
  bool Advance(absl::string_view version) ABSL_LOCKS_EXCLUDED(mu_);
  ObjectPtr Prepare(Object object) const;
  Progress ReachedAt(absl::string_view version) const;
  // Returns the namespace to ask for, "" for all.
  std::string AskedNamespace() const;
  // Returns the field selector to ask with, "" for none.
  std::string AskedFields() const;
  // Returns whether objects of the namespace are stored.
  bool WantsNamespace(absl::string_view ns) const;
  // Returns whether the object is stored. Servers that ignore field selectors send others as well.
  bool Wants(const Object& object) const;
  std::string Name() const;
  bool stopped() const { return stop_.stop_requested(); }

  // Stores the error, and has it logged when it differs from the last one.
  void Failed(const absl::Status& status);
  void Succeeded();
  void LogFailures();
  FailureLog::Cache Self() const { return {this, server_, resource_}; }
  // Returns whether the watch that has just ended was of use, so that the failures before it count
  // no more.
  bool WatchWasHealthy() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Resource resource_;
  const InformerOptions options_;
  const LabelSelector selector_;
  const json::Fields kept_;                           // With keep_text.
  const std::shared_ptr<TextDictionary> dictionary_;  // Null without keep_text.
  // The client's name, kept for callers that still wait after Stop, when the client may be gone.
  const std::string server_;
  const Environment env_;
  CacheWriter writer_;
  base::StopSource stop_;

  absl::Mutex watch_mu_;  // Locked only by tasks and Stop, never in a callback of the watch.
  std::unique_ptr<Watch> watch_ ABSL_GUARDED_BY(watch_mu_);

  mutable absl::Mutex mu_;
  bool is_listing_ ABSL_GUARDED_BY(mu_) = false;
  // The lists that are due when the one under way has ended.
  std::set<ListFor> due_lists_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime last_page_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
  OwnVersions own_versions_ ABSL_GUARDED_BY(mu_);
  std::string version_ ABSL_GUARDED_BY(mu_);      // Where the watch resumes.
  absl::Status last_error_ ABSL_GUARDED_BY(mu_);  // Of the list or the watch.
  // Not OK while the store lacks objects because there is no room for them, or has former states.
  absl::Status left_out_ ABSL_GUARDED_BY(mu_);
  int left_outs_ ABSL_GUARDED_BY(mu_) = 0;            // How often something was left out.
  bool fill_up_is_due_ ABSL_GUARDED_BY(mu_) = false;  // True while its task waits.
  Backoff room_backoff_ ABSL_GUARDED_BY(mu_);
  bool has_listed_ ABSL_GUARDED_BY(mu_) = false;  // True once a list has been stored.
  // True once a first list had no room: the next one is measured before it is stored.
  bool has_not_fitted_ ABSL_GUARDED_BY(mu_) = false;
  // Of the last request beside the watch, which continues with credentials that are not valid any
  // more.
  absl::Status ask_error_ ABSL_GUARDED_BY(mu_);
  // True if that request has failed after the present watch began.
  bool ask_failed_since_start_ ABSL_GUARDED_BY(mu_) = false;
  Backoff ask_backoff_ ABSL_GUARDED_BY(mu_);
  bool ask_is_due_ ABSL_GUARDED_BY(mu_) = false;  // True while a task after a failure waits.
  Backoff backoff_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime watch_started_ ABSL_GUARDED_BY(mu_);
  bool watch_delivered_ ABSL_GUARDED_BY(mu_) = false;
  // The version at which the watch began; its events are newer.
  int64_t watch_from_ ABSL_GUARDED_BY(mu_) = -1;
  // True when there is no watch, or it has ended or counts as ended; its further events are
  // dropped.
  bool watch_is_over_ ABSL_GUARDED_BY(mu_) = true;
  bool watch_is_open_ ABSL_GUARDED_BY(mu_) = false;  // The server has accepted it.
  // True while a short watch has its bookmark still to come.
  bool watch_is_short_ ABSL_GUARDED_BY(mu_) = false;
  // False once a short watch has ended in time without one, as those of Events do on most servers;
  // the next bookmark makes it true.
  bool sends_bookmarks_ ABSL_GUARDED_BY(mu_) = true;
  bool catch_up_is_due_ ABSL_GUARDED_BY(mu_) = false;  // True while its task waits.
  // Who shares the next request of AskState; its task waits while there are any.
  std::vector<Asker> askers_ ABSL_GUARDED_BY(mu_);
  int failed_watches_ ABSL_GUARDED_BY(mu_) = 0;  // Failures in a row.
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_REFLECTOR_H_
