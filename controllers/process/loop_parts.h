// What loops are built from and share, and what every program runs beside them: one object with the
// clients of the control plane, its informers, the manager, the members and the interpreter.
//
// A program constructs it, builds its loops from context(), adds what is its own, and calls Run.
#ifndef CONTROLLERS_PROCESS_LOOP_PARTS_H_
#define CONTROLLERS_PROCESS_LOOP_PARTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/byte_budget.h"
#include "base/metrics.h"
#include "base/stop_limit.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "controllers/context/context.h"
#include "controllers/context/member_inventory.h"
#include "controllers/context/served_clusters.h"
#include "controllers/process/plane_memory.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/live/live_interpreter.h"
#include "kube/cache/cluster_client.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/http/transport.h"
#include "kube/runtime/cluster_set.h"
#include "kube/runtime/events.h"
#include "kube/runtime/leader_fence.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/watched_kinds.h"
#include "kube/runtime/worker_pool.h"
#include "kube/shadow/shadow.h"
#include "works/edit_times.h"
#include "works/member_objects.h"
#include "works/rechecks.h"
#include "works/work_status_writer.h"

namespace controllers {

// How long a stop may take: the manager's graceful period and the destruction of objects after it.
inline constexpr absl::Duration kStopLimit = absl::Seconds(35);

// What several LoopParts of a process may share. What is nullptr, each has for itself.
struct SharedParts {
  std::shared_ptr<kube::WorkerPool> pool;  // The threads of the loops.
  // Those of lists, of which a server that does not answer holds few.
  std::shared_ptr<kube::InformerThreads> informer_threads;
  std::shared_ptr<const interpreter::customized::CustomizationSet> shipped;
  std::shared_ptr<kube::DiscoveryPool> discoveries;  // Of all servers.
  // What the objects of all members, and of the control planes of agents, may take together.
  std::shared_ptr<base::TotalBytes> member_bytes;
  // Somebody else watches the memory of the process.
  bool has_memory_watch = false;
};

// In what the programs differ.
struct LoopPartsOptions {
  std::string program;  // As in user agents: api::kControllerManager.
  // The control plane. The second transport serves only Leases, whose renewals must never wait for
  // the loops' calls.
  std::shared_ptr<kube::Transport> loops, leases;
  std::string host;  // Of its server, for messages.
  // The leader lease; "" with a shadow, which takes none.
  std::string lease_name;
  // Keeps back the writes of the transports to members when the leader lease has run out, as it
  // does those of `loops`, which it is over already; nullptr with a shadow.
  std::shared_ptr<kube::LeaderFence> fence;
  // Keeps the writes to members; nullptr without a shadow.
  std::shared_ptr<kube::Shadow> shadow;
  // Limits what is read and written in the control plane, before anybody does. Optional.
  std::function<void(kube::InformerSet&, kube::ClusterClient&)> limit;
  // Makes what says how a member is reached. REQUIRED.
  std::function<std::unique_ptr<kube::ClusterConfigSource>(kube::ClusterClient&)> members;
  // Makes the transport to a member, as ClusterSet::Options::new_transport. Optional.
  std::function<absl::StatusOr<std::shared_ptr<kube::Transport>>(const kube::ConnectionConfig&)>
      to_member;
  ServedClusters served = {};
  // For a process that shows the metrics of several such objects as one page; nullptr: its own.
  std::shared_ptr<metrics::Registry> registry;
  SharedParts shared = {};
  // Its end is that of the process, and is limited in time as such. Otherwise it shares the process
  // with others, and ends where its control plane has more objects than one member may have.
  bool ends_process = true;
  absl::Duration graceful_stop = absl::Seconds(30);  // See kube::ManagerOptions.
};

// The options of clients of the control plane, and of those that serve only Leases: a call that is
// not answered ends early enough to be repeated before the deadline of the renewal.
kube::ClientOptions ControlPlaneClient(const config::Options& options, absl::string_view program,
                                       const std::string& host);
kube::ClientOptions LeaseClient(const config::Options& options, absl::string_view program,
                                const std::string& host);

// In order of construction; each may use those above it.
class LoopParts {
 public:
  // REQUIRES: `options` outlives it.
  LoopParts(const config::Options& options, const LoopPartsOptions& wanted);
  ~LoopParts() { StopInformers(); }

