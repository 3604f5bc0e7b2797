// Finds out how the daemon is started (a Deployment on the host cluster, a file, or nothing),
// checks its flags, reads what the control plane uses, and judges each fact. A Deployment that may
// not be read makes a row of the grade "unknown" and the report goes on; one that does not exist is
// an error, because the user has probably named the wrong one. The worst grade is the verdict and
// the exit code. Nothing is written to either cluster.

#include "cmd/lens/preflight.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "cmd/lens/flags.h"
#include "cmd/lens/preflight_text.h"
#include "config/feature_gates.h"
#include "config/release.h"
#include "config/served/served_release.h"
#include "kube/client/errors.h"
#include "kube/meta/selector.h"
#include "lens/preflight/arguments.h"
#include "lens/preflight/arguments_check.h"
#include "lens/preflight/facts_reader.h"
#include "lens/preflight/judgement.h"
#include "lens/preflight/report.h"
#include "tool/documents.h"
#include "tool/live_objects.h"

namespace cmd::lens {
namespace {

namespace preflight = ::lens::preflight;

constexpr char kExamples[] = R"(Examples:
  %prog% preflight --kubeconfig karmada.config --host-kubeconfig host.config
  %prog% preflight --args-file deployment.yaml        # of karmada-controller-manager
  %prog% preflight --args-file - -o json < args.txt | jq -r .verdict)";

struct PreflightOptions {
  tool::LiveOptions plane{.program = "karmada-lens"};
  tool::LiveOptions host{
      .program = "karmada-lens", .ns = api::kSystemNamespace, .flag = "--host-kubeconfig"};
  std::string deployment = api::kControllerManager;
  std::string args_file;
  std::optional<config::Release> release;
  Output output = Output::kText;
};

// The running daemon's arguments, or the row that says why they could not be determined.
struct DaemonArguments {
  preflight::Arguments arguments;
  bool were_read = false;
  std::vector<preflight::Row> rows;
};

absl::StatusOr<DaemonArguments> ReadDeployment(const PreflightOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<tool::LiveConnection> host, tool::Connect(options.host));
  DaemonArguments daemon;
  const kube::ObjectKey key{options.host.ns, options.deployment};
  const auto deployment = host->client.Get(api::Deployments(), key, base::StopToken());
  // A name without a Deployment is the user's mistake; one that may not be read is a finding.
  if (kube::IsGone(deployment.status())) {
    return base::Annotate(
        absl::NotFoundError(absl::StrCat(deployment.status().message(),
                                         ": name it with --namespace and --deployment; the chart's "
                                         "is called RELEASE-controller-manager")),
        "host cluster ", host->client.name());
  }
  if (!deployment.ok()) {
    daemon.rows.push_back({.part = preflight::Part::kDeployment,
                           .name = absl::StrCat("Deployment ", key.ToString()),
                           .grade = preflight::Grade::kUnknown,
                           .note = std::string(deployment.status().message())});
    return daemon;
  }
  ASSIGN_OR_RETURN(daemon.arguments, preflight::ArgumentsOf(*deployment));
  daemon.were_read = true;
  return daemon;
}

// Without a host cluster and a file the flags are unknown, and only the control plane is judged.
absl::StatusOr<DaemonArguments> ReadArguments(const PreflightOptions& options,
                                              tool::Console& console) {
  DaemonArguments daemon;
  if (!options.host.kubeconfig.empty()) return ReadDeployment(options);
  if (options.args_file.empty()) return daemon;
  tool::DocumentReader files(console.in);
  const auto text = files.Text(options.args_file);
  if (!text.ok()) return base::Annotate(text.status(), "--args-file");
  ASSIGN_OR_RETURN(daemon.arguments, preflight::ArgumentsOfText(options.args_file, *text));
  daemon.were_read = true;
  return daemon;
}

void Append(std::vector<preflight::Row> more, std::vector<preflight::Row>& rows) {
  for (preflight::Row& row : more) rows.push_back(std::move(row));
}

// Adds what is to say of the daemon's arguments, as the program would behave that has the report's
// release.
absl::Status AddArgumentRows(const preflight::Arguments& arguments, preflight::Report& report,
                             interpreter::customized::MergeOptions& merge) {
  ASSIGN_OR_RETURN(preflight::CheckedArguments checked,
                   preflight::CheckArguments(arguments, report.release));
  report.arguments = arguments.source;
  report.release = checked.options.release;
  // How customizations are merged depends on a feature gate of the daemon, so its flags are read
  // before the facts are judged.
  merge.combined = checked.options.gates.Enabled(config::Gate::kCombinedCustomizations);
  Append(std::move(checked.rows), report.rows);
  Append(preflight::ControllerRows(checked.options), report.rows);
  return absl::OkStatus();
}

