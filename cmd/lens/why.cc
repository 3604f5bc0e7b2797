// About one template: reads the chain from it to its objects in the members (lens/why), diagnoses
// where it ends, and prints one sentence, an advice and the chain. About all templates: reads lists
// (lens/fleet), and prints those that are not fine. The exit code says whether all that was asked
// about has arrived. What could not be read is warned of, since the diagnosis may be wrong without
// it. Nothing is written.

#include "cmd/lens/why.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "cmd/lens/control_plane.h"
#include "cmd/lens/flags.h"
#include "cmd/lens/fleet.h"
#include "cmd/lens/tree.h"
#include "detector/template_filter.h"
#include "kube/meta/selector.h"
#include "lens/fleet/reader.h"
#include "lens/why/chain_reader.h"
#include "lens/why/diagnosis.h"
#include "lens/why/report.h"
#include "tool/live_objects.h"

namespace cmd::lens {
namespace {

constexpr char kExamples[] = R"(Examples:
  %prog% why deployment/web -n shop
  %prog% why deploy/web -n shop --cluster member1   # only what concerns this cluster
  %prog% why deploy/web -n shop -o json | jq -r .headline
  %prog% why -A                                     # all templates that are not fine
  %prog% why -n shop --policy web -w                # those of a namespace and policy; goes on)";

struct WhyOptions {
  std::vector<std::string> reference;  // TYPE/NAME, or TYPE and NAME.
  ::lens::why::Question question;
  Output output = Output::kText;
  FleetOptions fleet;
  tool::LiveOptions live{.program = "karmada-lens"};
};

constexpr absl::Duration kWatchPause = absl::Seconds(10);  // Between two readings of everything.

constexpr size_t kNotesShown = 3;

// Prints what stops nothing and can be mended, after the first line that says that nothing is
// wrong.
void PrintNotes(const ::lens::why::Diagnosis& diagnosis, tool::Console& console) {
  if (!diagnosis.arrived || diagnosis.cause != nullptr) return;
  size_t shown = 0;
  for (const ::lens::why::Finding& finding : diagnosis.findings) {
    if (finding.advice.empty() || ++shown > kNotesShown) continue;
    console.out << "Note: " << ::lens::why::AsSentence(tool::OneLine(finding.cause)) << "\n";
  }
}

void Print(const ::lens::why::Chain& chain, const ::lens::why::Diagnosis& diagnosis,
           tool::Console& console) {
  console.out << console.out_colours.Bold(
                     ::lens::why::AsSentence(tool::OneLine(diagnosis.headline)))
              << "\n";
  if (!diagnosis.advice.empty()) {
    console.out << "What to do: " << ::lens::why::AsSentence(tool::OneLine(diagnosis.advice))
                << "\n";
  }
  PrintNotes(diagnosis, console);
  console.out << "\n" << TreeText(::lens::why::WayOf(chain, diagnosis), console.out_colours);
  for (const std::string& unread : chain.UnreadWithMembers()) {
    console.err << console.err_colours.Yellow("warning:") << " not read: " << tool::OneLine(unread)
                << "\n";
  }
}

// Returns the question with the flags by which the control plane was named.
::lens::why::Question WithFlags(const WhyOptions& options) {
  ::lens::why::Question question = options.question;
  if (!options.live.kubeconfig.empty()) {
    absl::StrAppend(&question.flags, " --kubeconfig ", options.live.kubeconfig);
  }
  if (!options.live.context.empty()) {
    absl::StrAppend(&question.flags, " --context ", options.live.context);
  }
  return question;
}

absl::StatusOr<::lens::why::Chain> Read(const WhyOptions& options,
                                        const tool::LiveReference& reference) {
  ASSIGN_OR_RETURN(const std::unique_ptr<tool::LiveConnection> live,
                   ConnectToControlPlane(options.live));
  ASSIGN_OR_RETURN(const kube::Resource resource,
                   tool::FindResource(live->discovery, reference.type));
  ::lens::why::Question question = WithFlags(options);
  question.gvk = resource.gvk;
  question.key = {resource.namespaced ? live->ns : "", reference.name};
  return ::lens::why::ReadChain({live->client, live->discovery, live->config}, std::move(question),
                                base::StopToken());
}

// Returns an error for flags that do not go together.
absl::Status CheckFleetFlags(const WhyOptions& options) {
  const FleetOptions& fleet = options.fleet;
  const bool is_about_one = !options.reference.empty();
  for (const auto& [flag, given] :
       std::vector<std::pair<const char*, bool>>{{"--all-namespaces", fleet.all_namespaces},
                                                 {"--policy", !fleet.scope.policy.empty()},
                                                 {"--full", fleet.full},
                                                 {"--watch", fleet.watch}}) {
    if (!is_about_one || !given) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " is about all templates: leave TYPE/NAME out"));
  }
  if (fleet.all_namespaces && !options.live.ns.empty()) {
    return absl::InvalidArgumentError(
        "--all-namespaces and --namespace do not go together: leave one of them out");
  }
  const bool says_which = fleet.all_namespaces || !options.live.ns.empty() ||
                          !options.question.cluster.empty() || !fleet.scope.policy.empty();
  if (is_about_one || says_which) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "give TYPE/NAME for one template, or -A, -n NAMESPACE, --cluster NAME or --policy NAME for "
      "all that are not fine");
}

