// Checks one document after the other, in the order of the arguments, and prints what it finds in
// each (with -o json, one list at the end). What is remembered between documents is who answers
// which operation of which kind, because the second customization that answers the same question is
// reported at its own place. A file that cannot be read does not end the run: the rest is still
// checked, and its error is returned at the end (exit code 2).
//
// Customizations are judged by their text alone; with --against, their functions are also called
// once on an object (trial.h). Webhook configurations are judged by the rules of admission, and
// their servers are not called.

#include "cmd/interpret/check.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/enumerated.h"
#include "base/status.h"
#include "cmd/interpret/diagnostics.h"
#include "cmd/interpret/flags.h"
#include "cmd/interpret/object_source.h"
#include "cmd/interpret/trial.h"
#include "config/flag_types.h"
#include "interpreter/check/admission_review.h"
#include "interpreter/customized/customization.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using interpreter::customized::Customization;
using interpreter::customized::ScriptField;
using Severity = Finding::Severity;

constexpr char kExamples[] = R"(Examples:
  %prog% check widget.yaml
  %prog% check -R customizations/ -o json
  %prog% check ric/widget --kubeconfig ~/.kube/karmada.config
  %prog% check hooks.yaml   # webhook configurations, too; in directories they are ignored

  # Does every function work, and return what it should, on this object?
  %prog% check widget.yaml --against my-widget.yaml

Looks for: syntax, functions that are missing or called something else, wrong numbers of parameters,
globals that scripts do not have, fields that do not exist, names and targets that look wrong, and
two customizations that answer the same question. With --against it also calls each function of the
customizations for the object's kind once, and looks at what it returns.)";

struct CheckOptions {
  std::vector<std::string> paths;
  std::string against;
  LayerOptions input;
  bool json = false;
  bool quiet = false;
};

// It is asked only which rules it has; none of its scripts runs.
std::unique_ptr<interpreter::Backend> ShippedLayer() {
  auto layer = std::make_unique<interpreter::customized::LuaBackend>(
      interpreter::customized::LuaBackendOptions{.layer = interpreter::kShippedLayer});
  layer->Replace(interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles()));
  return layer;
}

// One run over all customizations.
class Checker {
 public:
  Checker(const CheckOptions& options, tool::Console& console)
      : options_(options), console_(console) {}

  // From now on functions are called, with this object.
  void Against(kube::Object object) { against_ = std::move(object); }
  void Check(const tool::Document& document);
  void Check(const tool::BadDocument& document);
  // Returns an error when no customization targets the object's kind.
  absl::Status CheckTried() const;
  tool::ExitCode Finish();

 private:
  void CheckWebhooks(const tool::Document& document, const kube::Object& object);
  bool IsAbout(const Customization& customization, const kube::Gvk& gvk) const;
  void Report(std::vector<Diagnostic> diagnostics);
  // Adds findings about scripts for operations that an earlier customization answers already.
  void AddRivals(const tool::Document& document, const Customization& customization,
                 std::vector<Finding>& findings);
  // `refused`: the first one names the target in spec.target, too, so that Karmada's admission
  // refuses the second.
  void AddRival(const ScriptField& field, const kube::Gvk& target, bool refused,
                std::vector<Finding>& findings) const;

  std::string ReplacedText(const Customization& customization) const;

  // A customization that answers.
  struct Rival {
    std::string name;      // With the place of the document.
    bool is_main = false;  // The kind is its spec.target.
  };

  const CheckOptions& options_;
  tool::Console& console_;
  json::Value list_ = json::Value::Array();
  // Who answers an operation of a kind; for dependencies all customizations do.
  std::map<std::pair<kube::Gvk, Operation>, Rival> answering_;
  const std::unique_ptr<interpreter::Backend> shipped_ = ShippedLayer();
  const std::unique_ptr<interpreter::Backend> built_in_ = interpreter::NewNativeBackend();
  kube::Object against_;  // An empty object means that no function is called.
  bool tried_ = false;
  size_t checked_ = 0, webhooks_ = 0, errors_ = 0, warnings_ = 0;
};

std::string OperationsText(const Customization& customization) {
  std::vector<absl::string_view> names;
  for (const auto& [op, script] : customization.scripts) {
    names.push_back(interpreter::OperationName(op));
  }
  return absl::StrJoin(names, ", ");
}

// A kind that no layer knows.
const kube::Gvk kNobodys{"nobody.invalid", "v1", "Nobody"};

// Returns the operations that a layer answers as well, and would not be asked any more; "" for
// none. What it answers in the same way for every kind does not count.
std::string OperationsOf(const interpreter::Backend& layer, const Customization& customization) {
  std::vector<absl::string_view> names;
  for (const auto& [op, script] : customization.scripts) {
    // Dependencies of lower layers are replaced, too: only those of customizations add up.
    if (layer.Has(kNobodys, op)) continue;
    if (layer.Has(customization.target, op)) names.push_back(interpreter::OperationName(op));
  }
  return absl::StrJoin(names, ", ");
}

