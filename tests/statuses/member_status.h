// What a member's controllers write into the status of an object, at random but by their rules: a
// Job's counters do not decrease while it lives, a container that may not be restarted stays ended.
#ifndef TESTS_STATUSES_MEMBER_STATUS_H_
#define TESTS_STATUSES_MEMBER_STATUS_H_

#include <cstdint>
#include <random>
#include <string>

#include "base/json.h"
#include "kube/meta/object.h"

namespace tests {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  // Returns one of 0 ... n-1.
  int64_t Below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
  bool OneIn(int64_t n) { return Below(n) == 0; }

 private:
  std::mt19937_64 random_;
};

// Sets the next status of the object in a member; `now` counts up from one call to the next.
void MoveOn(kube::Object& object, int64_t now, Dice& dice);
// Brings a Job that has not ended to its end. One that has announced its failure fails.
void End(kube::Object& job, int64_t now, bool fails);
bool HasEnded(const kube::Object& job);
// Removes from a reported status what an older API of the member does not have.
json::Value AsOlderApiHasIt(const std::string& kind, json::Value status);

// The kinds that are moved on.
inline constexpr const char* kWalkedKinds[] = {"Deployment",
                                               "ReplicaSet",
                                               "StatefulSet",
                                               "DaemonSet",
                                               "Job",
                                               "CronJob",
                                               "Pod",
                                               "Service",
                                               "Ingress",
                                               "PersistentVolumeClaim",
                                               "PodDisruptionBudget",
                                               "HorizontalPodAutoscaler"};

}  // namespace tests

#endif  // TESTS_STATUSES_MEMBER_STATUS_H_
