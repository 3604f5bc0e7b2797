// Maps kinds to their built-in handlers.
#ifndef INTERPRETER_NATIVE_HANDLER_TABLE_H_
#define INTERPRETER_NATIVE_HANDLER_TABLE_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// The handlers of one kind; nullptr where the kind has no rule. They are pure functions.
struct Handlers {
  absl::StatusOr<Replicas> (*get_replicas)(const kube::Object& object,
                                           const RequirementRules& rules) = nullptr;
  absl::StatusOr<kube::Object> (*revise_replica)(const kube::Object& object,
                                                 int64_t replicas) = nullptr;
  absl::StatusOr<kube::Object> (*retain)(const kube::Object& desired,
                                         const kube::Object& observed) = nullptr;
  // `now` is the time of changed conditions.
  absl::StatusOr<kube::Object> (*aggregate_status)(const kube::Object& object,
                                                   const AggregatedItems& items,
                                                   absl::Time now) = nullptr;
  absl::StatusOr<json::Value> (*get_dependencies)(const kube::Object& object) = nullptr;
  // REQUIRES: the status of `object` is an object. A kind without this handler reports its whole
  // status.
  absl::StatusOr<json::Value> (*reflect_status)(const kube::Object& object) = nullptr;
  absl::StatusOr<Health> (*interpret_health)(const kube::Object& object) = nullptr;
};

class HandlerTable {
 public:
  void Add(const kube::Gvk& gvk, const Handlers& handlers) { table_[gvk] = handlers; }
  // Returns nullptr when the kind has none. Group, version and kind must all be equal.
  const Handlers* Find(const kube::Gvk& gvk) const {
    return FindParts({gvk.group, gvk.version, gvk.kind});
  }
  // Returns the handlers for the object's own kind, or nullptr.
  const Handlers* FindFor(const kube::Object& object) const;
  // Returns the kinds with handlers, sorted.
  std::vector<kube::Gvk> Kinds() const;

 private:
  // The parts of a Gvk without copies, to look kinds up by on the hot path.
  struct Parts {
    absl::string_view group, version, kind;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Parts& p) const { return absl::HashOf(p.kind); }
    size_t operator()(const kube::Gvk& g) const { return absl::HashOf(g.kind); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const kube::Gvk& a, const kube::Gvk& b) const { return a == b; }
    bool operator()(const kube::Gvk& a, const Parts& b) const {
      return a.kind == b.kind && a.version == b.version && a.group == b.group;
    }
    bool operator()(const Parts& a, const kube::Gvk& b) const { return (*this)(b, a); }
  };

  const Handlers* FindParts(const Parts& parts) const {
    const auto it = table_.find(parts);
    return it == table_.end() ? nullptr : &it->second;
  }

  absl::flat_hash_map<kube::Gvk, Handlers, Hash, Equal> table_;
};

// Returns a table with all families of kinds.
HandlerTable AllHandlers();

// Each function registers a family of kinds.
void RegisterWorkloads(HandlerTable& table);    // Deployment, ReplicaSet, StatefulSet, DaemonSet.
void RegisterJobs(HandlerTable& table);         // Job, CronJob.
void RegisterPods(HandlerTable& table);         // Pod.
void RegisterNetwork(HandlerTable& table);      // Service, Ingress, ServiceImport.
void RegisterVolumes(HandlerTable& table);      // PersistentVolume, PersistentVolumeClaim.
void RegisterCredentials(HandlerTable& table);  // Secret, ServiceAccount.
void RegisterScaling(HandlerTable& table);      // PodDisruptionBudget, HorizontalPodAutoscaler.
// ClusterRole, CustomResourceDefinition, APIService, the configurations of admission webhooks.
void RegisterInjected(HandlerTable& table);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_HANDLER_TABLE_H_
