#include "cmd/lens/files.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "api/resources.h"
#include "base/status.h"
#include "cmd/lens/flags.h"
#include "config/release.h"
#include "detector/template_filter.h"
#include "tool/documents.h"
#include "tool/flags.h"

namespace cmd::lens {
namespace {

namespace plan = ::lens::plan;

constexpr int kUsualClusters = 3;
constexpr int kMostClusters = 1000;

bool HasClusters(const std::vector<plan::InputObject>& objects) {
  return std::any_of(objects.begin(), objects.end(), [](const plan::InputObject& read) {
    return read.object.gvk() == api::Clusters().gvk;
  });
}

absl::StatusOr<config::Options> DaemonOf(const FileOptions& options) {
  config::Options daemon = options.daemon;
  for (const std::string& gates : options.feature_gates) {
    RETURN_IF_ERROR(daemon.gates.Set(gates));
  }
  RETURN_IF_ERROR(detector::TemplateFilter::Create(daemon.skipped_propagating_apis,
                                                   daemon.skipped_propagating_namespaces)
                      .status());
  return daemon;
}

}  // namespace

CLI::Option* AddFileFlags(CLI::App& app, FileOptions& options) {
  CLI::Option* files =
      tool::AddRepeatable(app, "-f,--filename", options.files,
                          "manifests, policies and Clusters: a file, a directory, or - for "
                          "standard input; may be repeated")
          ->required()
          ->type_name("FILE");
  app.add_flag("-R,--recursive", options.recursive, "read directories below directories, too");
  app.add_option("--clusters", options.clusters,
                 "how many clusters to invent, member1 and so on; 3 when the files define none")
      ->check(CLI::Range(0, kMostClusters))
      ->type_name("N");
  app.add_option("--crds", options.crds,
                 "directory of Karmada's definitions (*.yaml; default: those that came with the "
                 "program)")
      ->type_name("DIRECTORY");
  config::AddReleaseFlag(
      app, options.daemon.wanted_release,
      "release of Karmada of the control plane; without it that of the live one, "
      "or of the definitions, which is v1.18 for those that came with the "
      "program");
  AddSkipFlags(app, options.daemon.skipped_propagating_apis,
               options.daemon.skipped_propagating_namespaces);
  tool::AddRepeatable(app, "--feature-gates", options.feature_gates,
                      "this flag of karmada-controller-manager, if it is set there")
      ->type_name("NAME=BOOL,...");
  return files;
}

absl::StatusOr<plan::PlanRequest> ReadFiles(const FileOptions& options, tool::Console& console) {
  plan::PlanRequest request;
  ASSIGN_OR_RETURN(request.daemon, DaemonOf(options));
  for (const config::Warning& warning : request.daemon.gates.Warnings()) {
    console.err << console.err_colours.Yellow("warning:") << " " << warning.text << "\n";
  }
  tool::DocumentReader reader(console.in);
  ASSIGN_OR_RETURN(std::vector<tool::Document> files,
                   reader.DocumentsOf(options.files, options.recursive));
  ASSIGN_OR_RETURN(std::vector<tool::Document> base,
                   reader.DocumentsOf(options.base, options.recursive));
  ASSIGN_OR_RETURN(request.objects, plan::ObjectsOf(std::move(files)));
  ASSIGN_OR_RETURN(request.base, plan::ObjectsOf(std::move(base)));
  const bool has_files = !options.files.empty() || !options.base.empty();
  if (has_files && request.objects.empty() && request.base.empty()) {
    return absl::NotFoundError("the files contain no objects");
  }
  request.crds = options.crds;
  request.clusters = options.clusters;
  const bool has_clusters = HasClusters(request.objects) || HasClusters(request.base);
  if (request.clusters == 0 && !has_clusters) request.clusters = kUsualClusters;
  return request;
}

}  // namespace cmd::lens
