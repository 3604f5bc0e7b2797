// Events about objects in members that somebody changes again and again after they were put back.
#ifndef WORKS_DRIFT_REPORTS_H_
#define WORKS_DRIFT_REPORTS_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "api/repeated_drift.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/member_objects.h"

namespace works {

// So many times within kDriftWindow an object has to be put back before that is reported. A person
// who tries something is slower.
inline constexpr int kDriftsToReport = 5;
inline constexpr absl::Duration kDriftWindow = absl::Minutes(1);
// How long nothing more is reported of an object then.
inline constexpr absl::Duration kBetweenDriftReports = absl::Minutes(10);

// Thread-safe. The account may be lost at any time: a fight that goes on is reported a minute
// later.
class DriftReports {
 public:
  // REQUIRES: all three outlive this.
  DriftReports(kube::Manager& manager, MemberObjects& objects, kube::EventRecorder& recorder)
      : manager_(manager), objects_(objects), recorder_(recorder) {}

  // Call it before an object is put back: afterwards the fields are Karmada's. Returns who owns
  // them (metadata.managedFields) if the object has been put back so often that the next time is
  // reported, which costs one request; else null, as when the member does not tell.
  json::Value OwnersBefore(const std::string& cluster, const kube::Object& drifted,
                           const base::StopToken& stop);

  // An object that was put back.
  struct PutBack {
    const std::string& cluster;
    const kube::Object& drifted;  // As somebody had changed it.
    const kube::Object& now;      // As it is afterwards.
    const kube::Object& work;
    const json::Value& owners;  // What OwnersBefore returned.
  };
  // Counts it, and writes a warning on the Work and its binding when there were too many.
  void Note(const PutBack& put_back);
  void ForgetCluster(absl::string_view cluster);

 private:
  struct Account {
    int times = 0;  // Since `began`.
    base::SteadyTime began = base::SteadyTime::InfinitePast();
    base::SteadyTime silent_until = base::SteadyTime::InfinitePast();
  };

  // Returns how often the object was put back in the present window if that has to be reported now;
  // else 0.
  int Count(const kube::Request& object);
  // Returns whether the next Count of the object is likely to return a number.
  bool IsDue(const kube::Request& object) const;

  kube::Manager& manager_;
  MemberObjects& objects_;
  kube::EventRecorder& recorder_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<kube::Request, Account> accounts_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime next_cleaning_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
};

}  // namespace works

#endif  // WORKS_DRIFT_REPORTS_H_
