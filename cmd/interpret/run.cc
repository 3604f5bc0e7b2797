// Runs one operation. It checks that the flags fit the operation, builds the layers, reads the
// objects, asks once, and prints: the result on standard output, so that it can be piped, and
// everything about it (trace, warnings, the message of a health) on standard error. An operation
// that fails is exit code 1; input that cannot be used is an error status. An error that a script
// has raised is shown at its line in the customization's file.

#include "cmd/interpret/run.h"

#include <memory>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/yaml.h"
#include "cmd/interpret/diagnostics.h"
#include "cmd/interpret/flags.h"
#include "cmd/interpret/object_source.h"
#include "interpreter/customized/line_diff.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using interpreter::Question;

constexpr char kExamples[] = R"(Examples:
  # Is this pod healthy, by the built-in rules?
  kubectl get pod web-0 -o yaml | %prog% run --operation InterpretHealth --observed -
  # What does a customization make of a Widget, and which layer answers?
  %prog% run -f widget.yaml --operation InterpretReplica --desired my-widget.yaml --trace
  # What does a webhook on this machine say, and how long does it take?
  %prog% run --webhook hooks.yaml --operation InterpretReplica --desired my-widget.yaml --trace
  # What would be kept of the member's object?
  %prog% run --operation Retain --desired web.yaml --observed member-web.yaml --diff
  # A live object, and the status of its binding
  %prog% run --operation AggregateStatus --desired deployment/web \
    --status resourcebinding/web-deployment -n default --kubeconfig ~/.kube/karmada.config

An object is a file, - for standard input, or TYPE/NAME of a live object. --status is a list of
items (clusterName, status, applied, ...), a document each or one list, or a binding.)";

struct RunOptions {
  std::string operation;
  std::string desired, observed, status;
  std::optional<int64_t> replicas;
  LayerOptions layers;
  std::string observed_context;
  tool::Format format = tool::Format::kYaml;
  bool trace = false;
  bool diff = false;
};

absl::Status Needs(Operation op, absl::string_view flag) {
  return absl::InvalidArgumentError(absl::StrCat(interpreter::OperationName(op), " needs ", flag));
}

// Refuses a flag that would have no effect, since the user expects one.
absl::Status CheckSurplus(Operation op, const RunOptions& options) {
  const auto takes_no = [&](absl::string_view flag) {
    return absl::InvalidArgumentError(
        absl::StrCat(interpreter::OperationName(op), " takes no ", flag));
  };
  if (options.replicas && op != Operation::kReviseReplica) return takes_no("--replicas");
  if (!options.status.empty() && op != Operation::kAggregateStatus) return takes_no("--status");
  if (options.diff && !interpreter::ReturnsObject(op))
    return takes_no("--diff, for it returns no object");
  if (options.diff && options.format == tool::Format::kJson) {
    return absl::InvalidArgumentError("--diff prints a diff, which is not JSON: leave one out");
  }
  if (!options.observed_context.empty() && options.observed.empty()) {
    return absl::InvalidArgumentError("--observed-context is about --observed, which is not given");
  }
  return absl::OkStatus();
}

// Every operation but Retain is about one object; the user may give it as desired or as observed,
// as with upstream's tool.
absl::Status CheckInputs(Operation op, const RunOptions& options) {
  RETURN_IF_ERROR(CheckSurplus(op, options));
  const bool desired = !options.desired.empty(), observed = !options.observed.empty();
  if (op == Operation::kRetain) {
    return desired && observed ? absl::OkStatus() : Needs(op, "--desired and --observed");
  }
  if (desired == observed) {
    return Needs(op, desired
                         ? "one of --desired and --observed, not both"
                         : "an object: --desired FILE, or --observed FILE for one as it is in a "
                           "member cluster (- is standard input)");
  }
  if (op == Operation::kReviseReplica && !options.replicas) return Needs(op, "--replicas");
  return absl::OkStatus();
}

// Without an operation the user probably wants to know which there are.
absl::Status CheckOperation(const RunOptions& options) {
  if (!options.operation.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "what shall be run? Name an operation with --operation (", interpreter::kOperations.Listed(),
      ") and an object with --desired or --observed; \"run --help\" has examples"));
}

