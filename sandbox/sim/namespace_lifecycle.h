// Empties namespaces that are being terminated, then releases them.
#ifndef SANDBOX_SIM_NAMESPACE_LIFECYCLE_H_
#define SANDBOX_SIM_NAMESPACE_LIFECYCLE_H_

#include <map>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/sim/controller.h"

namespace sandbox {

class NamespaceLifecycle {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  NamespaceLifecycle(Backend& backend, EventLoop& loop);

 private:
  // What is left in a namespace.
  struct Remains {
    std::map<std::string, int> by_resource;  // By names such as "pods.".
    std::map<std::string, int> by_finalizer;
    absl::Status refusal;  // The first refusal of a deletion.
  };

  void OnEvent(const Event& event);
  absl::Status Reconcile(const std::string& ns);
  Remains Empty(const std::string& ns);
  void EmptyOf(const kube::Resource& resource, const std::string& ns, Remains& remains);
  absl::Status Finish(const kube::Object& ns);
  absl::Status Report(const kube::Object& ns, const Remains& remains);

  Backend& backend_;
  absl::Mutex mu_;
  std::set<std::string> terminating_ ABSL_GUARDED_BY(mu_);
  Controller controller_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_NAMESPACE_LIFECYCLE_H_