  // Handlers of informers refer to the loops and to what they share: call it in the destructor of
  // what is destroyed before this.
  void StopInformers();

  // Shows and logs what this build is and as which release it behaves.
  void ShowBuild();
  // Adds to the manager what runs beside the loops in every program: the watches of memory and
  // release, and resyncs.
  void AddRunnables();
  // Waits for the interpreter's configurations; answers probes meanwhile, because the wait takes up
  // to --cluster-cache-sync-timeout, which is longer than a liveness probe allows.
  absl::Status LoadInterpreter(const base::StopToken& stop);
  // Serves profiles, if they are wanted, and runs the manager; limits the time of the end.
  absl::Status Run(const base::StopToken& stop);
  // As Manager::Begin and End, without profiles and without a limit.
  absl::Status Begin(std::function<void()> on_failure);
  absl::Status End() { return manager_.End(); }

  const Context& context() const { return context_; }
  metrics::Registry& registry() { return *registry_; }
  kube::Client& client() { return client_; }
  kube::Client& lease_client() { return lease_client_; }
  kube::InformerSet& informers() { return informers_; }
  kube::WatchedKinds& kinds() { return kinds_; }
  kube::Manager& manager() { return manager_; }
  kube::ClusterSet& members() { return members_; }

 private:
  // Returns the client of the control plane, limited.
  kube::ClusterClient& Limited(const LoopPartsOptions& wanted);
  void ReportFull(const std::string& cluster);

  const config::Options& options_;
  const std::shared_ptr<kube::LeaderFence> fence_;
  const bool ends_process_;
  const bool has_memory_watch_;  // Of its own.
  const std::shared_ptr<metrics::Registry> registry_;
  const std::shared_ptr<kube::WorkerPool> pool_;
  const int64_t member_bytes_;
  const std::unique_ptr<PlaneMemory> plane_memory_;  // nullptr where it is not bounded.
  kube::Client client_;
  kube::Client lease_client_;
  kube::RestMapper mapper_;
  const std::shared_ptr<kube::InformerThreads> informer_threads_;
  kube::InformerSet informers_;
  kube::ClusterClient cluster_;
  std::unique_ptr<kube::EventSink> events_;
  kube::WatchedKinds kinds_;
  kube::Manager manager_;
  std::unique_ptr<kube::ClusterConfigSource> config_source_;
  kube::ClusterSet members_;
  interpreter::live::LiveInterpreter live_;
  MemberInventory inventory_;
  works::MemberObjects objects_;
  works::WorkStatusWriter status_writer_;
  works::Rechecks rechecks_;
  works::EditTimes edit_times_;
  const Context context_;
};

// Runs a program that has such parts, destroys it, and limits the time of that unless the process
// goes on afterwards. Threads that outlived the graceful period (kDeadlineExceeded) still use the
// parts, and waiting for them would exceed the period further: then nothing is destroyed, and the
// process has to end at some time.
template <class Program>
absl::Status RunToTheEnd(std::unique_ptr<Program> program,
                         absl::FunctionRef<absl::Status(Program&)> run, bool ends_process = true) {
  const absl::Status result = run(*program);
  if (ends_process) base::EndProcessAfter(kStopLimit, 1);  // Also if it could not begin.
  if (absl::IsDeadlineExceeded(result)) static_cast<void>(program.release());
  return result;
}

}  // namespace controllers

#endif  // CONTROLLERS_PROCESS_LOOP_PARTS_H_
