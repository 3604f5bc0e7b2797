// Runs the cases of all files, one after the other, prints each outcome at once, and the sum at the
// end. The layers are built once for all cases. A document that is not a case counts as a failed
// one; a file that cannot be read ends the run, without a sum. In directories, manifests beside the
// cases are ignored. The JUnit file is written after all cases, so a run that is killed leaves
// none.

#include "cmd/interpret/test.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "cmd/interpret/diagnostics.h"
#include "cmd/interpret/flags.h"
#include "cmd/interpret/junit.h"
#include "cmd/interpret/layers.h"
#include "cmd/interpret/measurement.h"
#include "interpreter/customized/case_file.h"
#include "tool/documents.h"

namespace cmd::interpret {
namespace {

using interpreter::customized::Case;
using interpreter::customized::CaseFile;
using interpreter::customized::CaseResult;

constexpr char kExamples[] = R"(Examples:
  %prog% test widget-test.yaml --customization widget.yaml
  %prog% test testdata/ --junit report.xml          # all files below the directory
  cat widget-test.yaml | %prog% test - -f widget.yaml
  %prog% test widget-test.yaml --webhook hooks.yaml # calls the servers that hooks.yaml names

A file holds one case per YAML document, in upstream's format:
  name: a widget that is ready is healthy
  operation: InterpretHealth
  observedObj: {apiVersion: example.io/v1, kind: Widget, status: {ready: true}}
  output: {healthy: true}
Inputs: desiredObj, observedObj, statusItems, inputReplicas. Results: replica, requires, components,
revised, retained, aggregatedStatus, status, healthy, dependencies, pruned.)";

struct TestOptions {
  std::vector<std::string> paths;
  LayerOptions layers;
  std::string junit;
  bool quiet = false;
};

// Returns whether no document in a file can be a case, as in the customization beside the cases.
bool HoldsOnlyManifests(absl::string_view text) {
  const auto documents = tool::ParseDocuments("", text);
  if (!documents.ok()) return false;
  return std::all_of(documents->begin(), documents->end(), [](const tool::Document& document) {
    return document.value.Has("kind") && !document.value.Has("operation");
  });
}

// Runs files and collects the outcomes.
class Session {
 public:
  Session(const TestOptions& options, Layers& layers, tool::Console& console)
      : options_(options), layers_(layers), console_(console) {}

  // With `optional`, a file without cases is ignored.
  absl::Status RunFile(const std::string& path, tool::DocumentReader& reader, bool optional);
  tool::ExitCode Finish();
  const std::vector<TestOutcome>& outcomes() const { return outcomes_; }

 private:
  void RunOne(const std::string& file, const Case& c);
  void Keep(TestOutcome outcome, absl::string_view note);
  std::string WhyNoRule(const Case& c) const;
  void PrintWarnings();

