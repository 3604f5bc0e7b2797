// Stores objects: one sorted table per resource, one resourceVersion counter, and the recent
// history that lets a watch resume and a paginated list stay consistent. It does not interpret
// objects. Thread-safe.
#ifndef SANDBOX_STORAGE_STORE_H_
#define SANDBOX_STORAGE_STORE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/storage/event_hub.h"

namespace sandbox {

class Store {
 public:
  // Keeps the last `history_limit` changes.
  explicit Store(size_t history_limit) : history_limit_(history_limit) {}

  // The contents of a table (of one namespace when `ns` is not empty), sorted by namespace and
  // name.
  struct Listing {
    std::vector<kube::ObjectPtr> objects;
    int64_t version = 0;
  };

  int64_t version() const;
  kube::ObjectPtr Get(const GroupName& table,
                      const kube::ObjectKey& key) const;  // Returns nullptr when absent.
  bool Empty(const GroupName& table) const;
  Listing List(const GroupName& table, absl::string_view ns) const;
  // Lists the objects as of `version`; Expired when history does not reach back so far.
  absl::StatusOr<Listing> ListAt(const GroupName& table, absl::string_view ns,
                                 int64_t version) const;
  // Returns the object as of `version`; nullptr when it was absent then.
  absl::StatusOr<kube::ObjectPtr> GetAt(const GroupName& table, const kube::ObjectKey& key,
                                        int64_t version) const;

  // The writes. Each sets metadata.resourceVersion, notifies the watchers and returns the stored
  // object; nullptr means that another write was faster: the key is taken, or does not hold
  // `expected` any more.
  kube::ObjectPtr Insert(const GroupName& table, kube::Object object);
  kube::ObjectPtr Replace(const GroupName& table, const kube::ObjectPtr& expected,
                          kube::Object object);
  // `last` is the final state that watchers get.
  kube::ObjectPtr Remove(const GroupName& table, const kube::ObjectPtr& expected,
                         kube::Object last);

  struct WatchStart {
    GroupName table;      // An empty name stands for every table.
    std::string ns;       // Limits only the initial objects.
    bool initial = true;  // True: existing objects come first, as kAdded.
    int64_t since = 0;    // Otherwise the changes after this version come first.
    // With `initial`: the objects are those of this version, and the changes after it follow. 0
    // stands for the present version. Needs a table.
    int64_t as_of = 0;
    // Whether the first bookmark follows these changes, too, and not the objects alone.
    bool mark_present = false;
  };
  // `sink` is described in EventHub; its first bookmark follows the initial objects. Expired when
  // history does not reach back to `since` or `as_of`.
  absl::StatusOr<int64_t> Watch(const WatchStart& start, EventHub::Sink sink);
  // See EventHub::Remove and RemoveSoon.
  void Unwatch(int64_t id) { hub_.Remove(id); }
  void UnwatchSoon(int64_t id) { hub_.RemoveSoon(id); }
  // Sends every watcher (or just one) a bookmark, which covers everything that it has got.
  void Bookmark(int64_t id = 0);

  // Forgets the changes so far, so that watches from older versions expire.
  void ExpireHistory();

  using Table = std::map<kube::ObjectKey, kube::ObjectPtr>;
  using Tables = std::map<GroupName, Table>;
  // Returns everything that is stored, to be kept as a backup.
  Tables Backup() const;
  // Goes back to a backup: objects have the contents and resourceVersions of then. As etcd's manual
  // recommends (--bump-revision, --mark-compacted), versions that were used since then are not used
  // again, and history begins now, so that clients list again. Running watches get the differences;
  // those of clients should be cut before.
  void Restore(const Tables& backup);

 private:
  // Queues the changes that turn the contents into `wanted`; changes nothing yet.
  void QueueDifferences(const Tables& wanted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckReach(int64_t version) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static std::vector<kube::ObjectPtr> Select(const Table& table, absl::string_view ns);
  std::vector<ChangePtr> Initial(const WatchStart& start) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int64_t QueueWatch(const WatchStart& start, EventHub::Sink sink)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<ChangePtr> ChangesSince(const GroupName& table, int64_t version) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Table ContentsAt(const GroupName& table, int64_t version) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  kube::ObjectPtr Find(const GroupName& table, const kube::ObjectKey& key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  kube::ObjectPtr* FindSlot(const GroupName& table, const kube::ObjectKey& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  kube::ObjectPtr Stamp(kube::Object object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Record(Change change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t history_limit_;
  EventHub hub_;
  mutable absl::Mutex mu_;
  int64_t version_ ABSL_GUARDED_BY(mu_) = 1;
  int64_t history_start_ ABSL_GUARDED_BY(mu_) = 1;  // history_ has all changes after this version.
  std::deque<ChangePtr> history_ ABSL_GUARDED_BY(mu_);
  Tables tables_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_STORAGE_STORE_H_