absl::StatusOr<Question> ReadInputs(const RunOptions& options, ObjectSource& source,
                                    ObjectSource& member_source) {
  ASSIGN_OR_RETURN(const Operation op, ParseOperation(options.operation));
  RETURN_IF_ERROR(CheckInputs(op, options));
  Question question;
  question.operation = op;
  question.replicas = options.replicas.value_or(0);
  if (!options.desired.empty()) {
    ASSIGN_OR_RETURN(question.object, source.One(options.desired));
  }
  if (!options.observed.empty()) {
    ASSIGN_OR_RETURN(question.observed, member_source.One(options.observed));
    // All operations but Retain are asked about `object`.
    if (options.desired.empty()) question.object = question.observed;
  }
  if (!options.status.empty()) {
    ASSIGN_OR_RETURN(question.items, source.Items(options.status));
  }
  return question;
}

// Prints the error at its line in the customization's file, if a script raised it.
void PrintError(const Layers& layers, const absl::Status& error, tool::Console& console) {
  for (const tool::Document& document : layers.given()) {
    const auto place = LocateError(document, error.message());
    if (!place) continue;
    console.err << Render(*place, console.err_colours);
    return;
  }
  console.err << console.err_colours.Red("error:") << " " << tool::Printable(error.message())
              << "\n";
}

// Returns a line for the layer, and one for each of its hooks with a remark.
std::string VerdictText(const Layers::Verdict& verdict, const std::optional<HookCall>& call,
                        const tool::Colours& colours) {
  const std::string layer = absl::StrFormat("  %-14s", verdict.layer);
  const bool called = verdict.layer == interpreter::kWebhookLayer && call.has_value();
  const std::string took = called ? ShortTime(call->took) : "";
  const std::string rule = tool::OneLine(verdict.rule);
  std::string text;
  if (!verdict.answers()) {
    text = absl::StrCat(layer, "skipped   ", colours.Dim(tool::OneLine(verdict.reason)));
  } else if (called && !call->status.ok()) {
    text = colours.Red(absl::StrCat(layer, "fails     ", rule, " after ", took));
  } else {
    text = colours.Green(absl::StrCat(layer, "answers   ", rule, called ? " in " : "", took));
  }
  text += "\n";
  for (const std::string& detail : verdict.details) {
    absl::StrAppend(&text, std::string(26, ' '), colours.Dim(tool::OneLine(detail)), "\n");
  }
  return text;
}

// Returns advice about an operation that no layer answers; "" when one does. (A control plane
// reports the interpreter's error without this advice.)
std::string Advice(const Layers& layers, const Question& question) {
  const kube::Gvk gvk = question.object.gvk();
  for (const Layers::Verdict& verdict : layers.Explain(gvk, question.operation, std::nullopt)) {
    if (verdict.answers()) return "";
  }
  return absl::StrCat("  nothing that was given answers ",
                      interpreter::OperationName(question.operation), " of ",
                      tool::OneLine(gvk.kind), " (", tool::OneLine(gvk.ApiVersion()),
                      "), and no built-in rule does: give a customization with -f "
                      "or a webhook with --webhook\n");
}

