// Creates objects again that somebody has deleted in a member.
#ifndef CONTROLLERS_WORK_STATUS_RECREATION_H_
#define CONTROLLERS_WORK_STATUS_RECREATION_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"
#include "controllers/work_status/deps.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// The Works that wait for `made`, an object that has just been seen in the cluster for the first
// time, are applied again if it is a namespace: they have failed until now, and may not be due for
// many minutes.
void FollowNamespace(const WorkStatusDeps& deps, const std::string& cluster,
                     const kube::Object& made);

// Thread-safe. Requests name an object in a member by cluster, gvk and key.
class Recreation {
 public:
  // REQUIRES: everything in `deps`, and `recorder`, outlive this object.
  Recreation(const WorkStatusDeps& deps, kube::EventRecorder& recorder)
      : deps_(deps), recorder_(recorder) {}

  // Creates the object if a Work still has it. An error is to be repeated, also when nothing else
  // queues the object, as long as HasOrphan() says so.
  absl::Status Run(const kube::Request& request, const base::StopToken& stop);
  // Returns whether an object has been made for a Work that had ended by then, and has not been
  // taken back yet.
  bool HasOrphan(const kube::Request& request);
  void ForgetCluster(absl::string_view cluster);

 private:
  // What a pass has made, or put its label back on, for a Work that had ended by then.
  struct Orphan {
    kube::Object manifest;
    bool preserve;  // The object is released, not deleted.
  };
  absl::Status RecreateManifest(const kube::Request& request, const kube::Object& work,
                                const kube::Object& manifest, const base::StopToken& stop);
  // Takes back the request's orphan, if there is one; it is kept until that has succeeded, so that
  // the request is to be repeated after an error.
  absl::Status EndOrphan(const kube::Request& request, const base::StopToken& stop);
  void KeepOrphan(const kube::Request& request, Orphan orphan);
  std::optional<Orphan> OrphanOf(const kube::Request& request);
  void ForgetOrphan(const kube::Request& request);
  // Reports it as an event on the template.
  void Report(const kube::Object& manifest, const std::string& cluster,
              const absl::Status& created);

  const WorkStatusDeps& deps_;
  kube::EventRecorder& recorder_;
  absl::Mutex mu_;
  absl::flat_hash_map<kube::Request, Orphan> orphans_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_WORK_STATUS_RECREATION_H_
