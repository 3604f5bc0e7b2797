// Server-side apply with simple ownership: the last configuration of each field manager is
// remembered, so that fields which it no longer has are removed, and fields that another manager
// has applied cause a conflict. Changes made by other means (PUT, patches) own nothing, and
// metadata.managedFields is not kept.
#ifndef SANDBOX_WRITE_APPLY_PATCH_H_
#define SANDBOX_WRITE_APPLY_PATCH_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Merges and removes fields according to a configuration. Lists are merged by key where the type
// defines that: by the x-kubernetes-list-* marks of a custom resource's schema, or by a table of
// well-known lists for built-ins.
class ApplyMerge {
 public:
  explicit ApplyMerge(const ResourceInfo& info);
  // Returns `live` with all fields of `config`.
  json::Value Merge(const json::Value& live, const json::Value& config) const;
  // Returns `live` without the fields that `previous` has and `config` does not.
  json::Value Remove(const json::Value& live, const json::Value& previous,
                     const json::Value& config) const;
  // Returns the paths at which the configurations differ, such as ".spec.replicas".
  std::vector<std::string> Differences(const json::Value& mine, const json::Value& other) const;

 private:
  struct Place;
  void Merge(json::Value& live, const json::Value& config, const Place& place) const;
  void MergeList(json::Value& live, const json::Value& config, const Place& place) const;
  bool Remove(json::Value& live, const json::Value& previous, const json::Value* config,
              const Place& place) const;
  bool RemoveList(json::Value& live, const json::Value& previous, const json::Value* config,
                  const Place& place) const;
  void Differ(const json::Value& mine, const json::Value& other, const Place& place,
              std::vector<std::string>& out) const;
  Place Member(const Place& parent, absl::string_view name) const;

  const json::Value* schema_ = nullptr;  // Null for built-in kinds.
  std::shared_ptr<const Schema> keep_;
};

// Thread-safe.
class FieldOwnership {
 public:
  struct Request {
    GroupName table;
    kube::ObjectKey key;
    std::string manager;
    bool force = false;
  };
  // Returns the new state of `current` (empty: it does not exist yet); 409 with one cause per
  // conflict.
  absl::StatusOr<kube::Object> Apply(const ResourceInfo& info, const Request& request,
                                     const kube::Object& current, const kube::Object& config);
  // Remembers a configuration that has been stored.
  void Remember(const Request& request, const kube::Object& stored, const kube::Object& config);
  // Forgets the configurations of an object that is gone.
  void Forget(const GroupName& table, const kube::ObjectKey& key);

 private:
  struct Applied {
    std::string uid;
    json::Value config;
  };
  using ByManager = std::map<std::string, Applied>;

  ByManager Of(const Request& request, const kube::Object& current);

  absl::Mutex mu_;
  std::map<std::pair<GroupName, kube::ObjectKey>, ByManager> applied_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_WRITE_APPLY_PATCH_H_
