// How long it takes from an edit of a template until all of its clusters have it, as a metric:
// karmada_edit_to_applied_seconds, by kind of the template.
//
// The clock starts when this process sees a generation of the template that it has not seen before,
// and stops when the last cluster has answered the write that carries this generation (or turns out
// to have it). Both are read from one clock in one process. The error is the time from the server's
// write to the delivery by the watch: milliseconds, and as long as the gap if a watch was
// interrupted. Kinds whose objects have no generation, such as ConfigMaps, are not measured, and
// neither are creations, which the scheduler takes part in.
//
// A cluster that cannot be written to is not waited for: one that is suspended, not ready, or
// served by somebody else. An edit that is not measured is counted, with the reason, as
// karmada_edits_not_timed_total. All of this is memory that may be lost at any moment: nothing but
// the metric depends on it.
#ifndef WORKS_EDIT_TIMES_H_
#define WORKS_EDIT_TIMES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace works {

// Thread-safe.
class EditTimes {
 public:
  // The edits that are under way at once, and the arrivals in clusters that are remembered of them
  // all: less than a megabyte together. What is more is not timed.
  static constexpr size_t kMostEdits = 4096;
  static constexpr size_t kMostArrivals = 65536;
  // What takes longer is a state and no latency: see karmada_bindings.
  static constexpr absl::Duration kLongest = absl::Minutes(10);

  // REQUIRES: all arguments outlive this object.
  EditTimes(kube::ClusterClient& control_plane, const base::Clock& clock,
            metrics::Registry& registry)
      : control_plane_(control_plane), clock_(clock), registry_(registry) {}

  // A template has a new generation: an edit begins. One that is under way ends with it.
  void Seen(const kube::Object& template_object);
  // The template is not put into clusters in its present state, for whatever reason but a failure.
  void NotPropagated(const kube::Gvk& gvk, const kube::ObjectKey& key);
  // The template is gone.
  void Forget(const kube::Gvk& gvk, const kube::ObjectKey& key);

  // Returns whether no edit is under way. It is cheap: ask it before the following two.
  bool IsIdle() const { return under_way_.load(std::memory_order_relaxed) == 0; }
  // The cluster has what the manifest of a Work says.
  void Arrived(absl::string_view cluster, const kube::Object& manifest);
  // The cluster is not given the manifest for now: it is not waited for.
  void Excused(absl::string_view cluster, const kube::Object& manifest);

 private:
  struct Edit {
    std::string kind;
    int64_t generation = 0;
    base::SteadyTime seen_at;
    // Hashes of the names of clusters that have it or are excused, and when the last one got it.
    std::vector<uint64_t> settled;
    bool has_arrived = false;
    base::SteadyTime arrived_at;
  };
  // Two templates of one hash would be taken for one another: one measurement would be wrong.
  using Edits = absl::flat_hash_map<uint64_t, Edit>;

  void Settle(absl::string_view cluster, const kube::Object& manifest, bool has_arrived);
  // Returns how many clusters have settled; 0 when the edit is not under way.
  size_t Mark(uint64_t id, uint64_t cluster, int64_t generation, bool has_arrived)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the edit if the clusters that the binding of its template names have all settled.
  void EndIfSettled(uint64_t id, const kube::Object& binding, int64_t generation)
      ABSL_LOCKS_EXCLUDED(mu_);
  void End(Edits::iterator edit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Leave(Edits::iterator edit, const char* why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Erase(Edits::iterator edit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Makes room: leaves the edits that have taken too long.
  void LeaveLateOnes(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CountLeft(const std::string& kind, const char* why);

  kube::ClusterClient& control_plane_;
  const base::Clock& clock_;
  metrics::Registry& registry_;
  std::atomic<size_t> under_way_ = 0;
  absl::Mutex mu_;
  Edits edits_ ABSL_GUARDED_BY(mu_);
  size_t arrivals_ ABSL_GUARDED_BY(mu_) = 0;  // Of all edits.
  base::SteadyTime looked_at_ ABSL_GUARDED_BY(mu_);
};

}  // namespace works

#endif  // WORKS_EDIT_TIMES_H_