absl::StatusOr<tool::ExitCode> WhyAll(const WhyOptions& options, tool::Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<tool::LiveConnection> live,
                   ConnectToControlPlane(options.live));
  FleetOptions fleet = options.fleet;
  fleet.scope.ns = options.live.ns;
  fleet.scope.cluster = options.question.cluster;
  const ::lens::why::Question flags = WithFlags(options);
  const auto read = [&] {
    return ::lens::fleet::ReadFleet(live->client, live->discovery, fleet.scope, flags, {});
  };
  return ShowFleet(fleet, options.output, read, kWatchPause, {}, console);
}

absl::StatusOr<tool::ExitCode> Why(const WhyOptions& options, tool::Console& console) {
  RETURN_IF_ERROR(CheckFleetFlags(options));
  if (options.reference.empty()) {
    RETURN_IF_ERROR(detector::TemplateFilter::Create(options.question.skipped_apis,
                                                     options.question.skipped_namespaces)
                        .status());
    return WhyAll(options, console);
  }
  ASSIGN_OR_RETURN(const tool::LiveReference reference,
                   tool::ParseLiveReference(absl::StrJoin(options.reference, "/")));
  // Mistakes in flags are reported before the server is asked.
  RETURN_IF_ERROR(detector::TemplateFilter::Create(options.question.skipped_apis,
                                                   options.question.skipped_namespaces)
                      .status());
  tool::ShowProgress(console, "reading");
  const absl::StatusOr<::lens::why::Chain> chain = Read(options, reference);
  tool::ShowProgress(console, "");
  RETURN_IF_ERROR(chain.status());
  const ::lens::why::Diagnosis diagnosis = ::lens::why::Diagnose(*chain);
  if (options.output == Output::kJson) {
    console.out << tool::Formatted(::lens::why::ReportAsJson(*chain, diagnosis),
                                   tool::Format::kJson);
  } else {
    Print(*chain, diagnosis, console);
  }
  return diagnosis.arrived ? tool::ExitCode::kFine : tool::ExitCode::kFailed;
}

// Returns the check of a flag whose value is a name.
auto NameCheck(absl::Status (*validate)(absl::string_view name)) {
  return [validate](const std::string& text) {
    const absl::Status valid = validate(text);
    return valid.ok() ? "" : absl::StrCat("\"", text, "\": ", valid.message());
  };
}

}  // namespace

void AddWhy(tool::CommandLine& line) {
  CLI::App& app = line.Add("why", "Say what became of a template, and what stops it", kExamples);
  auto options = std::make_shared<WhyOptions>();
  app.add_option(
         "TYPE/NAME", options->reference,
         "the template, or an object of Karmada's own kinds, such as a policy or a Cluster, "
         "as for kubectl get; TYPE NAME is the same. Without it: all templates that are not fine")
      ->expected(1, 2);
  app.add_flag("-A,--all-namespaces", options->fleet.all_namespaces,
               "all templates that are not fine, grouped by cause");
  app.add_option("--policy", options->fleet.scope.policy,
                 "those that a PropagationPolicy or ClusterPropagationPolicy of this name governs")
      ->check(NameCheck(&kube::ValidateDns1123Subdomain), "")
      ->type_name("NAME");
  app.add_flag("--full", options->fleet.full, "all of them, not the first 20 with each cause");
  app.add_flag("-w,--watch", options->fleet.watch,
               "look again every 10 seconds, and print what has changed");
  app.add_option("--cluster", options->question.cluster,
                 "only what concerns this cluster; without TYPE/NAME the templates that are meant "
                 "for it")
      ->check(NameCheck(&kube::ValidateDns1123Label), "")
      ->type_name("NAME");
  AddSkipFlags(app, options->question.skipped_apis, options->question.skipped_namespaces);
  AddCombinedFlag(app, options->question.merge);
  AddOutputFlag(app, options->output);
  tool::AddLiveFlags(app, options->live);
  line.OnRun(app, [options](tool::Console& console) { return Why(*options, console); });
}

}  // namespace cmd::lens
