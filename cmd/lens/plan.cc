#include "cmd/lens/plan.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "cmd/lens/control_plane.h"
#include "cmd/lens/files.h"
#include "cmd/lens/flags.h"
#include "lens/plan/plan.h"
#include "lens/plan/report.h"
#include "tool/flags.h"
#include "tool/live_objects.h"

namespace cmd::lens {
namespace {

namespace plan = ::lens::plan;

constexpr char kExamples[] = R"(Examples:
  %prog% plan -f deploy/                      # on three clusters, member1 to member3
  %prog% plan -f deploy/ -f clusters.yaml     # on the Clusters that the files define
  %prog% plan -f deploy/ --base main/deploy/  # what a branch changes
  %prog% plan -f deploy/ --live               # what kubectl apply -f deploy/ would change
  %prog% plan -f deploy/ -o json | jq .summary

The exit code is 0 when every cluster keeps what it has, 2 when one gets something else, 1 for an
error.)";

struct PlanOptions {
  FileOptions files;
  tool::LiveOptions live{.program = "karmada-lens"};
  bool is_live = false;
  bool full = false;
  Output output = Output::kText;
};

bool IsLive(const PlanOptions& options) {
  return options.is_live || !options.live.kubeconfig.empty() || !options.live.context.empty();
}

absl::StatusOr<tool::ExitCode> RunPlan(const PlanOptions& options, tool::Console& console) {
  ASSIGN_OR_RETURN(plan::PlanRequest request, ReadFiles(options.files, console));
  std::unique_ptr<tool::LiveConnection> connection;
  std::unique_ptr<plan::LiveReader> reader;
  if (IsLive(options)) {
    tool::ShowProgress(console, "connecting");
    ASSIGN_OR_RETURN(connection, ConnectToControlPlane(options.live));
    reader = std::make_unique<plan::LiveReader>(connection->client, connection->discovery);
    request.live = reader.get();
  }
  tool::ShowProgress(console, "simulating");
  const absl::StatusOr<plan::Plan> made = plan::MakePlan(request, {});
  tool::ShowProgress(console, "");
  if (!made.ok()) return made.status();
  if (options.output == Output::kJson) {
    console.out << tool::Formatted(plan::JsonOf(*made), tool::Format::kJson);
  } else {
    console.err << plan::WarningsOf(*made, console.err_colours);
    console.out << plan::TextOf(*made, {console.out_colours, options.full});
  }
  return made->Count().any() ? tool::ExitCode::kFailed : tool::ExitCode::kFine;
}

void AddPlaneFlags(CLI::App& app, PlanOptions& options) {
  app.add_flag("--live", options.is_live,
               "compare with the control plane of $KUBECONFIG or ~/.kube/config, and take over its "
               "clusters, policies and bindings")
      ->excludes("--base")
      ->excludes("--clusters");
  app.add_option("--kubeconfig", options.live.kubeconfig, "as --live, by this kubeconfig")
      ->excludes("--base")
      ->excludes("--clusters")
      ->type_name("FILE");
  app.add_option("--context", options.live.context, "as --live, in this context of the kubeconfig")
      ->excludes("--base")
      ->excludes("--clusters")
      ->type_name("NAME");
}

}  // namespace

void AddPlan(tool::CommandLine& line) {
  CLI::App& app = line.Add("plan", "Print what each cluster would get of manifests", kExamples);
  auto options = std::make_shared<PlanOptions>();
  AddFileFlags(app, options->files);
  tool::AddRepeatable(app, "--base", options->files.base,
                      "what is there now, in the same forms; without it nothing is")
      ->type_name("FILE");
  AddPlaneFlags(app, *options);
  app.add_flag("--full", options->full, "show whole manifests, and what does not change");
  AddOutputFlag(app, options->output);
  line.OnRun(app, [options](tool::Console& console) { return RunPlan(*options, console); });
}

}  // namespace cmd::lens
