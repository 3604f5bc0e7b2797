// The kinds that the server serves at present: the built-in ones and those of custom resource
// definitions. Thread-safe; look-ups return immutable descriptions.
#ifndef SANDBOX_KINDS_REGISTRY_H_
#define SANDBOX_KINDS_REGISTRY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

class Registry {
 public:
  // Creates a registry with the built-in kinds.
  Registry();

  // Returns nullptr when it is not served.
  ResourceInfoPtr Find(const kube::Gvr& gvr) const;
  ResourceInfoPtr Find(const kube::Gvk& gvk) const;
  // Returns any served version of the resource; nullptr when there is none.
  ResourceInfoPtr FindAny(const GroupName& resource) const;
  // Returns all kinds in discovery order: built-in ones first, custom groups by name, versions by
  // priority.
  std::vector<ResourceInfoPtr> All() const;

  // From now on serves exactly `versions` for the definition of that name; an empty list ends its
  // service.
  void SetCustom(const std::string& definition, std::vector<ResourceInfo> versions);

 private:
  void Rebuild() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::vector<ResourceInfoPtr> builtin_;
  mutable absl::Mutex mu_;
  // By names of definitions ("works.work.karmada.io").
  std::map<std::string, std::vector<ResourceInfoPtr>> custom_ ABSL_GUARDED_BY(mu_);
  std::vector<ResourceInfoPtr> all_ ABSL_GUARDED_BY(mu_);
  std::map<kube::Gvr, ResourceInfoPtr> by_gvr_ ABSL_GUARDED_BY(mu_);
  std::map<kube::Gvk, ResourceInfoPtr> by_gvk_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_KINDS_REGISTRY_H_
