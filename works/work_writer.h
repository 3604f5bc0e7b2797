// Writes Works for the loops that make them, such as the binding and the namespace controllers.
//
// A producer describes the Work it wants (WantedWork); the writer finishes the manifest (labels,
// annotations, pruning), creates the Work or patches the difference into the existing one.
#ifndef WORKS_WORK_WRITER_H_
#define WORKS_WORK_WRITER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/keys.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace works {

struct WantedWork {
  kube::ObjectKey key;      // In the cluster's execution namespace.
  kube::Object manifest;    // The template as this cluster shall get it; its uid is the template's.
  json::Value labels;       // The labels of the Work itself.
  json::Value annotations;  // The annotations of the Work itself.
  json::Value owner_references;  // Array or null; used on creation only.
  // Absent leaves the field out, as for Works of namespaces.
  std::optional<bool> suspend_dispatching;
  std::optional<bool> preserve_resources_on_deletion;
  // Those that the Work gets besides the ones it has. The default is for Works that are put into
  // their cluster.
  std::vector<std::string> finalizers = {api::kExecutionFinalizer};
  // The manifest is the one that the existing Work has: it is finished already.
  bool is_finished = false;
  // Several loops write the Work, each of them with regard to what the others have written: every
  // update carries the Work's version. Call CreateOrUpdate with the Work that this is made from.
  bool is_shared = false;
};

// Returns the Work to create.
kube::Object NewWork(const WantedWork& wanted);

// Returns `existing` with the labels and annotations of `wanted` merged in, finalizers united and
// the spec replaced (upstream's ctrlutil.CreateOrUpdateWork). Labels and annotations are never
// removed, owner references never touched.
kube::Object MergedWork(const WantedWork& wanted, const kube::Object& existing);

// Creates the Work or updates what differs.
// kFailedPrecondition "work <ns>/<n> is being deleted", with its finalizers, while the old Work is
// being deleted; kAborted on a conflict. What no server would take (a name or annotations that are
// too long) is not sent, and is a terminal error. Thread-safe.
class WorkWriter {
 public:
  explicit WorkWriter(kube::ClusterClient& control_plane) : client_(control_plane) {}
  struct Result {
    bool written = false;
  };
  absl::StatusOr<Result> CreateOrUpdate(const WantedWork& wanted, const base::StopToken& stop);
  // `existing` is the Work as the caller has seen it, nullptr if there was none.
  absl::StatusOr<Result> CreateOrUpdate(const WantedWork& wanted, const kube::ObjectPtr& existing,
                                        const base::StopToken& stop);

 private:
  kube::ClusterClient& client_;
};

}  // namespace works

#endif  // WORKS_WORK_WRITER_H_
