#include "cmd/lens/plan.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "cmd/lens/files.h"
#include "cmd/lens/flags.h"
#include "lens/plan/plan.h"
#include "lens/plan/report.h"
#include "tool/flags.h"

namespace cmd::lens {
namespace {

namespace plan = ::lens::plan;

constexpr char kExamples[] = R"(Examples:
  %prog% plan -f deploy/                      # on three clusters, member1 to member3
  %prog% plan -f deploy/ -f clusters.yaml     # on the Clusters that the files define
  %prog% plan -f deploy/ --base main/deploy/  # what a branch changes
  %prog% plan -f deploy/ -o json | jq .summary

The exit code is 0 when every cluster keeps what it has, 2 when one gets something else, 1 for an
error.)";

struct PlanOptions {
  FileOptions files;
  bool full = false;
  Output output = Output::kText;
};

absl::StatusOr<tool::ExitCode> RunPlan(const PlanOptions& options, tool::Console& console) {
  ASSIGN_OR_RETURN(const plan::PlanRequest request, ReadFiles(options.files, console));
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

}  // namespace

void AddPlan(tool::CommandLine& line) {
  CLI::App& app = line.Add("plan", "Print what each cluster would get of manifests", kExamples);
  auto options = std::make_shared<PlanOptions>();
  AddFileFlags(app, options->files);
  tool::AddRepeatable(app, "--base", options->files.base,
                      "what is there now, in the same forms; without it nothing is");
  app.add_flag("--full", options->full, "show whole manifests, and what does not change");
  AddOutputFlag(app, options->output);
  line.OnRun(app, [options](tool::Console& console) { return RunPlan(*options, console); });
}

}  // namespace cmd::lens
