// Random workloads and a random change of the fleet, from a seed: what a plan says of the change is
// compared with what becomes of the workloads when it is really made. On simulated and on real
// servers.
#ifndef TESTS_BEHAVIOUR_RANDOM_FLEET_H_
#define TESTS_BEHAVIOUR_RANDOM_FLEET_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "config/options.h"
#include "kube/meta/object.h"
#include "lens/plan/plan.h"
#include "tests/support/control_plane.h"

namespace tests {

// Where each template is: "Deployment web" -> "member1=2 member3=1".
using Places = std::map<std::string, std::string>;

class RandomFleet {
 public:
  // `members` are those of the plane, which has the flags `daemon`. REQUIRES: `plane` outlives this
  // object.
  RandomFleet(uint64_t seed, ControlPlane& plane, std::vector<std::string> members,
              config::Options daemon);
  // Undoes the change and deletes the workloads; waits until the fleet is as before.
  ~RandomFleet();
  RandomFleet(const RandomFleet&) = delete;

  // Creates the workloads and waits until they are placed and the clusters have reported them.
  void Create();
  // Asks the plan about the change; returns where it says that the workloads would be.
  Places Planned();
  // Makes the change.
  void Change();
  // Waits until the workloads are where `wanted` says, or for a while; returns where they are.
  Places Actual(const Places& wanted);

  // Returns the change, the workloads and what the plan said of each, for messages.
  std::string Describe() const;

 private:
  struct Workload;
  enum class How { kDrain, kCordon, kLabel, kLost, kTaint, kUncordon, kCapacity, kLeave, kJoin };

  int Pick(int below) { return static_cast<int>(random_() % static_cast<uint64_t>(below)); }
  std::string OtherThanVictim();
  std::string RandomPlacement(bool divides);
  std::string Tolerations();
  void AddWorkload(const std::string& name);
  void AddRoomProblem();
  void AddQuota();
  void AddCrowd();
  // Gives each node of the victim room for so many pods.
  void SetPodsOfNodes(int pods);
  std::vector<lens::plan::FleetEdit> Edits() const;
  // Returns where the workloads are now, and whether evictions are under way.
  Places Now(bool& moving);
  bool IsReported();
  // Returns whether a plan says how it ends, and the workload is there until then.
  bool IsUnknown(const std::string& key, const std::string& cluster) const;
  void Join();

  ControlPlane& plane_;
  const std::vector<std::string> members_;
  const config::Options daemon_;
  std::mt19937_64 random_;
  const std::string ns_;
  std::string victim_;
  How how_ = How::kDrain;
  std::string taint_effect_;              // For kTaint.
  int pods_before_ = 0, pods_after_ = 0;  // Of each node of the victim, for kCapacity.
  std::string yaml_;
  std::vector<std::string> names_;  // Of templates, "Deployment a".
  kube::Object left_, cluster_;     // The victim's Cluster, as it can join again, and as it was.
  bool changed_ = false;
  std::string said_;
};

// Returns "" when both are the same, else a line for each template that differs.
std::string DifferenceOf(const Places& planned, const Places& actual);

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_RANDOM_FLEET_H_
