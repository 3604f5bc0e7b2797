// What was executed and could not be recorded in the status yet.
#ifndef CONTROLLERS_CRON_FEDERATED_HPA_UNRECORDED_RUNS_H_
#define CONTROLLERS_CRON_FEDERATED_HPA_UNRECORDED_RUNS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "controllers/cron_federated_hpa/execution_histories.h"
#include "kube/meta/object.h"

namespace controllers {

// Keeps a time from being executed twice while the status cannot be written. This is memory of one
// process: when it is empty, the status alone says what was executed, and what it does not record
// is executed once more. Thread-safe.
class UnrecordedRuns {
 public:
  // So many runs of an object are kept, the latest ones.
  static constexpr size_t kMost = 100;

  // Returns the runs of the CronFederatedHPA, the oldest first, without those that its status
  // records. An object of the same name with another uid has none.
  std::vector<RuleRun> Of(const kube::Object& object) const;
  // Replaces the runs of the CronFederatedHPA.
  void Keep(const kube::Object& object, std::vector<RuleRun> runs);
  // Call it when the CronFederatedHPA does not exist any more.
  void Forget(const kube::ObjectKey& key);

 private:
  struct Entry {
    std::string uid;
    std::vector<RuleRun> runs;
  };
  mutable absl::Mutex mu_;
  std::map<kube::ObjectKey, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

// Returns the runs that the status of the CronFederatedHPA does not record.
std::vector<RuleRun> Unrecorded(const kube::Object& object, std::vector<RuleRun> runs);

}  // namespace controllers

#endif  // CONTROLLERS_CRON_FEDERATED_HPA_UNRECORDED_RUNS_H_
