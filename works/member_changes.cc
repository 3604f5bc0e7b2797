// written_ has an entry for each object that this process has written, or compared with its
// manifest: the version that it had then. The version is "gen:<generation>", or
// "rv:<resourceVersion>" of objects without a generation, where the work-status loop asks for
// drift; and always "rv:<resourceVersion>" where events are judged, since not every change of the
// content raises the generation.
//
// An event is judged in this order: an object without Karmada's label, or without a Work of this
// cluster in its annotations, does not concern us (of an update, the former object counts, so that
// one that loses its marks is noticed); one that an attempt is under way for is kept for the end of
// that attempt; one without a record, or with the recorded version, is passed over; so is an update
// that changes nothing but what Prune removes. What is left is drift, and its Work is queued.
//
// At the end of an attempt the last object that was seen is compared with the one that was
// recorded. An attempt that has failed is repeated by the queue, so that nothing is judged then. A
// pass too many is possible, when the event of our own write is handed out late behind another one;
// it writes nothing. mu_ is held neither while objects are compared nor while a handler is added.

#include "works/member_changes.h"

#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "base/release_room.h"
#include "interpreter/interpreter.h"
#include "works/configuration.h"
#include "works/ownership.h"

namespace works {
namespace {

bool HasOtherContentThan(const kube::Object& before, const kube::Object& after) {
  kube::Object was = before;
  kube::Object is = after;
  interpreter::Prune(was);
  interpreter::Prune(is);
  return was.root() != is.root();
}

// Returns the key of the Work of this cluster that the object belongs to; an empty one if it is not
// Karmada's.
kube::ObjectKey WorkOf(const std::string& cluster, const kube::Object& marked) {
  if (!IsManaged(marked)) return {};
  const kube::ObjectKey work = WorkNamedBy(marked);
  if (work.name.empty() || work.ns != api::ExecutionNamespace(cluster)) return {};
  return work;
}

}  // namespace

std::string MemberChanges::VersionOf(const kube::Object& object) const {
  return repairs_ == Repairs::kByObject && object.generation() > 0
             ? absl::StrCat("gen:", object.generation())
             : absl::StrCat("rv:", object.resource_version());
}

void MemberChanges::Record(const std::string& cluster, const kube::ObjectPtr& written) {
  Keep(cluster, written, 0);
}

void MemberChanges::RecordApplied(const std::string& cluster, const kube::ObjectPtr& written) {
  Keep(cluster, written, ContentOf(*written));
}

void MemberChanges::Keep(const std::string& cluster, const kube::ObjectPtr& written,
                         size_t content) {
  const Object object{cluster, written->gvk(), written->key()};
  std::string version = VersionOf(*written);
  absl::MutexLock lock(&mu_);
  Written& known = written_[object];
  known.version = std::move(version);
  known.content = content;
  known.drifted = false;
  const auto attempt = under_way_.find(object);
  if (attempt != under_way_.end()) attempt->second.written = written;
}

bool MemberChanges::HasOtherContent(const std::string& cluster,
                                    const kube::Object& observed) const {
  const size_t content = ContentOf(observed);
  absl::MutexLock lock(&mu_);
  const auto known = written_.find({cluster, observed.gvk(), observed.key()});
  return known != written_.end() && known->second.content != 0 && known->second.content != content;
}

void MemberChanges::Forget(absl::string_view cluster) {
  absl::MutexLock lock(&mu_);
  absl::erase_if(written_, [&](const auto& entry) { return std::get<0>(entry.first) == cluster; });
  base::ReleaseRoom(written_);
}

void MemberChanges::Forget(const Object& object) {
  absl::MutexLock lock(&mu_);
  written_.erase(object);
  base::ReleaseRoom(written_);
}

bool MemberChanges::NeedsUpdate(const std::string& cluster, const kube::Object& manifest,
                                const kube::Object& observed) const {
  const std::string version = VersionOf(observed);
  {
    absl::MutexLock lock(&mu_);
    const auto known = written_.find({cluster, observed.gvk(), observed.key()});
    if (known == written_.end() || known->second.version != version) return true;
  }
  // A change of labels does not change the generation.
  return version[0] == 'g' && manifest.labels() != observed.labels();
}

void MemberChanges::QueueWorksInto(kube::WorkQueue& queue) {
  if (repairs_ != Repairs::kByWork) return;
  absl::MutexLock lock(&mu_);
  queue_ = &queue;
}

void MemberChanges::Follow(const std::string& cluster,
                           const std::shared_ptr<kube::Informer>& informer) {
  if (repairs_ != Repairs::kByWork) return;
  {
    absl::MutexLock lock(&mu_);
    if (queue_ == nullptr) return;
  }
  handlers_.Add(cluster, informer, [&] {
    kube::EventHandler handler;
    handler.on_add = [this, cluster](const kube::ObjectPtr& object, bool) {
      See(cluster, nullptr, object);
    };
    handler.on_update = [this, cluster](const kube::ObjectPtr& before,
                                        const kube::ObjectPtr& after) {
      See(cluster, before, after);
    };
    handler.on_delete = [this, cluster](const kube::ObjectPtr& last) { SeeDeleted(cluster, last); };
    return handler;
  });
}

bool MemberChanges::HasDrifted(const Object& object) const {
  absl::MutexLock lock(&mu_);
  const auto known = written_.find(object);
  return known != written_.end() && known->second.drifted;
}

void MemberChanges::See(const std::string& cluster, const kube::ObjectPtr& before,
                        const kube::ObjectPtr& after) {
  const kube::Object& marked = before != nullptr ? *before : *after;
  if (WorkOf(cluster, marked).name.empty()) return;
  const Object object{cluster, after->gvk(), after->key()};
  {
    absl::MutexLock lock(&mu_);
    if (const auto attempt = under_way_.find(object); attempt != under_way_.end()) {
      attempt->second.seen = after;
      return;
    }
    const auto known = written_.find(object);
    if (known == written_.end() || known->second.version == VersionOf(*after)) return;
  }
  if (before != nullptr && !HasOtherContentThan(*before, *after)) return;
  NoteDrift(object, marked);
}

void MemberChanges::SeeDeleted(const std::string& cluster, const kube::ObjectPtr& last) {
  {
    absl::MutexLock lock(&mu_);
    const auto attempt = under_way_.find({cluster, last->gvk(), last->key()});
    if (attempt != under_way_.end()) attempt->second.seen = nullptr;
  }
  QueueWorkOf(cluster, *last);
}

void MemberChanges::Begin(const Object& object) {
  if (repairs_ != Repairs::kByWork) return;
  absl::MutexLock lock(&mu_);
  ++under_way_[object].attempts;
}

void MemberChanges::End(const Object& object) {
  if (repairs_ != Repairs::kByWork) return;
  UnderWay ended;
  {
    absl::MutexLock lock(&mu_);
    const auto attempt = under_way_.find(object);
    if (--attempt->second.attempts > 0) return;
    ended = std::move(attempt->second);
    under_way_.erase(attempt);
  }
  if (ended.seen == nullptr || ended.written == nullptr) return;
  if (ended.seen->resource_version() == ended.written->resource_version()) return;
  if (HasOtherContentThan(*ended.written, *ended.seen)) NoteDrift(object, *ended.written);
}

void MemberChanges::NoteDrift(const Object& object, const kube::Object& marked) {
  {
    absl::MutexLock lock(&mu_);
    const auto known = written_.find(object);
    if (known != written_.end()) known->second.drifted = true;
  }
  QueueWorkOf(std::get<0>(object), marked);
}

void MemberChanges::QueueWorkOf(const std::string& cluster, const kube::Object& marked) {
  const kube::ObjectKey work = WorkOf(cluster, marked);
  if (work.name.empty()) return;
  absl::MutexLock lock(&mu_);
  if (queue_ != nullptr) queue_->Add({.key = work});
}

MemberChanges::Attempt::Attempt(MemberChanges& changes, Object object)
    : changes_(changes), object_(std::move(object)) {
  changes_.Begin(object_);
}

MemberChanges::Attempt::~Attempt() { changes_.End(object_); }

}  // namespace works