// Returns a line for each lower layer some of whose rules the customization replaces.
std::string Checker::ReplacedText(const Customization& customization) const {
  std::string text;
  for (const auto& [what, layer] :
       {std::pair("shipped", shipped_.get()), std::pair("built-in", built_in_.get())}) {
    const std::string names = OperationsOf(*layer, customization);
    if (!names.empty()) {
      absl::StrAppend(&text, "   answers instead of the ", what, " rules for ", names, "\n");
    }
  }
  return text;
}

// Webhook configurations are looked at as admission does; their problems name their fields.
void Checker::CheckWebhooks(const tool::Document& document, const kube::Object& object) {
  ++webhooks_;
  std::vector<Diagnostic> diagnostics = RepeatedNames(document);
  for (const std::string& error : interpreter::check::Judge(object, {}).errors) {
    Finding finding;
    finding.message = error;
    diagnostics.push_back(Locate(document, std::move(finding)));
  }
  // It is asked before the list is moved away.
  const bool fine = diagnostics.empty();
  Report(std::move(diagnostics));
  if (!fine || options_.json || options_.quiet) return;
  console_.out << console_.out_colours.Green("ok") << " "
               << tool::OneLine(absl::StrCat(document.Where(), ": ", object.Describe())) << "\n";
}

void Checker::Check(const tool::Document& document) {
  const kube::Object object(document.value);
  if (interpreter::check::IsWebhookConfiguration(object)) return CheckWebhooks(document, object);
  ++checked_;
  const size_t before = errors_ + warnings_;
  const Customization customization = interpreter::customized::ParseCustomization(object);
  std::vector<Finding> findings =
      interpreter::check::CheckCustomization(object, options_.input.merge);
  AddRivals(document, customization, findings);
  std::vector<Diagnostic> diagnostics = RepeatedNames(document);
  for (Finding& finding : findings) diagnostics.push_back(Locate(document, std::move(finding)));
  std::vector<std::string> results;
  if (!against_.empty() && IsAbout(customization, against_.gvk())) {
    tried_ = true;
    Trial trial = TryOn(document, against_, options_.input.merge);
    std::move(trial.diagnostics.begin(), trial.diagnostics.end(), std::back_inserter(diagnostics));
    results = std::move(trial.results);
  }
  Report(std::move(diagnostics));
  if (options_.json || options_.quiet) return;
  for (const std::string& result : results) {
    console_.out << "   " << tool::OneLine(customization.name) << " on "
                 << tool::OneLine(against_.Describe()) << ": " << tool::Printable(result) << "\n";
  }
  if (errors_ + warnings_ == before) {
    const std::string about =
        absl::StrCat(document.Where(), ": ", customization.name, " (",
                     customization.target.ApiVersion(), " ", customization.target.kind, "): ");
    console_.out << console_.out_colours.Green("ok") << " " << tool::OneLine(about)
                 << OperationsText(customization) << "\n"
                 << ReplacedText(customization);
  }
}

bool Checker::IsAbout(const Customization& customization, const kube::Gvk& gvk) const {
  const auto targets = interpreter::customized::TargetsOf(customization, options_.input.merge);
  return std::any_of(targets.begin(), targets.end(), [&](const kube::Gvk& target) {
    return target == gvk ||
           (options_.input.merge.combined && interpreter::customized::Covers(target, gvk));
  });
}

absl::Status Checker::CheckTried() const {
  if (against_.empty() || tried_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("none of the customizations is about ",
                                                 against_.kind(), " (", against_.api_version(),
                                                 "), as --against is"));
}

void Checker::Check(const tool::BadDocument& document) {
  Diagnostic diagnostic;
  diagnostic.finding.message = document.message;
  diagnostic.file = document.file;
  diagnostic.line = document.line;
  diagnostic.column = document.column;
  diagnostic.source = document.source;
  Report({std::move(diagnostic)});
}

void Checker::Report(std::vector<Diagnostic> diagnostics) {
  // Findings are made by check, not by line; people read a file from the top.
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const auto& a, const auto& b) {
    return std::tie(a.line, a.script_line, a.column, a.script_column) <
           std::tie(b.line, b.script_line, b.column, b.script_column);
  });
  for (const Diagnostic& diagnostic : diagnostics) {
    ++(diagnostic.finding.severity == Severity::kError ? errors_ : warnings_);
    if (options_.json) {
      list_.Append(ToJson(diagnostic));
    } else {
      console_.out << Render(diagnostic, console_.out_colours);
    }
  }
}

