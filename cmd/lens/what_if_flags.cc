// Each flag may be repeated, and all changes are made at the same time. The flags of the daemon
// have its names, because no object records their values.

#include "cmd/lens/what_if_flags.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/string_view.h"
#include "base/status.h"
#include "config/flag_types.h"
#include "lens/plan/input.h"
#include "tool/documents.h"
#include "tool/flags.h"

namespace cmd::lens {
namespace {

namespace plan = ::lens::plan;

constexpr char kGroup[] = "What if";
constexpr char kThisFlag[] = "this flag of karmada-controller-manager, if it is set there";

void AddQuestion(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                 const std::string& help, const char* type) {
  tool::AddRepeatable(app, name, values, help)->type_name(type)->group(kGroup);
}

// Adds the edit that each value stands for.
template <class Parse>
absl::Status AddEdits(const std::vector<std::string>& values, absl::string_view flag, Parse parse,
                      std::vector<plan::FleetEdit>& out) {
  for (const std::string& value : values) {
    absl::StatusOr<plan::FleetEdit> edit = parse(value);
    if (!edit.ok()) return base::Annotate(edit.status(), flag);
    out.push_back(*std::move(edit));
  }
  return absl::OkStatus();
}

absl::Status AddJoining(const WhatIfOptions& options, tool::Console& console,
                        std::vector<plan::FleetEdit>& out) {
  if (options.joining.empty()) return absl::OkStatus();
  tool::DocumentReader reader(console.in);
  ASSIGN_OR_RETURN(std::vector<tool::Document> documents,
                   reader.DocumentsOf(options.joining, /*recursive=*/false));
  ASSIGN_OR_RETURN(const std::vector<plan::InputObject> objects,
                   plan::ObjectsOf(std::move(documents)));
  if (objects.empty()) return absl::NotFoundError("--with-cluster: the files contain no Cluster");
  for (const plan::InputObject& read : objects) {
    ASSIGN_OR_RETURN(plan::FleetEdit edit, plan::Joining(read.object));
    out.push_back(std::move(edit));
  }
  return absl::OkStatus();
}

}  // namespace

void AddFailoverFlags(CLI::App& app, FailoverFlags& flags) {
  app.add_flag("--enable-no-execute-taint-eviction", flags.taint_eviction.no_execute, kThisFlag)
      ->group(kGroup);
  app.add_flag("--enable-taint-manager", flags.taint_eviction.manager, kThisFlag)->group(kGroup);
  app.add_option("--no-execute-taint-eviction-purge-mode", flags.taint_eviction.purge_mode,
                 kThisFlag)
      ->check(CLI::IsMember({"Gracefully", "Directly"}))
      ->capture_default_str()
      ->type_name("MODE")
      ->group(kGroup);
  app.add_option("--resource-eviction-rate", flags.taint_eviction.rate, kThisFlag)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("RATE")
      ->group(kGroup);
  for (const auto& [name, target] : std::initializer_list<std::pair<const char*, absl::Duration*>>{
           {"--graceful-eviction-timeout", &flags.graceful_eviction_timeout},
           {"--cluster-failure-threshold", &flags.failure_threshold},
           {"--cluster-monitor-grace-period", &flags.monitor_grace_period}}) {
    config::AddDuration(app, name, *target, kThisFlag)->group(kGroup);
  }
}

void FailoverFlags::ApplyTo(config::Options& daemon) const {
  daemon.taint_eviction = taint_eviction;
  daemon.graceful_eviction_timeout = graceful_eviction_timeout;
  daemon.clusters.failure_threshold = failure_threshold;
  daemon.clusters.monitor_grace_period = monitor_grace_period;
}

bool WhatIfOptions::empty() const {
  for (const auto* values : {&without, &lost, &drained, &cordoned, &uncordoned, &taints, &labels,
                             &capacities, &joining}) {
    if (!values->empty()) return false;
  }
  return true;
}

void AddWhatIfFlags(CLI::App& app, WhatIfOptions& options) {
  AddQuestion(app, "--without", options.without,
              "what if this cluster left the fleet (karmadactl unjoin)? May be repeated, as all "
              "questions",
              "CLUSTER");
  AddQuestion(app, "--lost", options.lost, "what if this cluster did not answer any more?",
              "CLUSTER");
  AddQuestion(app, "--drain", options.drained,
              "what if this cluster had the taint drain:NoExecute?", "CLUSTER");
  AddQuestion(app, "--cordon", options.cordoned,
              "what if this cluster took nothing new (karmadactl cordon)?", "CLUSTER");
  AddQuestion(app, "--uncordon", options.uncordoned, "what if it did again?", "CLUSTER");
  AddQuestion(app, "--taint", options.taints,
              "what if this cluster had a taint, or had it no more (with a - at the end)?",
              "CLUSTER:KEY=VALUE:EFFECT");
  AddQuestion(app, "--label", options.labels,
              "what if this cluster had a label, or had it no more (CLUSTER:KEY-)?",
              "CLUSTER:KEY=VALUE");
  AddQuestion(app, "--capacity", options.capacities,
              "what if this cluster had room for so much in all, of cpu, memory, pods and so on?",
              "CLUSTER:RESOURCE=QUANTITY,...");
  AddQuestion(app, "--with-cluster", options.joining, "what if the Clusters of this file joined?",
              "FILE");
  AddFailoverFlags(app, options.failover);
}

absl::StatusOr<std::vector<plan::FleetEdit>> EditsOf(const WhatIfOptions& options,
                                                     tool::Console& console) {
  std::vector<plan::FleetEdit> edits;
  // First, as they are asked about: what else is asked may be about them.
  RETURN_IF_ERROR(AddJoining(options, console, edits));
  for (const auto& [clusters, make] : std::initializer_list<
           std::pair<const std::vector<std::string>*, plan::FleetEdit (*)(absl::string_view)>>{
           {&options.without, plan::Without},
           {&options.lost, plan::Lost},
           {&options.drained, plan::Drained},
           {&options.cordoned, plan::Cordoned},
           {&options.uncordoned, plan::Uncordoned}}) {
    for (const std::string& cluster : *clusters) edits.push_back(make(cluster));
  }
  RETURN_IF_ERROR(AddEdits(options.taints, "--taint", plan::ParseTaint, edits));
  RETURN_IF_ERROR(AddEdits(options.labels, "--label", plan::ParseLabel, edits));
  RETURN_IF_ERROR(AddEdits(options.capacities, "--capacity", plan::ParseCapacity, edits));
  return edits;
}

}  // namespace cmd::lens
