// Follow does not wait: it asks agents to end that have to, drops those that have ended, and starts
// those that are missing. An agent that ends keeps its place until it has ended, so that a cluster
// never has two agents of this process; what changes meanwhile is seen by the next call. Nothing is
// lost by an end: an agent finds what it has to do in the control plane and in its cluster. One
// that is stuck keeps its place for ever, and is not destroyed, because its threads may still use
// it.

#include "cmd/agent/fleet.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "cmd/agent/metrics_page.h"
#include "controllers/process/loop_parts.h"
#include "interpreter/customized/shipped.h"
#include "kube/cache/informer.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/runtime/worker_pool.h"

namespace cmd {
namespace {

config::AgentOptions OptionsOfAgents(config::AgentOptions options, bool has_fence) {
  options.loops.health_probe_bind_address = "0";
  options.loops.metrics_bind_address = "0";
  options.loops.profiling.enabled = false;
  // What has been logged, and what nobody asks an agent for.
  options.loops.settings.clear();
  options.loops.changed_flags.clear();
  options.loops.warnings.clear();
  if (has_fence) options.loops.leader_election.enabled = false;
  // Another process takes a cluster over at once if it may watch the Lease, otherwise with its next
  // try; and this one does not wait for itself.
  options.loops.leader_election.release_on_exit = true;
  return options;
}

// Half of the memory limit is for the objects of all clusters together; the rest is for what an
// idle cluster takes as well. Without a limit, each cluster has only its own.
std::shared_ptr<base::TotalBytes> MemberBytesOfAll() {
  const std::optional<base::MemoryUse> use = base::ReadMemoryUse();
  if (!use.has_value() || use->limit <= 0) return nullptr;
  return std::make_shared<base::TotalBytes>(use->limit / 2);
}

controllers::SharedParts SharedPartsOfAgents() {
  controllers::SharedParts shared;
  shared.pool = std::make_shared<kube::WorkerPool>(base::RealClock());
  shared.informer_threads = std::make_shared<kube::InformerThreads>(base::RealClock());
  shared.member_bytes = MemberBytesOfAll();
  shared.has_memory_watch = true;
  shared.discoveries = std::make_shared<kube::DiscoveryPool>();
  shared.shipped = interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles());
  return shared;
}

}  // namespace

Fleet::Fleet(const config::AgentOptions& options, std::shared_ptr<kube::LeaderFence> fence,
             StartAgentFn start)
    : parts_(OptionsOfAgents(options, fence != nullptr), SharedPartsOfAgents(), fence,
             std::move(start)),
      memory_(base::RealClock(), registry_, kube::MemoryWatch::Options()) {
  memory_.RunOn(*parts_.shared.pool, stop_.get_token(), [this](const absl::Status& status) {
    if (!status.ok()) base::LogWarning("memory is not watched", {{"error", status}});
    absl::MutexLock lock(&mu_);
    has_memory_ended_ = true;
  });
}

Fleet::~Fleet() {
  RequestEnd();
  for (auto& [cluster, member] : members_) {
    member.agent->AwaitEnd();
    if (member.agent->IsStuck()) static_cast<void>(member.agent.release());
  }
  stop_.request_stop();
  absl::MutexLock lock(&mu_, absl::Condition(&has_memory_ended_));
}

void Fleet::Follow(const ClusterPairs& pairs) {
  ReportUnusable(pairs);
  Serve(pairs);
}

void Fleet::ReportUnusable(const ClusterPairs& pairs) {
  std::erase_if(reported_, [&pairs](const auto& one) { return !pairs.contains(one.first); });
  for (const auto& [cluster, pair] : pairs) {
    if (pair.usable.ok()) reported_.erase(cluster);
    if (!pair.usable.ok()) Report(cluster, pair.usable);
  }
}

void Fleet::Serve(const ClusterPairs& pairs) {
  absl::MutexLock lock(&mu_);
  End(pairs);
  for (const auto& [cluster, pair] : pairs) {
    if (!pair.usable.ok() || members_.contains(cluster)) continue;
    base::LogInfo("the agent of a cluster begins", {{"cluster", cluster}});
    members_[cluster].agent = std::make_unique<FleetAgent>(cluster, pair, parts_);
  }
}

void Fleet::End(const ClusterPairs& pairs) {
  for (auto it = members_.begin(); it != members_.end();) {
    const auto member = it++;
    FleetAgent& agent = *member->second.agent;
    if (agent.HasEnded()) {
      if (!agent.IsStuck()) members_.erase(member);
      continue;
    }
    const auto found = pairs.find(member->first);
    const bool stays =
        found != pairs.end() && (!found->second.usable.ok() || agent.Use(found->second));
    if (stays || std::exchange(member->second.is_ending, true)) continue;
    agent.RequestStop();
  }
}

std::set<std::string> Fleet::Serving() const {
  std::set<std::string> serving;
  absl::MutexLock lock(&mu_);
  for (const auto& [cluster, member] : members_) {
    if (!member.agent->HasEnded() || member.agent->IsStuck()) serving.insert(cluster);
  }
  return serving;
}

bool Fleet::IsStuck() const {
  absl::MutexLock lock(&mu_);
  return std::any_of(members_.begin(), members_.end(),
                     [](const auto& one) { return one.second.agent->IsStuck(); });
}

void Fleet::RequestEnd() {
  absl::MutexLock lock(&mu_);
  for (auto& [cluster, member] : members_) {
    if (!std::exchange(member.is_ending, true)) member.agent->RequestStop();
  }
}

bool Fleet::HasEnded() const {
  absl::MutexLock lock(&mu_);
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& one) { return one.second.agent->HasEnded(); });
}

std::string Fleet::Metrics() const {
  std::map<std::string, std::string> pages;
  pages[""] = registry_.Expose();
  absl::MutexLock lock(&mu_);
  for (const auto& [cluster, member] : members_) pages[cluster] = member.agent->Metrics();
  return MergedMetrics(pages);
}

void Fleet::Report(const std::string& cluster, const absl::Status& why) {
  if (reported_[cluster] == why) return;
  reported_[cluster] = why;
  base::LogWarning("the kubeconfigs of a cluster cannot be used",
                   {{"cluster", cluster}, {"error", why}});
}

}  // namespace cmd
