// Reads the files, connects to the control plane if one is to be compared with, simulates both
// states and prints how what the clusters get differs. Nothing is written to the control plane. The
// exit code is decided last: 3 for a finding that --fail-on names, even if nothing changes, else 2
// for a change, else 0.

#include "cmd/lens/plan.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "cmd/lens/control_plane.h"
#include "cmd/lens/files.h"
#include "cmd/lens/flags.h"
#include "cmd/lens/what_if_flags.h"
#include "config/options.h"
#include "config/served/served_release.h"
#include "lens/plan/findings.h"
#include "lens/plan/page.h"
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
  %prog% plan -f deploy/ --fail-on no-policy,not-scheduled  # what a pull request must not have
  %prog% plan --without member1               # what becomes of the live fleet's workloads
  %prog% plan --lost member1 --feature-gates Failover=true --enable-no-execute-taint-eviction
  %prog% plan --drain member1 --fail-on no-room,pinned -o html > drain.html

The exit code is 0 when every cluster keeps what it has, 2 when one gets something else, 3 when the
plan warns of something that --fail-on names, 1 for an error.)";

struct PlanOptions {
  FileOptions files;
  tool::LiveOptions live{.program = "karmada-lens"};
  bool is_live = false;
  bool full = false;
  std::string page;  // The file of the page; "" for none.
  WhatIfOptions what_if;
  std::vector<std::string> fail_on;  // Codes of findings, or kEveryWarning.
  Output output = Output::kText;
};

// A question about the fleet without files is about a live one.
bool IsLive(const PlanOptions& options) {
  const bool has_files = !options.files.files.empty() || !options.files.base.empty();
  return options.is_live || !options.live.kubeconfig.empty() || !options.live.context.empty() ||
         (!options.what_if.empty() && !has_files);
}

constexpr char kEveryWarning[] = "warnings";

// Returns whether the plan has a finding that it must not have. What a plan cannot show is not a
// mistake, so that it has to be named.
bool HasForbidden(const plan::Plan& made, const std::vector<std::string>& codes) {
  const auto is_named = [&](absl::string_view code) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
  };
  if (made.what_if.has_value()) {
    for (const auto& [verdict, count] : made.what_if->counts) {
      if (count > 0 && is_named(plan::NameOf(verdict))) return true;
    }
  }
  return std::any_of(made.findings.begin(), made.findings.end(), [&](const plan::Finding& found) {
    const bool is_mistake = found.code != plan::finding::kNotSimulated;
    return is_named(found.code) || (is_named(kEveryWarning) && is_mistake);
  });
}

std::vector<std::string> CodesForFailOn() {
  std::vector<std::string> codes(std::begin(plan::finding::kAll), std::end(plan::finding::kAll));
  for (const plan::Verdict verdict : plan::kVerdicts) codes.emplace_back(plan::NameOf(verdict));
  codes.emplace_back(kEveryWarning);
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  return codes;
}

// Unless the user has said it, the plan is of the release whose definitions the control plane
// serves.
void SetRelease(tool::LiveConnection& live, config::Options& daemon, tool::Console& console) {
  if (daemon.wanted_release.has_value()) return;
  const absl::StatusOr<config::Release> served =
      config::ServedRelease(live.client).Ask(base::StopToken());
  if (served.ok()) {
    daemon.wanted_release = *served;
    return;
  }
  console.err << console.err_colours.Yellow("warning:")
              << " the release of Karmada is not known, and taken for that of the definitions: "
              << tool::OneLine(served.status().message()) << "\n";
}

absl::Status WritePage(const std::string& path, const plan::Plan& made) {
  std::ofstream file(path, std::ios::binary);
  file << plan::PageOf(made);
  file.close();
  if (file.fail()) return absl::UnavailableError(absl::StrCat("--page: cannot write ", path));
  return absl::OkStatus();
}

absl::StatusOr<tool::ExitCode> RunPlan(const PlanOptions& options, tool::Console& console) {
  if (options.files.files.empty() && options.what_if.empty()) {
    return absl::InvalidArgumentError(
        "--filename is required, or a question about the fleet such as --without CLUSTER");
  }
  ASSIGN_OR_RETURN(plan::PlanRequest request, ReadFiles(options.files, console));
  ASSIGN_OR_RETURN(request.edits, EditsOf(options.what_if, console));
  options.what_if.failover.ApplyTo(request.daemon);
  std::unique_ptr<tool::LiveConnection> connection;
  std::unique_ptr<plan::LiveReader> reader;
  if (IsLive(options)) {
    tool::ShowProgress(console, "connecting");
    ASSIGN_OR_RETURN(connection, ConnectToControlPlane(options.live));
    SetRelease(*connection, request.daemon, console);
    reader = std::make_unique<plan::LiveReader>(connection->client, connection->discovery);
    // The request only borrows the reader, which has to live until the plan is made.
    request.live = reader.get();
  }
  tool::ShowProgress(console, "simulating");
  const absl::StatusOr<plan::Plan> made = plan::MakePlan(request, {});
  tool::ShowProgress(console, "");
  if (!made.ok()) return made.status();
  if (!options.page.empty()) {
    RETURN_IF_ERROR(WritePage(options.page, *made));
  }
  if (options.output == Output::kJson) {
    console.out << tool::Formatted(plan::JsonOf(*made), tool::Format::kJson);
  } else if (options.output == Output::kHtml) {
    console.out << plan::PageOf(*made);
  } else {
    console.err << plan::WarningsOf(*made, console.err_colours);
    console.out << plan::TextOf(*made, {console.out_colours, options.full});
  }
  if (HasForbidden(*made, options.fail_on)) return tool::ExitCode::kForbidden;
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
  AddFileFlags(app, options->files)->required(false);
  tool::AddRepeatable(app, "--base", options->files.base,
                      "what is there now, in the same forms; without it nothing is")
      ->type_name("FILE");
  AddPlaneFlags(app, *options);
  AddWhatIfFlags(app, options->what_if);
  app.add_option("--page", options->page,
                 "write a page of its own to this file, too, to open in a browser")
      ->type_name("FILE");
  app.add_flag("--full", options->full, "show whole manifests, and what does not change");
  app.add_option("--fail-on", options->fail_on,
                 "exit with 3 if the plan warns of one of these: codes and verdicts as in -o json, "
                 "or \"warnings\" for all codes but not-simulated")
      ->delimiter(',')
      ->check(CLI::IsMember(CodesForFailOn()))
      ->type_name("CODE,...");
  AddPageFlag(app, options->output);
  line.OnRun(app, [options](tool::Console& console) { return RunPlan(*options, console); });
}

}  // namespace cmd::lens
