// The mirrors that ResourceRegistries ask for: one for each OpenSearch.
//
//   MirrorSet mirrors(options, clock, &registry);
//   mirrors.SetTargets({{target_of_a_registry, slices_of_that_registry}, ...});
//   mirrors.Synced(slice, source);     // The handlers of the cache, whatever the targets are.
//   mirrors.Upsert(slice, object);
//
// Targets that mean the same OpenSearch are one mirror: otherwise two would delete one another's
// documents. The Secret that counts then is that of the target which comes first, and it is sent
// only to the addresses of targets that name this Secret; others are not used. A target means the
// OpenSearch that the first of its addresses leads to; its addresses that lead to
// another one, or to none, are not used, and the status says so. As long as no address of two
// targets has answered, they mean the same when they have one in common.
//
// A mirror that nobody asks for any more forgets everything, and waits until all others have found
// out that they use another OpenSearch, for `farewell_wait` at most. Then it deletes the documents
// that it finds, within `farewell`, and ends. If time is over, or the process ends before that,
// documents stay in an OpenSearch that no registry names any more. A warning says so. Whichever
// process mirrors into that OpenSearch again deletes those that its registries do not ask for.
#ifndef SEARCH_OPENSEARCH_MIRROR_SET_H_
#define SEARCH_OPENSEARCH_MIRROR_SET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "api/resource_registry.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "search/opensearch/cluster_claims.h"
#include "search/opensearch/mirror.h"

namespace search {

// Thread-safe.
class MirrorSet {
 public:
  struct Options {
    // What all mirrors have in common; addresses and credentials come from their targets.
    MirrorOptions mirror;
    // Reads a Secret of the control plane; called on the mirrors' threads, may block.
    std::function<absl::StatusOr<kube::Object>(const kube::ObjectKey&)> secret;
    absl::Duration farewell_wait = absl::Minutes(10);
    absl::Duration farewell = absl::Minutes(1);
  };
  // What a registry wants in its OpenSearch.
  struct Target {
    api::OpenSearchTarget where;
    std::vector<Slice> slices;
    // The namespaces of those slices of which not all are wanted.
    std::map<Slice, std::set<std::string>> narrowed;
  };
  // One OpenSearch.
  struct TargetStatus {
    std::vector<std::string> addresses;
    std::vector<api::OpenSearchTarget> targets;  // Those that mean it, as they were given.
    std::string error;  // Why there is no mirror: no usable address. "" if there is one.
    MirrorStatus mirror;
  };

  // REQUIRES: clock and metrics (which may be nullptr) outlive the set.
  MirrorSet(Options options, const base::Clock& clock, metrics::Registry* metrics);
  ~MirrorSet();
  MirrorSet(const MirrorSet&) = delete;

  // All targets of all registries. Mirrors start, change and end accordingly. May wait for a
  // request that is being ended.
  void SetTargets(const std::vector<Target>& targets);

  // As the functions of OpenSearchMirror, for each mirror that has the slice. Do not block.
  void Synced(const Slice& slice, std::shared_ptr<SliceSource> source);
  void Upsert(const Slice& slice, const MirroredObject& object);
  void Delete(const Slice& slice, absl::string_view uid, int64_t resource_version,
              absl::string_view ns);
  // The cache does not have the slice any more. Its documents are deleted when no target asks for
  // it.
  void Left(const Slice& slice);
  // This Secret has changed.
  void ReloadCredentials(const kube::ObjectKey& secret);

  std::vector<TargetStatus> Status();
  // The mirrors that have objects of the kind, to search in.
  std::vector<std::shared_ptr<OpenSearchMirror>> MirrorsOf(const kube::Gvk& kind) const;

 private:
  // One OpenSearch.
  struct Place {
    api::OpenSearchTarget where;
    std::vector<api::OpenSearchTarget> targets;   // Of the registries.
    std::map<std::string, std::string> unusable;  // Addresses of the targets, and why.
    std::set<Slice> slices;
    std::map<Slice, std::set<std::string>> narrowed;  // As Target::narrowed.
    int64_t number = 0;                               // Of the mirror, in claims_.
    std::shared_ptr<OpenSearchMirror> mirror;         // nullptr: see error.
    std::string error;
  };
  struct Leaving {
    api::OpenSearchTarget where;
    std::shared_ptr<OpenSearchMirror> mirror;
    base::SteadyTime until;
    bool asked = false;  // To delete everything.
  };

  using Mirrors = std::vector<std::shared_ptr<OpenSearchMirror>>;

  void Run();
  // Makes the mirrors those of targets_, by what is known of the addresses.
  void Apply() ABSL_EXCLUSIVE_LOCKS_REQUIRED(apply_mu_);
  // The place of one target alone. Without a usable address it has an error.
  static Place PlaceOf(const Target& target);
  // Whether both mean the same OpenSearch, as far as that is known.
  bool IsSame(const api::OpenSearchTarget& a, const api::OpenSearchTarget& b) const;
  std::vector<Place> PlacesOf(const std::vector<Target>& targets) const;
  static void Join(const Place& from, Place& to);
  // Starts the mirror of the place.
  void Start(Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(apply_mu_);
  // Lets the mirrors that are there go on where they can. Returns those that have to end, and
  // leaves in `places` those that have to start.
  Mirrors KeepAndRetire(std::vector<Place>& places);
  void Retire(const Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReportDifference(const Place& before, const Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Asks mirrors that are leaving to delete everything, if no other one may need that.
  void SayGoodbye() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  base::SteadyTime NextLook() const;
  // Returns the mirrors that have said goodbye, to be destroyed without the lock.
  Mirrors TakeFinished();

  const Options options_;
  const base::Clock& clock_;
  metrics::Registry* const metrics_;
  const std::shared_ptr<ClusterClaims> claims_ = std::make_shared<ClusterClaims>();
  base::StopSource stop_;
  absl::Mutex apply_mu_;  // Before mu_.
  std::vector<Target> targets_ ABSL_GUARDED_BY(apply_mu_);
  int64_t last_number_ ABSL_GUARDED_BY(apply_mu_) = 0;
  mutable absl::Mutex mu_;
  std::vector<Place> places_ ABSL_GUARDED_BY(mu_);
  bool applying_ ABSL_GUARDED_BY(mu_) = false;  // places_ is not complete.
  std::vector<Leaving> leaving_ ABSL_GUARDED_BY(mu_);
  std::map<Slice, std::shared_ptr<SliceSource>> sources_ ABSL_GUARDED_BY(mu_);  // Of the cache.
  std::thread thread_;  // Last: it uses everything above.
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_MIRROR_SET_H_
