#include "cmd/lens/why.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "cmd/lens/flags.h"
#include "tool/live_objects.h"

namespace cmd::lens {
namespace {

constexpr char kExamples[] = R"(Examples:
  %prog% why deployment/web -n shop
  %prog% why deploy/web -n shop --cluster member1   # only what concerns this cluster
  %prog% why deploy/web -n shop -o json | jq -r .cause.text)";

struct WhyOptions {
  std::string reference;
  Output output = Output::kText;
  tool::LiveOptions live{.program = "karmada-lens"};
};

absl::StatusOr<tool::ExitCode> Why(const WhyOptions& options, tool::Console& console) {
  tool::LiveObjects live(options.live);
  ASSIGN_OR_RETURN(const kube::Object found, live.Get(options.reference));
  console.out << found.kind() << " " << found.key().ToString() << " exists.\n";
  return tool::ExitCode::kFine;
}

}  // namespace

void AddWhy(tool::CommandLine& line) {
  CLI::App& app = line.Add("why", "Say what became of a template, and what stops it", kExamples);
  auto options = std::make_shared<WhyOptions>();
  app.add_option("TYPE/NAME", options->reference, "the template, as for kubectl get")->required();
  AddOutputFlag(app, options->output);
  tool::AddLiveFlags(app, options->live);
  line.OnRun(app, [options](tool::Console& console) { return Why(*options, console); });
}

}  // namespace cmd::lens
