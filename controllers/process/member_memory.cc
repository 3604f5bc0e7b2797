#include "controllers/process/member_memory.h"

#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "api/resources.h"

namespace controllers {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

}  // namespace

void ReportMemberBytes(const std::string& cluster, int64_t bytes,
                       kube::ClusterClient& control_plane, kube::EventSink& events) {
  const kube::ObjectPtr object = control_plane.Find(api::Clusters(), {"", cluster});
  if (object == nullptr) return;
  events.Record(api::kMemberController, kube::InvolvedObject::Of(*object),
                kube::EventType::kWarning, api::reason::kClusterMemoryExceeded,
                absl::StrCat("What is kept of the objects of cluster(", cluster,
                             ") would take more than ", bytes / kMebibyte,
                             " MiB of memory, so some are left out. Find out what fills the "
                             "cluster, or raise --cluster-memory-mib."));
}

void CountMemberBytes(const std::string& cluster, metrics::Registry& registry) {
  registry
      .GetCounter("karmada_cluster_memory_exceeded_total",
                  "Number of times that objects of the cluster were left out for want of memory.",
                  {{"member_cluster", cluster}})
      .Increment();
}

}  // namespace controllers
