// What each object in a member was after our last write to it, and so which of its changes are
// those of others. This is the one place that determines what drift is, and it has two rules, one
// for each of those who put drift back.
#ifndef WORKS_MEMBER_CHANGES_H_
#define WORKS_MEMBER_CHANGES_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kube/cache/informer.h"
#include "kube/meta/object.h"
#include "kube/runtime/work_queue.h"
#include "works/informer_handlers.h"
#include "works/refusals.h"

namespace works {

// Who puts back what others change in members, and makes again what they delete there. It depends
// on the release of Karmada as which the program behaves.
enum class Repairs {
  kByObject,  // The work-status loop, object by object: Karmada up to v1.18.
  kByWork,    // The execution loop, by applying the object's Work again: Karmada since v1.19.
};

// Thread-safe. This is memory of one process; when it is lost, objects are compared with their
// manifests once more, and nothing is written that does not differ.
class MemberChanges {
 public:
  using Object = Refusals::Object;  // Cluster, kind and name.

  explicit MemberChanges(Repairs repairs) : repairs_(repairs) {}
  MemberChanges(const MemberChanges&) = delete;

  // Notes that `written` is what a write of ours has left in the cluster, or what a comparison with
  // the manifest has found to be right.
  void Record(const std::string& cluster, const kube::ObjectPtr& written);
  // As Record, for an object that is put there by server-side apply.
  void RecordApplied(const std::string& cluster, const kube::ObjectPtr& written);
  // Returns whether somebody has changed more than metadata and status since RecordApplied. False
  // when nothing is recorded.
  bool HasOtherContent(const std::string& cluster, const kube::Object& observed) const;

  // Forgets a cluster, or one object.
  void Forget(absl::string_view cluster);
  void Forget(const Object& object);

  // The rule for kByObject, asked in each pass over an object: returns whether somebody else has
  // changed `observed` since our last write to it, by its generation (or version, if it has none)
  // and its labels. True if nothing is recorded of it.
  bool NeedsUpdate(const std::string& cluster, const kube::Object& manifest,
                   const kube::Object& observed) const;

  // The rule for kByWork, applied to each event of an informer: an object that has another version
  // than the recorded one, and other content (what Prune leaves of it), has drifted. Nothing has
  // before a version is recorded: the Work's first pass compares the object anyway. A deleted
  // object is always to be made again.
  //
  // Such an object's Work, which its annotations name, is put into the queue; so is the Work of an
  // object that has lost Karmada's label, which informers of labelled objects report as deleted.
  // Call this before informers are followed. REQUIRES: the queue outlives the members' informers.
  // No effect with kByObject.
  void QueueWorksInto(kube::WorkQueue& queue);
  // Has events of the informer judged from now on. No effect before QueueWorksInto.
  void Follow(const std::string& cluster, const std::shared_ptr<kube::Informer>& informer);
  // Returns whether the object has drifted since it was recorded last.
  bool HasDrifted(const Object& object) const;

  // An attempt to bring an object in line with its manifest, from before the object is read until
  // its write is recorded. Events that arrive meanwhile may be our own write, or come before there
  // is anything to compare them with, so that the last one is judged when the attempt has ended.
  // With kByObject nothing is noted.
  class Attempt {
   public:
    // REQUIRES: `changes` outlives the attempt.
    Attempt(MemberChanges& changes, Object object);
    ~Attempt();
    Attempt(const Attempt&) = delete;

   private:
    MemberChanges& changes_;
    const Object object_;
  };

 private:
  // What an object was after our last write to it.
  struct Written {
    std::string version;
    size_t content = 0;  // ContentOf(); 0 unless it was applied.
    bool drifted = false;
  };
  struct UnderWay {
    int attempts = 0;
    kube::ObjectPtr seen;     // By the last event; nullptr after a deletion.
    kube::ObjectPtr written;  // By Record.
  };

  std::string VersionOf(const kube::Object& object) const;
  void Keep(const std::string& cluster, const kube::ObjectPtr& written, size_t content);
  // Judges an event; `before` is nullptr for an object that was added.
  void See(const std::string& cluster, const kube::ObjectPtr& before, const kube::ObjectPtr& after);
  void SeeDeleted(const std::string& cluster, const kube::ObjectPtr& last);
  void Begin(const Object& object);
  void End(const Object& object);
  // Notes the drift of an object, and queues the Work that `marked`, the object at some time,
  // names.
  void NoteDrift(const Object& object, const kube::Object& marked);
  void QueueWorkOf(const std::string& cluster, const kube::Object& marked);

  const Repairs repairs_;
  InformerHandlers handlers_;
  mutable absl::Mutex mu_;
  kube::WorkQueue* queue_ ABSL_GUARDED_BY(mu_) = nullptr;
  absl::flat_hash_map<Object, Written> written_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Object, UnderWay> under_way_ ABSL_GUARDED_BY(mu_);
};

}  // namespace works

#endif  // WORKS_MEMBER_CHANGES_H_
