// Allocates cluster IPs and node ports for Services, as the allocators of kube-apiserver do.
// Thread-safe.
#ifndef SANDBOX_WRITE_SERVICE_ADDRESSES_H_
#define SANDBOX_WRITE_SERVICE_ADDRESSES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {

class ServiceAddresses {
 public:
  // Completes spec.clusterIP(s) and nodePorts. Values of `old_object` (may be empty) are kept.
  void Fill(const kube::Object& old_object, kube::Object& service);

  // Reports the cluster IP and the node ports of `service` that one of the stored Services has.
  // Those of `old_object` (may be empty) are its own, and so are those that its stored version has
  // by now. Like a kube-apiserver's, the check of a create does not look at names: a Service that
  // is created once more is refused for its own ports. `stored` is called only if there is
  // something to look for. Call it before Fill.
  using Services = std::vector<kube::ObjectPtr>;
  static void CheckFree(const kube::Object& old_object, const kube::Object& service,
                        const std::function<Services()>& stored, FieldErrors& errors);

 private:
  absl::Mutex mu_;
  uint32_t next_ip_ ABSL_GUARDED_BY(mu_) = 0;
  int next_port_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace sandbox

#endif  // SANDBOX_WRITE_SERVICE_ADDRESSES_H_