  const TestOptions& options_;
  Layers& layers_;
  tool::Console& console_;
  std::vector<TestOutcome> outcomes_;
  size_t failed_ = 0;
};

absl::Status Session::RunFile(const std::string& path, tool::DocumentReader& reader,
                              bool optional) {
  ASSIGN_OR_RETURN(const std::string text, reader.Text(path));
  // A file that is named must have cases; in directories the customizations lie beside them.
  if (optional && HoldsOnlyManifests(text)) return absl::OkStatus();
  const CaseFile file = interpreter::customized::ParseCaseFile(text);
  const std::string name = tool::DisplayName(path);
  for (const Case& c : file.cases) RunOne(name, c);
  for (const auto& problem : file.problems) {
    Keep({.file = name,
          .line = problem.line,
          .name = "not a case",
          .report = absl::StrCat(problem.message, "\n")},
         "");
  }
  return absl::OkStatus();
}

void Session::RunOne(const std::string& file, const Case& c) {
  const auto began = std::chrono::steady_clock::now();
  CaseResult result = interpreter::customized::RunCase(c, layers_.chain());
  const auto took = absl::FromChrono(std::chrono::steady_clock::now() - began);
  const std::string note =
      result.unchecked.empty()
          ? ""
          : absl::StrCat(" (", absl::StrJoin(result.unchecked, ", "), " not checked)");
  // It is empty where the layers know the kind.
  absl::StrAppend(&result.report, WhyNoRule(c));
  // The report names a script and its line; the user wants the line of the file.
  for (const tool::Document& document : layers_.given()) {
    const auto place = LocateError(document, result.report);
    if (!place || place->source.empty()) continue;
    absl::StrAppend(&result.report, "at ", place->Place(), ": ",
                    absl::StripAsciiWhitespace(place->source), "\n");
  }
  Keep({.file = file,
        .line = c.line,
        .name = c.name.empty() ? "unnamed case" : c.name,
        .operation = std::string(interpreter::OperationName(c.input.operation)),
        .time = took,
        .passed = result.passed,
        .report = std::move(result.report)},
       note);
  PrintWarnings();
}

// Returns advice about a case of a kind that no layer knows; "" when some layer does.
std::string Session::WhyNoRule(const Case& c) const {
  const kube::Object& object = c.input.object.empty() ? c.input.observed : c.input.object;
  if (object.empty() || layers_.chain().HasRule(object.gvk(), c.input.operation)) return "";
  return absl::StrCat("no layer has a rule for ", interpreter::OperationName(c.input.operation),
                      " of ", object.kind(), " (", object.api_version(), "): ",
                      layers_.given().empty() ? "name the customization with -f FILE"
                                              : "the customizations that were given have none",
                      "\n");
}

void Session::PrintWarnings() {
  // They are taken in any case: those of this case must not be shown with the next one.
  for (const std::string& warning : layers_.TakeWarnings()) {
    if (options_.quiet) continue;
    console_.out << "     " << console_.out_colours.Yellow("warning:") << " "
                 << tool::Printable(warning) << "\n";
  }
}

void Session::Keep(TestOutcome outcome, absl::string_view note) {
  const tool::Colours& colours = console_.out_colours;
  if (!outcome.passed) ++failed_;
  if (!outcome.passed || !options_.quiet) {
    tool::ShowProgress(console_, "");
    console_.out << (outcome.passed ? colours.Green("ok  ") : colours.Red("FAIL")) << " "
                 << tool::OneLine(outcome.file) << ":" << outcome.line << " "
                 << colours.Bold(outcome.operation) << (outcome.operation.empty() ? "" : " ")
                 << tool::OneLine(outcome.name) << colours.Dim(note) << "\n";
  }
  if (!outcome.passed) {
    const std::string report = colours.Diff(tool::Printable(outcome.report));
    for (const absl::string_view line : absl::StrSplit(report, '\n')) {
      if (!line.empty()) console_.out << "     " << line << "\n";
    }
  }
  outcomes_.push_back(std::move(outcome));
  if (options_.quiet) {
    tool::ShowProgress(
        console_, absl::StrCat(tool::Count(outcomes_.size(), "case"), ", ", failed_, " failed"));
  }
}

tool::ExitCode Session::Finish() {
  tool::ShowProgress(console_, "");
  absl::Duration time;
  for (const TestOutcome& outcome : outcomes_) time += outcome.time;
  const tool::Colours& colours = console_.out_colours;
  const std::string summary =
      absl::StrCat(tool::Count(outcomes_.size(), "case"), ": ", outcomes_.size() - failed_,
                   " passed, ", failed_, " failed (", ShortTime(time), ")");
  console_.out << (failed_ == 0 ? colours.Green(summary) : colours.Red(summary)) << std::endl;
  return failed_ == 0 ? tool::ExitCode::kFine : tool::ExitCode::kFailed;
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(path, " cannot be written"));
}

absl::StatusOr<tool::ExitCode> Test(const TestOptions& options, tool::Console& console) {
  tool::DocumentReader reader(console.in);
  tool::LiveObjects live(options.layers.live);
  ObjectSource source(reader, live);
  ASSIGN_OR_RETURN(const std::unique_ptr<Layers> layers, Layers::Build(options.layers, source));
  layers->WarnOfProblems(console);
  Session session(options, *layers, console);
  for (const std::string& path : options.paths) {
    std::error_code ignored;  // FindFiles reports missing paths.
    const bool directory = std::filesystem::is_directory(path, ignored);
    ASSIGN_OR_RETURN(const std::vector<std::string> files, tool::FindFiles({path}, true));
    for (const std::string& file : files) RETURN_IF_ERROR(session.RunFile(file, reader, directory));
  }
  if (session.outcomes().empty()) {
    return absl::NotFoundError(absl::StrCat("no cases in ", absl::StrJoin(options.paths, ", ")));
  }
  const tool::ExitCode code = session.Finish();
  if (!options.junit.empty()) {
    RETURN_IF_ERROR(WriteFile(options.junit, JUnitXml(session.outcomes())));
  }
  return code;
}

}  // namespace

void AddTest(tool::CommandLine& line) {
  CLI::App& app = line.Add("test", "Run files of cases against the layers", kExamples);
  auto options = std::make_shared<TestOptions>();
  app.add_option("PATH", options->paths,
                 "files of cases, directories (with all below them), or - for standard input")
      ->required();
  app.add_option("--junit", options->junit, "also write the outcome as JUnit XML")
      ->type_name("FILE");
  app.add_flag("-q,--quiet", options->quiet, "report failures only");
  AddLayerFlags(app, options->layers);
  line.OnRun(app, [options](tool::Console& console) { return Test(*options, console); });
}

}  // namespace cmd::interpret
