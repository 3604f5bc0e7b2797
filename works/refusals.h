// Remembers changes that a member's API server has refused, as invalid or because others own the
// fields, so that they are not sent again at once.
//
// A Job whose template cannot be changed is refused for ever. The queue of the execution loop backs
// off, but each event of the object in the member makes the work-status loop look at its drift,
// too. The same change of the same object is therefore sent again only after a pause that doubles;
// until then it fails with the same error as the last time.
#ifndef WORKS_REFUSALS_H_
#define WORKS_REFUSALS_H_

#include <functional>
#include <string>
#include <tuple>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "kube/meta/names.h"

namespace works {

// Thread-safe. This is memory of one process; when it is lost, the change is sent once more.
class Refusals {
 public:
  static constexpr absl::Duration kFirstPause = absl::Seconds(1);
  static constexpr absl::Duration kLongestPause = absl::Minutes(5);

  // Cluster, kind and name.
  using Object = std::tuple<std::string, kube::Gvk, kube::ObjectKey>;

  // REQUIRES: `clock` outlives this object.
  explicit Refusals(const base::Clock& clock) : clock_(clock) {}

  // Returns the error of the last attempt if this change of the object was refused and it is too
  // early to send it again; else OK.
  absl::Status Check(const Object& object, const json::Value& change) const;
  // Records the result of the change.
  void Note(const Object& object, const json::Value& change, const absl::Status& result);
  // Forgets the objects for which `gone` returns true.
  void Forget(const std::function<bool(const Object&)>& gone);

 private:
  struct Refusal {
    json::Value change;
    absl::Status error;
    absl::Duration pause;
    base::SteadyTime until;
  };

  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<Object, Refusal> refused_ ABSL_GUARDED_BY(mu_);
};

}  // namespace works

#endif  // WORKS_REFUSALS_H_
