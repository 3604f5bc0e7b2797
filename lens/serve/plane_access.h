// How the control plane is reached: what the kubeconfig says now.
#ifndef LENS_SERVE_PLANE_ACCESS_H_
#define LENS_SERVE_PLANE_ACCESS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "lens/serve/access.h"
#include "lens/serve/viewer.h"

namespace lens::serve {

// Thread-safe.
class PlaneAccess {
 public:
  using LoadFn = std::function<absl::StatusOr<kube::ConnectionConfig>()>;

  // `load` reads the kubeconfig again; nullptr when nothing is to be read. Fails when the
  // configuration cannot be used.
  static absl::StatusOr<std::unique_ptr<PlaneAccess>> Create(Mode mode,
                                                             kube::ConnectionConfig first,
                                                             LoadFn load);

  kube::ConnectionConfig connection() const;
  // Returns the viewer with the rights of the kubeconfig; nullptr unless the mode is kLocal.
  ViewerPtr local() const;

  // Reads the kubeconfig again, and returns whether the control plane is reached in another way
  // from now on. What cannot be used changes nothing, and About() says it. May block.
  bool Reload();

  // Says what is wrong with the credentials, and what to do. `counts` is what
  // Viewer::CheckCredentials has returned; an error that is about something else stays as it is.
  absl::Status About(const absl::Status& counts, absl::Time now) const;

 private:
  PlaneAccess(Mode mode, LoadFn load) : mode_(mode), load_(std::move(load)) {}
  absl::Status Use(kube::ConnectionConfig next);
  void SayOnce(const absl::Status& trouble);

  const Mode mode_;
  const LoadFn load_;
  mutable absl::Mutex mu_;
  kube::ConnectionConfig connection_ ABSL_GUARDED_BY(mu_);
  ViewerPtr local_ ABSL_GUARDED_BY(mu_);
  int version_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status trouble_ ABSL_GUARDED_BY(mu_);  // Why the kubeconfig was not used the last time.
};

}  // namespace lens::serve

#endif  // LENS_SERVE_PLANE_ACCESS_H_
