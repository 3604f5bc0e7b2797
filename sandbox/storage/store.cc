// How it works. A write stamps the object with the next resourceVersion, puts it into its table,
// records the change and queues it for the subscribers, all under one lock: tables, history and
// deliveries have one order. It delivers after releasing the lock (event_hub.cc).
//
// History holds the last changes with the states before and after each. A list at an older version
// undoes the later changes, newest first; a watch from an older version gets the changes since
// then. A version from before the history is Expired, and the client has to list again.

#include "sandbox/storage/store.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace sandbox {

int64_t Store::version() const {
  absl::MutexLock lock(&mu_);
  return version_;
}

kube::ObjectPtr Store::Get(const GroupName& table, const kube::ObjectKey& key) const {
  absl::MutexLock lock(&mu_);
  return Find(table, key);
}

kube::ObjectPtr Store::Find(const GroupName& table, const kube::ObjectKey& key) const {
  const auto found = tables_.find(table);
  if (found == tables_.end()) return nullptr;
  const auto it = found->second.find(key);
  return it == found->second.end() ? nullptr : it->second;
}

bool Store::Empty(const GroupName& table) const {
  absl::MutexLock lock(&mu_);
  const auto found = tables_.find(table);
  return found == tables_.end() || found->second.empty();
}

std::vector<kube::ObjectPtr> Store::Select(const Table& table, absl::string_view ns) {
  std::vector<kube::ObjectPtr> out;
  if (ns.empty()) {
    out.reserve(table.size());
    for (const auto& [key, object] : table) out.push_back(object);
    return out;
  }
  const std::string wanted(ns);
  // Keys are in the order of the namespaces first, so those of one stand together.
  for (auto it = table.lower_bound({wanted, ""}); it != table.end() && it->first.ns == wanted;
       ++it) {
    out.push_back(it->second);
  }
  return out;
}

Store::Listing Store::List(const GroupName& table, absl::string_view ns) const {
  absl::MutexLock lock(&mu_);
  const auto found = tables_.find(table);
  if (found == tables_.end()) return {{}, version_};
  return {Select(found->second, ns), version_};
}

absl::Status Store::CheckReach(int64_t version) const {
  if (version > version_) return FutureVersion(version, version_);
  if (version >= history_start_) return absl::OkStatus();
  return Expired(absl::StrCat("too old resource version: ", version, " (", history_start_, ")"));
}

absl::StatusOr<Store::Listing> Store::ListAt(const GroupName& table, absl::string_view ns,
                                             int64_t version) const {
  absl::MutexLock lock(&mu_);
  RETURN_IF_ERROR(CheckReach(version));
  return Listing{Select(ContentsAt(table, version), ns), version};
}

Store::Table Store::ContentsAt(const GroupName& table, int64_t version) const {
  Table contents;
  if (const auto found = tables_.find(table); found != tables_.end()) contents = found->second;
  // Undoes the later changes, newest first.
  for (auto it = history_.rbegin(); it != history_.rend() && (*it)->version > version; ++it) {
    const Change& change = **it;
    if (change.table != table) continue;
    if (change.type == Event::Type::kAdded) {
      contents.erase(change.object->key());
    } else {
      contents[change.object->key()] = change.previous;
    }
  }
  return contents;
}

absl::StatusOr<kube::ObjectPtr> Store::GetAt(const GroupName& table, const kube::ObjectKey& key,
                                             int64_t version) const {
  absl::MutexLock lock(&mu_);
  RETURN_IF_ERROR(CheckReach(version));
  // The state before the first change after the version.
  const auto later = std::find_if(history_.begin(), history_.end(), [&](const ChangePtr& change) {
    return change->version > version && change->table == table && change->object->key() == key;
  });
  return later == history_.end() ? Find(table, key) : (*later)->previous;
}

kube::ObjectPtr* Store::FindSlot(const GroupName& table, const kube::ObjectKey& key) {
  const auto found = tables_.find(table);
  if (found == tables_.end()) return nullptr;
  const auto it = found->second.find(key);
  return it == found->second.end() ? nullptr : &it->second;
}

kube::ObjectPtr Store::Stamp(kube::Object object) {
  object.Set({"metadata", "resourceVersion"}, absl::StrCat(++version_));
  return kube::Share(std::move(object));
}

void Store::Record(Change change) {
  change.version = version_;
  auto shared = std::make_shared<const Change>(std::move(change));
  history_.push_back(shared);
  while (history_.size() > history_limit_) {
    history_start_ = history_.front()->version;
    history_.pop_front();
  }
  // Under mu_, so that the queue has the order of the versions; the calls come later, without it.
  hub_.QueueChange(std::move(shared));
}

kube::ObjectPtr Store::Insert(const GroupName& table, kube::Object object) {
  kube::ObjectPtr stored;
  {
    absl::MutexLock lock(&mu_);
    kube::ObjectPtr& slot = tables_[table][object.key()];
    if (slot != nullptr) return nullptr;
    slot = stored = Stamp(std::move(object));
    Record({Event::Type::kAdded, table, 0, stored, nullptr});
  }
  hub_.Deliver();
  return stored;
}