absl::StatusOr<preflight::Report> MakeReport(const PreflightOptions& options,
                                             tool::Console& console) {
  // What the user gave is looked at before anything is waited for.
  ASSIGN_OR_RETURN(DaemonArguments daemon, ReadArguments(options, console));
  if (daemon.were_read) {
    RETURN_IF_ERROR(preflight::CheckArguments(daemon.arguments).status());
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<tool::LiveConnection> plane, tool::Connect(options.plane));
  ASSIGN_OR_RETURN(const preflight::Facts facts,
                   preflight::ReadFacts(plane->client, plane->discovery, base::StopToken()));
  preflight::Report report{.server = facts.server, .served = facts.release};
  report.rows = std::move(daemon.rows);
  report.release = options.release.value_or(facts.release.value_or(config::kOldestRelease));
  interpreter::customized::MergeOptions merge;
  if (daemon.were_read) RETURN_IF_ERROR(AddArgumentRows(daemon.arguments, report, merge));
  Append(preflight::Judge(facts, merge), report.rows);
  return report;
}

// A fact that is unknown must not look like success.
tool::ExitCode CodeFor(preflight::Grade verdict) {
  if (verdict == preflight::Grade::kLost) return tool::ExitCode::kFailed;
  return verdict == preflight::Grade::kUnknown ? tool::ExitCode::kUnusable : tool::ExitCode::kFine;
}

absl::StatusOr<tool::ExitCode> Preflight(const PreflightOptions& options, tool::Console& console) {
  ASSIGN_OR_RETURN(const preflight::Report report, MakeReport(options, console));
  if (options.output == Output::kJson) {
    console.out << tool::Formatted(preflight::ReportAsJson(report), tool::Format::kJson);
  } else {
    console.out << PreflightText(report, console.out_colours);
  }
  return CodeFor(report.Verdict());
}

std::string DnsError(const std::string& text, const absl::Status& valid) {
  return valid.ok() ? "" : absl::StrCat("\"", text, "\": ", valid.message());
}

void AddHostFlags(CLI::App& app, PreflightOptions& options) {
  CLI::Option* const host =
      app.add_option("--host-kubeconfig", options.host.kubeconfig,
                     "kubeconfig of the cluster in which karmada-controller-manager runs")
          ->type_name("FILE");
  app.add_option("--host-context", options.host.context, "context in --host-kubeconfig")
      ->needs(host)
      ->type_name("NAME");
  app.add_option("-n,--namespace", options.host.ns, "namespace of the Deployment")
      ->needs(host)
      ->check(
          [](const std::string& text) { return DnsError(text, kube::ValidateDns1123Label(text)); },
          "")
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option("--deployment", options.deployment, "Deployment of karmada-controller-manager")
      ->needs(host)
      ->check(
          [](const std::string& text) {
            return DnsError(text, kube::ValidateDns1123Subdomain(text));
          },
          "")
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option("--args-file", options.args_file,
                 "a Deployment, or a list of arguments, instead of --host-kubeconfig; - for "
                 "standard input")
      ->excludes(host)
      ->type_name("FILE");
}

}  // namespace

void AddPreflight(tool::CommandLine& line) {
  CLI::App& app = line.Add(
      "preflight", "Say what a control plane uses, and what of it is different here", kExamples);
  auto options = std::make_shared<PreflightOptions>();
  app.add_option("--kubeconfig", options->plane.kubeconfig,
                 "kubeconfig of the Karmada control plane (default: $KUBECONFIG, ~/.kube/config)")
      ->type_name("FILE");
  app.add_option("--context", options->plane.context, "context in the kubeconfig")
      ->type_name("NAME");
  AddHostFlags(app, *options);
  config::AddReleaseFlag(app, options->release,
                         "release of Karmada as which this program would behave, unless the "
                         "arguments say it; without it that of the control plane");
  AddOutputFlag(app, options->output);
  line.OnRun(app, [options](tool::Console& console) { return Preflight(*options, console); });
}

}  // namespace cmd::lens
