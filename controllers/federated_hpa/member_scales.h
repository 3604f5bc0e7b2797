// What member clusters say about a scale target: how many replicas they want and have, and which
// pods those are.
#ifndef CONTROLLERS_FEDERATED_HPA_MEMBER_SCALES_H_
#define CONTROLLERS_FEDERATED_HPA_MEMBER_SCALES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/repeated_errors.h"
#include "base/stop_token.h"
#include "controllers/autoscaling/pod_metrics.h"
#include "controllers/context/member_inventory.h"
#include "controllers/context/scale_target.h"
#include "kube/meta/object.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/fan_out.h"
#include "works/member_objects.h"

namespace controllers {

// The sum over the clusters that could be read.
struct MemberScaleSum {
  int64_t replicas = 0;         // spec.replicas
  int64_t status_replicas = 0;  // status.replicas
  std::string selector;         // The first one; "" if there is none.
  std::vector<autoscaling::Pod> pods;
  std::string selector_error;  // If no selector can be used: why one cannot be read, or "".
  // spec.replicas of clusters whose selector is missing or cannot be read. They are left out of
  // the rest, unless no cluster has one.
  int64_t replicas_without_pods = 0;
};

// Reads members. Thread-safe.
class MemberScales {
 public:
  struct Deps {
    works::MemberObjects& objects;
    MemberInventory& inventory;
    kube::ClusterSet& members;
    const base::Clock& clock;
  };
  explicit MemberScales(const Deps& deps)
      : deps_(deps), fan_out_(deps.clock, kube::FanOut::kMaxThreads, /*parts_per_thread=*/1) {}

  // As long as one request of a client may take.
  static constexpr absl::Duration kDeadline = absl::Seconds(32);

  // Sets whether anything is scaled at all. Pods are watched in members, with the fields that
  // autoscaling reads, only while it is: members have many of them. It must not be called by two
  // threads at once.
  void SetInUse(bool in_use);

  // Clusters that cannot be read are left out and logged. Deployments, StatefulSets and ReplicaSets
  // are taken from the cache, other kinds from the scale subresource: all clusters are asked at the
  // same time, and have kDeadline together to answer.
  MemberScaleSum Sum(const ScaleTarget& target, const std::vector<std::string>& clusters,
                     const base::StopToken& stop);

 private:
  struct Question {
    const ScaleTarget& target;
    const base::SteadyTime deadline;
    const base::StopToken& stop;
  };
  // What a cluster says.
  struct Reading {
    absl::Status status;
    std::shared_ptr<kube::Informer> pods;
    kube::ObjectPtr scale;
  };
  // Returns whether reading the clusters one after the other would add up waits for servers.
  bool Waits(const ScaleTarget& target, const std::vector<std::string>& clusters);
  Reading Read(const std::string& cluster, const Question& question);
  // Returns the target's Scale in the cluster.
  absl::StatusOr<kube::ObjectPtr> ScaleIn(const std::string& cluster, const Question& question);
  // Returns the pods of the namespace in the cluster, once they have been listed.
  absl::StatusOr<std::shared_ptr<kube::Informer>> PodsIn(const std::string& cluster,
                                                         const base::StopToken& stop);
  static absl::Status Add(const std::string& cluster, const std::string& ns, const Reading& reading,
                          MemberScaleSum& sum);
  void Report(const std::string& cluster, const ScaleTarget& target, const absl::Status& failed);

  const Deps deps_;
  base::RepeatedErrors errors_;
  kube::FanOut fan_out_;
};

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_HPA_MEMBER_SCALES_H_