absl::StatusOr<tool::ExitCode> Run(const RunOptions& options, tool::Console& console) {
  RETURN_IF_ERROR(CheckOperation(options));
  tool::DocumentReader reader(console.in);
  tool::LiveOptions member = options.layers.live;
  // The template is on the control plane, the observed object on a member: two contexts of one
  // kubeconfig.
  if (!options.observed_context.empty()) member.context = options.observed_context;
  tool::LiveObjects live(options.layers.live), live_member(member);
  ObjectSource source(reader, live), member_source(reader, live_member);
  ASSIGN_OR_RETURN(const std::unique_ptr<Layers> layers, Layers::Build(options.layers, source));
  layers->WarnOfProblems(console);
  ASSIGN_OR_RETURN(const Question question, ReadInputs(options, source, member_source));
  // The operation runs once, also for the trace: a webhook is not asked a second time.
  const Measured measured = Measure(*layers, question);
  if (options.trace) {
    console.err << TraceText(*layers, question, measured, console.err_colours);
  } else if (measured.hook_call.has_value() && measured.hook_call->passed_on) {
    console.err << console.err_colours.Yellow("warning:") << " "
                << tool::OneLine(measured.hook_call->IgnoredText()) << "\n";
  }
  for (const std::string& warning : layers->TakeWarnings()) {
    console.err << console.err_colours.Yellow("warning:") << " " << tool::Printable(warning)
                << "\n";
  }
  if (!measured.answer.ok()) {
    PrintError(*layers, measured.answer.status(), console);
    console.err << Advice(*layers, question);
    return tool::ExitCode::kFailed;
  }
  if (options.diff) {
    console.out << ObjectDiff(question, measured.answer->result, console.out_colours);
    return tool::ExitCode::kFine;
  }
  // The diff belongs to the trace, and so to standard error.
  if (options.trace && interpreter::ReturnsObject(question.operation)) {
    console.err << ObjectDiff(question, measured.answer->result, console.err_colours);
  }
  console.out << tool::Formatted(measured.answer->result, options.format);
  const std::string& message = measured.answer->message;
  if (!message.empty()) console.err << "message: " << tool::Printable(message) << "\n";
  return tool::ExitCode::kFine;
}

void AddInputs(CLI::App& app, RunOptions& o) {
  app.add_option("--operation", o.operation, interpreter::kOperations.Listed())
      ->type_name("OPERATION");
  app.add_option("--desired,--desired-file", o.desired, "the template")->type_name("OBJECT");
  app.add_option("--observed,--observed-file", o.observed, "the object in a member cluster")
      ->type_name("OBJECT");
  app.add_option("--status,--status-file", o.status, "what the members report (AggregateStatus)")
      ->type_name("ITEMS");
  CheckReplicas(
      *app.add_option("--replicas,--desired-replica", o.replicas, "replicas to set (ReviseReplica)")
           ->type_name("N"));
}

}  // namespace

std::string TraceText(const Layers& layers, const Question& question, const Measured& measured,
                      const tool::Colours& colours) {
  const Cost& cost = measured.cost;
  const kube::Gvk gvk = question.object.gvk();
  std::string text = colours.Bold(absl::StrCat(interpreter::OperationName(question.operation),
                                               " of ", tool::OneLine(question.object.Describe()),
                                               " (", tool::OneLine(gvk.ApiVersion()), ")\n"));
  for (const Layers::Verdict& verdict :
       layers.Explain(gvk, question.operation, measured.hook_call)) {
    absl::StrAppend(&text, VerdictText(verdict, measured.hook_call, colours));
  }
  absl::StrAppend(&text, "  time ", ShortTime(cost.time), ", memory of scripts ",
                  ShortSize(cost.script_peak), ", garbage ", ShortSize(cost.garbage), "\n");
  return text;
}

std::string ObjectDiff(const Question& question, const json::Value& result,
                       const tool::Colours& colours) {
  const bool status_only = question.operation == Operation::kAggregateStatus;
  const auto text_of = [&](const json::Value& object) {
    return yaml::Write(status_only ? json::Value::Object({{"status", object["status"]}}) : object);
  };
  const std::string diff =
      interpreter::customized::LineDiff(text_of(question.object.root()), text_of(result));
  if (diff.empty()) return "";
  const std::string name = tool::OneLine(question.object.Describe());
  return colours.Diff(absl::StrCat("--- ", name, "\n+++ ", name, " after ",
                                   interpreter::OperationName(question.operation), "\n",
                                   tool::Printable(diff)));
}

void AddRun(tool::CommandLine& line) {
  CLI::App& app = line.Add("run", "Run one operation on objects and print its result", kExamples);
  auto options = std::make_shared<RunOptions>();
  AddInputs(app, *options);
  app.add_flag("--trace", options->trace,
               "report on standard error who answers, who does not and why, what it cost, and what "
               "it changed");
  app.add_flag("--diff", options->diff, "print what changed instead of the whole object");
  tool::AddFormatFlag(app, options->format);
  AddLayerFlags(app, options->layers);
  app.add_option("--observed-context", options->observed_context,
                 "context of a live --observed, when it is not that of --desired")
      ->type_name("NAME");
  line.OnRun(app, [options](tool::Console& console) { return Run(*options, console); });
}

}  // namespace cmd::interpret
