// Reads the chain from a template to its objects in the members (lens/why), diagnoses where it
// ends, and prints one sentence, an advice and the chain. The exit code says whether the template
// has arrived. What could not be read is warned of, since the diagnosis may be wrong without it.
// Nothing is written.

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
#include "cmd/lens/tree.h"
#include "detector/template_filter.h"
#include "kube/meta/selector.h"
#include "lens/why/chain_reader.h"
#include "lens/why/diagnosis.h"
#include "lens/why/report.h"
#include "tool/live_objects.h"

namespace cmd::lens {
namespace {

constexpr char kExamples[] = R"(Examples:
  %prog% why deployment/web -n shop
  %prog% why deploy/web -n shop --cluster member1   # only what concerns this cluster
  %prog% why deploy/web -n shop -o json | jq -r .headline)";

struct WhyOptions {
  std::vector<std::string> reference;  // TYPE/NAME, or TYPE and NAME.
  ::lens::why::Question question;
  Output output = Output::kText;
  tool::LiveOptions live{.program = "karmada-lens"};
};

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

absl::StatusOr<::lens::why::Chain> Read(const WhyOptions& options,
                                        const tool::LiveReference& reference) {
  ASSIGN_OR_RETURN(const std::unique_ptr<tool::LiveConnection> live,
                   ConnectToControlPlane(options.live));
  ASSIGN_OR_RETURN(const kube::Resource resource,
                   tool::FindResource(live->discovery, reference.type));
  ::lens::why::Question question = options.question;
  question.gvk = resource.gvk;
  if (!options.live.kubeconfig.empty()) {
    absl::StrAppend(&question.flags, " --kubeconfig ", options.live.kubeconfig);
  }
  if (!options.live.context.empty()) {
    absl::StrAppend(&question.flags, " --context ", options.live.context);
  }
  question.key = {resource.namespaced ? live->ns : "", reference.name};
  return ::lens::why::ReadChain({live->client, live->discovery, live->config}, std::move(question),
                                base::StopToken());
}

absl::StatusOr<tool::ExitCode> Why(const WhyOptions& options, tool::Console& console) {
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

}  // namespace

void AddWhy(tool::CommandLine& line) {
  CLI::App& app = line.Add("why", "Say what became of a template, and what stops it", kExamples);
  auto options = std::make_shared<WhyOptions>();
  app.add_option(
         "TYPE/NAME", options->reference,
         "the template, or an object of Karmada's own kinds, such as a policy or a Cluster, "
         "as for kubectl get; TYPE NAME is the same")
      ->required()
      ->expected(1, 2);
  app.add_option("--cluster", options->question.cluster, "only what concerns this cluster")
      ->check(
          [](const std::string& text) {
            const absl::Status valid = kube::ValidateDns1123Label(text);
            return valid.ok() ? "" : absl::StrCat("\"", text, "\": ", valid.message());
          },
          "")
      ->type_name("NAME");
  AddSkipFlags(app, options->question.skipped_apis, options->question.skipped_namespaces);
  AddCombinedFlag(app, options->question.merge);
  AddOutputFlag(app, options->output);
  tool::AddLiveFlags(app, options->live);
  line.OnRun(app, [options](tool::Console& console) { return Why(*options, console); });
}

}  // namespace cmd::lens
