// Simulates Jobs, which run pods to completion.
#ifndef SANDBOX_SIM_JOBS_H_
#define SANDBOX_SIM_JOBS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sandbox/sim/controller.h"

namespace sandbox {

class Jobs {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  Jobs(Backend& backend, EventLoop& loop);

 private:
  // Finished pods by uid: they count even if they are deleted.
  struct Tally {
    std::set<std::string> succeeded, failed;
  };
  // A Job and its pods at one moment.
  struct Progress {
    std::vector<kube::ObjectPtr> active;
    int64_t ready = 0;
    int64_t succeeded = 0;
    int64_t failed = 0;
  };
  // Why a Job ends; an empty type means that it continues.
  struct Verdict {
    std::string type;  // "Complete" or "Failed".
    std::string reason;
    std::string message;
  };

  absl::Status Reconcile(const kube::ObjectKey& key);
  absl::Status ExpireFinished(const kube::Object& job);
  absl::StatusOr<Progress> ProgressOf(const kube::Object& job);
  Verdict Judge(const kube::Object& job, const Progress& progress);
  // Creates or deletes pods; returns whether it did either.
  absl::StatusOr<bool> Staff(const kube::Object& job, const Progress& progress, bool ended);
  absl::Status UpdateStatus(const kube::Object& job, const Progress& progress,
                            const Verdict& verdict);

  Backend& backend_;
  std::map<std::string, Tally> tallies_;  // By the Job's uid; used on the loop's thread only.
  std::map<kube::ObjectKey, std::string> uids_;
  Controller controller_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_JOBS_H_
