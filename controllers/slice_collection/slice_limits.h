// How many EndpointSlices of a member are collected at most, and which ones.
//
// Each collected slice is a Work and then a slice in the control plane, or a Work for every
// consumer. A member that has been broken into, or a controller there that runs wild, must not be
// able to fill the storage of the control plane with them. Large slices count for several
// (WeightOf), so that the limits hold for bytes as well.
//
// Which slices are collected follows from what the member has, and from nothing else: of a Service
// the oldest ones, and of a member the slices of the oldest ServiceExports of each namespace. So
// the same ones are chosen after a restart. The namespaces take turns: whoever may export in one
// must not use up what the others need, so that an export takes the place of a later one of a
// namespace that has more than its own.
#ifndef CONTROLLERS_SLICE_COLLECTION_SLICE_LIMITS_H_
#define CONTROLLERS_SLICE_COLLECTION_SLICE_LIMITS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "controllers/slice_collection/slice_sources.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// Kubernetes puts 100 endpoints into a slice, so that these are 10,000 endpoints of a Service in
// one cluster, or 5,000 if each has an IPv4 and an IPv6 address; and 6.25 MiB.
inline constexpr size_t kMaxSlicesOfService = 100;
// Kubernetes is tested with up to 10,000 Services in a cluster; most of them have one slice. They
// are 625 MiB at most, of the 2 GB that etcd stores by default.
inline constexpr size_t kMaxSlicesOfMember = 10'000;

// Maps a namespace to the sort key of its last chosen slice; a namespace without an entry has none.
using LastOfNamespaces = std::map<std::string, std::string>;

// Thread-safe. What it remembers, for a second, saves it from sorting a large Service for each of
// its slices.
class SliceLimits {
 public:
  // For this long after it was computed, the choice among too many is not computed again. What has
  // changed meanwhile is seen by a later pass only, so whoever has found too much looks again.
  static constexpr absl::Duration kChoiceLasts = absl::Seconds(1);

  // REQUIRES: `clock` outlives this object.
  explicit SliceLimits(const base::Clock& clock) : clock_(clock) {}

  // Returns kResourceExhausted when the Service, or the member, has more slices than are collected;
  // the message names the cluster, what there is too much of, the number and the limit.
  static absl::Status OfService(const std::string& cluster, const kube::ObjectKey& service,
                                const SliceSources::Listed& listed);
  static absl::Status OfMember(const std::string& cluster, const SliceSources::Listed& listed);

  enum class Choice {
    kOfAll,      // There is not too much: all are collected.
    kAmongMany,  // It is collected, and others are not.
    kNot,
  };
  // Returns whether the slice is one of those of its Service that are collected.
  Choice ChooseSlice(const std::string& cluster, const kube::Object& slice,
                     const SliceSources::Listed& listed);
  // Returns whether slices of the exported Service are collected. kOfAll when the collector is not
  // about exports: what the control plane itself asks for is not counted.
  Choice ChooseService(const std::string& cluster, const kube::ObjectKey& service,
                       const SliceSources::Listed& listed);

 private:
  struct Limit {
    base::SteadyTime at;
    size_t size;  // Of what was counted then. While there is not too much, any other one counts.
    std::optional<LastOfNamespaces> last;  // Absent: there is not too much.
  };
  // A cluster and a Service; without a Service: the exports of the cluster.
  using Subject = std::pair<std::string, kube::ObjectKey>;
  // What is chosen from, and the object among it that the question is about.
  struct Question {
    Subject subject;
    size_t size;
    std::string ns;
    std::string age;
  };
  Choice Choose(const Question& question,
                absl::FunctionRef<std::optional<LastOfNamespaces>()> last);

  const base::Clock& clock_;
  absl::Mutex mu_;
  std::map<Subject, Limit> limits_ ABSL_GUARDED_BY(mu_);  // Of the last second.
};

}  // namespace controllers

#endif  // CONTROLLERS_SLICE_COLLECTION_SLICE_LIMITS_H_
