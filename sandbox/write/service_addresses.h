// Hands out cluster IPs and node ports to Services, as the allocators of kube-apiserver.
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
  // Completes spec.clusterIP(s) and nodePorts. `old_object` (may be empty) keeps what it has.
  void Fill(const kube::Object& old_object, kube::Object& service);

 private:
  absl::Mutex mu_;
  uint32_t next_ip_ ABSL_GUARDED_BY(mu_) = 0;
  int next_port_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace sandbox

#endif  // SANDBOX_WRITE_SERVICE_ADDRESSES_H_
