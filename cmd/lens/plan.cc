#include "cmd/lens/plan.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "api/resources.h"
#include "base/status.h"
#include "cmd/lens/flags.h"
#include "lens/plan/plan.h"
#include "lens/plan/report.h"
#include "tool/documents.h"
#include "tool/flags.h"

namespace cmd::lens {
namespace {

namespace plan = ::lens::plan;

constexpr int kUsualClusters = 3;
constexpr int kMostClusters = 1000;

constexpr char kExamples[] = R"(Examples:
  %prog% plan -f deploy/                      # on three clusters, member1 to member3
  %prog% plan -f deploy/ -f clusters.yaml     # on the Clusters that the files define
  %prog% plan -f deploy/ --base main/deploy/  # what a branch changes
  %prog% plan -f deploy/ -o json | jq .summary

The exit code is 0 when every cluster keeps what it has, 2 when one gets something else, 1 for an
error.)";

struct PlanOptions {
  std::vector<std::string> files, base;
  bool recursive = false;
  int clusters = 0;
  bool full = false;
  Output output = Output::kText;
};

bool HasClusters(const std::vector<plan::InputObject>& objects) {
  return std::any_of(objects.begin(), objects.end(), [](const plan::InputObject& read) {
    return read.object.gvk() == api::Clusters().gvk;
  });
}

absl::StatusOr<plan::PlanRequest> RequestOf(const PlanOptions& options, tool::Console& console) {
  plan::PlanRequest request;
  tool::DocumentReader reader(console.in);
  ASSIGN_OR_RETURN(std::vector<tool::Document> files,
                   reader.DocumentsOf(options.files, options.recursive));
  ASSIGN_OR_RETURN(std::vector<tool::Document> base,
                   reader.DocumentsOf(options.base, options.recursive));
  ASSIGN_OR_RETURN(request.objects, plan::ObjectsOf(std::move(files)));
  ASSIGN_OR_RETURN(request.base, plan::ObjectsOf(std::move(base)));
  if (request.objects.empty() && request.base.empty()) {
    return absl::NotFoundError("the files contain no objects");
  }
  request.clusters = options.clusters;
  const bool has_clusters = HasClusters(request.objects) || HasClusters(request.base);
  if (request.clusters == 0 && !has_clusters) request.clusters = kUsualClusters;
  return request;
}

absl::StatusOr<tool::ExitCode> RunPlan(const PlanOptions& options, tool::Console& console) {
  ASSIGN_OR_RETURN(const plan::PlanRequest request, RequestOf(options, console));
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
  tool::AddRepeatable(app, "-f,--filename", options->files,
                      "manifests, policies and Clusters: a file, a directory, or - for standard "
                      "input; may be repeated")
      ->required();
  tool::AddRepeatable(app, "--base", options->base,
                      "what is there now, in the same forms; without it nothing is");
  app.add_flag("-R,--recursive", options->recursive, "read directories below directories, too");
  app.add_option("--clusters", options->clusters,
                 "how many clusters to invent, member1 and so on; 3 when the files define none")
      ->check(CLI::Range(0, kMostClusters))
      ->type_name("N");
  app.add_flag("--full", options->full, "show whole manifests, and what does not change");
  AddOutputFlag(app, options->output);
  line.OnRun(app, [options](tool::Console& console) { return RunPlan(*options, console); });
}

}  // namespace cmd::lens