// REQUIRES: documents are checked in the order of the arguments, since the first one is not
// reported.
void Checker::AddRivals(const tool::Document& document, const Customization& customization,
                        std::vector<Finding>& findings) {
  for (const kube::Gvk& target :
       interpreter::customized::TargetsOf(customization, options_.input.merge)) {
    const Rival rival{absl::StrCat(customization.name, " (", document.Where(), ")"),
                      target == customization.target};
    for (const ScriptField& field : interpreter::customized::ScriptFields()) {
      const Operation op = field.operation;
      // Dependencies of all customizations add up, so no one is a rival there.
      if (op == Operation::kInterpretDependency || customization.scripts.count(op) == 0) continue;
      // The first one stays in the map, so that each later one is compared with it.
      const auto [first, is_new] = answering_.try_emplace({target, op}, rival);
      if (!is_new) {
        AddRival(field, target, first->second.is_main && rival.is_main, findings);
      }
    }
  }
}

void Checker::AddRival(const ScriptField& field, const kube::Gvk& target, bool refused,
                       std::vector<Finding>& findings) const {
  const bool both_answer = field.operation == Operation::kRetain && options_.input.merge.combined;
  if (both_answer && !refused) return;
  Finding finding;
  // Admission compares spec.target only. Whom it does not refuse is a warning: the answer then
  // depends on the order of names.
  finding.severity = refused && !both_answer ? Severity::kError : Severity::kWarning;
  finding.field = absl::StrCat("spec.customizations.", field.name);
  finding.message = absl::StrCat(interpreter::OperationName(field.operation), " of ", target.kind,
                                 " is customized by ",
                                 answering_.at({target, field.operation}).name, " already; ");
  if (both_answer) {
    absl::StrAppend(&finding.message, "both retain, but Karmada's admission refuses the second");
  } else if (refused) {
    absl::StrAppend(&finding.message, "Karmada refuses the second");
  } else {
    absl::StrAppend(&finding.message, "of the two, the first name answers");
  }
  findings.push_back(std::move(finding));
}

tool::ExitCode Checker::Finish() {
  const tool::ExitCode code = errors_ == 0 ? tool::ExitCode::kFine : tool::ExitCode::kFailed;
  if (options_.json) {
    console_.out << tool::Formatted(list_, tool::Format::kJson);
    return code;
  }
  const std::string summary =
      absl::StrCat(tool::Count(checked_, "customization"), ", ",
                   webhooks_ == 0 ? "" : tool::Count(webhooks_, "webhook configuration") + ", ",
                   tool::Count(errors_, "error"), ", ", tool::Count(warnings_, "warning"));
  console_.out << (errors_ == 0 ? console_.out_colours.Green(summary)
                                : console_.out_colours.Red(summary))
               << std::endl;
  return code;
}

absl::StatusOr<tool::ExitCode> Check(const CheckOptions& options, tool::Console& console) {
  std::vector<std::string> arguments = options.paths;
  arguments.insert(arguments.end(), options.input.customizations.begin(),
                   options.input.customizations.end());
  if (arguments.empty()) return absl::InvalidArgumentError("nothing to check: give files");
  tool::DocumentReader reader(console.in);
  tool::LiveObjects live(options.input.live);
  ObjectSource source(reader, live);
  Checker checker(options, console);
  if (!options.against.empty()) {
    ASSIGN_OR_RETURN(kube::Object object, source.One(options.against));
    checker.Against(std::move(object));
  }
  absl::Status unusable;  // The first input that could not be read; further ones are only reported.
  bool found = false;
  for (const std::string& argument : arguments) {
    const auto files = source.CustomizationFiles(argument, options.input.recursive);
    unusable.Update(files.status());
    if (!files.ok()) continue;
    for (const absl::StatusOr<tool::ReadText>& file : *files) {
      unusable.Update(file.status());
      if (!file.ok()) continue;
      found = true;
      for (const tool::BadDocument& document : file->bad) checker.Check(document);
      for (const tool::Document& document : file->documents) checker.Check(document);
    }
  }
  if (!found) return unusable;
  // An --against that is about no customization would look like success.
  unusable.Update(checker.CheckTried());
  const tool::ExitCode code = checker.Finish();
  if (!unusable.ok()) return unusable;
  return code;
}

}  // namespace

void AddCheck(tool::CommandLine& line) {
  CLI::App& app = line.Add("check", "Find mistakes in customizations", kExamples);
  auto options = std::make_shared<CheckOptions>();
  app.add_option("PATH", options->paths,
                 "files, directories, - for standard input, or TYPE/NAME of live objects");
  app.add_option("--against", options->against,
                 "an object on which every function for its kind is called once: a file, - or "
                 "TYPE/NAME")
      ->type_name("OBJECT");
  AddInputFlags(app, options->input);
  constexpr auto kFormats = base::Enumerate<bool>({{false, "text"}, {true, "json"}});
  config::AddChoice(app, "-o,--output", options->json, kFormats, "how to print what is found")
      ->type_name("FORMAT");
  app.add_flag("-q,--quiet", options->quiet, "say nothing of what is fine");
  line.OnRun(app, [options](tool::Console& console) { return Check(*options, console); });
}

}  // namespace cmd::interpret
