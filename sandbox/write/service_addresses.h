// Allocates cluster IPs and node ports for Services, as the allocators of kube-apiserver do.
// Thread-safe.
#ifndef SANDBOX_WRITE_SERVICE_ADDRESSES_H_
#define SANDBOX_WRITE_SERVICE_ADDRESSES_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"

namespace sandbox {

class ServiceAddresses {
 public:
  // Completes spec.clusterIP(s) and nodePorts. Values of `old_object` (may be empty) are kept.
  void Fill(const kube::Object& old_object, kube::Object& service);

 private:
  absl::Mutex mu_;
  uint32_t next_ip_ ABSL_GUARDED_BY(mu_) = 0;
  int next_port_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace sandbox

#endif  // SANDBOX_WRITE_SERVICE_ADDRESSES_H_