kube::ObjectPtr Store::Replace(const GroupName& table, const kube::ObjectPtr& expected,
                               kube::Object object) {
  kube::ObjectPtr stored;
  {
    absl::MutexLock lock(&mu_);
    kube::ObjectPtr* slot = FindSlot(table, expected->key());
    // Compared by pointer: every write makes a new object, so the same one means that nobody wrote.
    if (slot == nullptr || *slot != expected) return nullptr;
    *slot = stored = Stamp(std::move(object));
    Record({Event::Type::kModified, table, 0, stored, expected});
  }
  hub_.Deliver();
  return stored;
}

kube::ObjectPtr Store::Remove(const GroupName& table, const kube::ObjectPtr& expected,
                              kube::Object last) {
  kube::ObjectPtr stored;
  {
    absl::MutexLock lock(&mu_);
    const kube::ObjectKey key = expected->key();
    kube::ObjectPtr* slot = FindSlot(table, key);
    if (slot == nullptr || *slot != expected) return nullptr;
    stored = Stamp(std::move(last));
    tables_[table].erase(key);
    Record({Event::Type::kDeleted, table, 0, stored, expected});
  }
  hub_.Deliver();
  return stored;
}

std::vector<ChangePtr> Store::Initial(const WatchStart& start) const {
  if (!start.initial) return ChangesSince(start.table, start.since);
  std::vector<ChangePtr> out;
  const auto append = [&](const GroupName& table, const Table& objects) {
    for (kube::ObjectPtr& object : Select(objects, start.ns)) {
      const int64_t version = kube::ResourceVersionOf(*object);
      out.push_back(std::make_shared<const Change>(
          Change{Event::Type::kAdded, table, version, std::move(object), nullptr}));
    }
  };
  if (start.as_of > 0) {
    append(start.table, ContentsAt(start.table, start.as_of));
    return out;
  }
  for (const auto& [table, objects] : tables_) {
    if (start.table.name.empty() || table == start.table) append(table, objects);
  }
  return out;
}

std::vector<ChangePtr> Store::ChangesSince(const GroupName& table, int64_t version) const {
  std::vector<ChangePtr> out;
  const auto first =
      std::partition_point(history_.begin(), history_.end(),
                           [&](const ChangePtr& change) { return change->version <= version; });
  std::copy_if(first, history_.end(), std::back_inserter(out), [&](const ChangePtr& change) {
    return table.name.empty() || change->table == table;
  });
  return out;
}

int64_t Store::QueueWatch(const WatchStart& start, EventHub::Sink sink) {
  std::vector<ChangePtr> first = Initial(start);
  const bool earlier = start.initial && start.as_of > 0;
  if (!earlier) {
    return hub_.QueueSubscriber(start.table, std::move(first), version_, std::move(sink));
  }
  const std::vector<ChangePtr> later = ChangesSince(start.table, start.as_of);
  if (start.mark_present) {
    first.insert(first.end(), later.begin(), later.end());
    return hub_.QueueSubscriber(start.table, std::move(first), version_, std::move(sink));
  }
  const int64_t id =
      hub_.QueueSubscriber(start.table, std::move(first), start.as_of, std::move(sink));
  for (const ChangePtr& change : later) hub_.QueueChange(change, id);
  return id;
}

absl::StatusOr<int64_t> Store::Watch(const WatchStart& start, EventHub::Sink sink) {
  int64_t id = 0;
  {
    absl::MutexLock lock(&mu_);
    if (!start.initial) RETURN_IF_ERROR(CheckReach(start.since));
    if (start.as_of > 0) RETURN_IF_ERROR(CheckReach(start.as_of));
    id = QueueWatch(start, std::move(sink));
  }
  hub_.Deliver();
  return id;
}

void Store::Bookmark(int64_t id) {
  {
    absl::MutexLock lock(&mu_);
    hub_.QueueBookmark(id, version_);
  }
  hub_.Deliver();
}

void Store::ExpireHistory() {
  absl::MutexLock lock(&mu_);
  history_.clear();
  // Even the newest version that a client can know is too old now, as after a compaction.
  history_start_ = ++version_;
}

Store::Tables Store::Backup() const {
  absl::MutexLock lock(&mu_);
  return tables_;
}

void Store::QueueDifferences(const Tables& wanted) {
  const auto queue = [this](Event::Type type, const GroupName& table, kube::ObjectPtr object,
                            kube::ObjectPtr previous) {
    hub_.QueueChange(std::make_shared<const Change>(
        Change{type, table, version_, std::move(object), std::move(previous)}));
  };
  for (const auto& [table, objects] : tables_) {
    const auto then = wanted.find(table);
    for (const auto& [key, object] : objects) {
      if (then == wanted.end() || then->second.count(key) == 0) {
        queue(Event::Type::kDeleted, table, object, object);
      }
    }
  }
  for (const auto& [table, objects] : wanted) {
    const Table& now = tables_[table];
    for (const auto& [key, object] : objects) {
      const auto held = now.find(key);
      if (held == now.end()) {
        queue(Event::Type::kAdded, table, object, nullptr);
      } else if (held->second != object) {
        queue(Event::Type::kModified, table, object, held->second);
      }
    }
  }
}

void Store::Restore(const Tables& backup) {
  {
    absl::MutexLock lock(&mu_);
    ++version_;
    QueueDifferences(backup);
    tables_ = backup;
    // Versions before a restore never lead here; whoever continues from one lists again.
    history_.clear();
    history_start_ = version_;
  }
  hub_.Deliver();
}

}  // namespace sandbox
