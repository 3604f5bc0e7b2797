// Implements CheckScript: what a script defines, and which globals and modules it uses.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/spelling.h"
#include "interpreter/check/findings.h"
#include "interpreter/check/script_probe.h"
#include "interpreter/customized/script_libraries.h"

namespace interpreter::check {
namespace {

using interpreter::Operation;
using interpreter::customized::ScriptField;
using lua::ScriptFacts;
using Severity = Finding::Severity;

std::vector<std::string> ParametersOf(Operation op) {
  switch (op) {
    case Operation::kRetain:
      return {"desiredObj", "observedObj"};
    case Operation::kReviseReplica:
      return {"desiredObj", "desiredReplica"};
    case Operation::kAggregateStatus:
      return {"desiredObj", "statusItems"};
    case Operation::kInterpretStatus:
    case Operation::kInterpretHealth:
      return {"observedObj"};
    default:
      return {"desiredObj"};
  }
}

bool IsIdentifier(absl::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

bool IsProbable(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '.');
  return std::all_of(parts.begin(), parts.end(), IsIdentifier);
}

// Returns the number in the first ":<digits>:" of a script's message, 0 without one, and the rest
// after it.
std::pair<int, absl::string_view> LineIn(absl::string_view message) {
  for (size_t at = message.find(':'); at != absl::string_view::npos;
       at = message.find(':', at + 1)) {
    const size_t end = message.find_first_not_of("0123456789", at + 1);
    int line = 0;
    if (end == absl::string_view::npos || message[end] != ':') continue;
    if (!absl::SimpleAtoi(message.substr(at + 1, end - at - 1), &line)) continue;
    return {line, absl::StripAsciiWhitespace(message.substr(end + 1))};
  }
  return {0, message};
}

class ScriptCheck {
 public:
  ScriptCheck(const ScriptField& field, const lua::Script& script, const ScriptFacts& facts)
      : field_(field),
        path_(absl::StrCat("spec.customizations.", field.name, ".luaScript")),
        facts_(facts) {
    SortGlobals();
    loaded_ = Load(script, QuestionsOf());
  }

  std::vector<Finding> Run() {
    CheckFunction();
    CheckGlobals();
    CheckModules();
    CheckLoading();
    return std::move(findings_);
  }

 private:
  void Report(Severity severity, int line, absl::string_view token, std::string message) {
    findings_.push_back({severity, path_, line, 0, std::string(token), std::move(message)});
  }

  void SortGlobals() {
    for (const auto& use : facts_.globals) {
      if (IsProbable(use.name)) (use.assigned ? assigned_ : read_).insert(use.name);
    }
    // A global that the script assigns itself exists when it is read; the assignment is reported.
    for (const std::string& name : assigned_) read_.erase(name);
  }

  Questions QuestionsOf() const {
    Questions questions{field_.function, read_, {}};
    for (const auto& use : facts_.modules) questions.modules.insert({use.module, use.member});
    return questions;
  }

  const ScriptFacts::Function* Defined() const {
    // The last definition of a name is the one that is called.
    const auto named = std::find_if(facts_.functions.rbegin(), facts_.functions.rend(),
                                    [&](const auto& f) { return f.name == field_.function; });
    return named == facts_.functions.rend() ? nullptr : &*named;
  }

  void CheckFunction() {
    if (loaded_.ok() && loaded_->function_type == "nil") return ReportMissing();
    if (loaded_.ok() && loaded_->function_type != "function") return ReportNoFunction();
    const ScriptFacts::Function* named = Defined();
    if (named == nullptr) return;  // It was not made by a definition at the top level.
    const std::vector<std::string> wanted = ParametersOf(field_.operation);
    if (named->variadic || named->parameters == static_cast<int>(wanted.size())) return;
    Report(Severity::kError, named->line, named->name,
           absl::StrCat(named->name, " is called with ", wanted.size(),
                        wanted.size() == 1 ? " argument (" : " arguments (",
                        absl::StrJoin(wanted, ", "), "), but takes ", named->parameters));
  }

  void ReportNoFunction() {
    int line = 0;
    for (const auto& use : facts_.globals) {
      if (use.assigned && use.name == field_.function) line = use.line;
    }
    Report(Severity::kError, line, field_.function,
           absl::StrCat(field_.function, " must be a function, which ",
                        interpreter::OperationName(field_.operation), " calls, but is a ",
                        loaded_->function_type));
  }

  void ReportMissing() {
    const std::string missing =
        absl::StrCat("there is no function ", field_.function, ", which ",
                     interpreter::OperationName(field_.operation), " calls");
    for (const auto& local : facts_.local_functions) {
      if (local.name != field_.function) continue;
      return Report(Severity::kError, local.line, local.name,
                    absl::StrCat(missing, ": the one here is local; leave out \"local\""));
    }
    std::vector<std::string> names;
    for (const auto& function : facts_.functions) names.push_back(function.name);
    const auto nearest = base::NearestName(field_.function, names);
    if (!nearest) return Report(Severity::kError, 0, "", missing);
    const ScriptFacts::Function& function = facts_.functions[*nearest];
    Report(Severity::kError, function.line, function.name,
           absl::StrCat(missing, ": is it ", function.name, "?"));
  }

  void CheckGlobals() {
    const std::map<std::string, Standing> standings = StandingsOf(read_);
    for (const auto& use : facts_.globals) {
      if (use.assigned) {
        CheckAssigned(use);
      } else if (const auto found = standings.find(use.name); found != standings.end()) {
        CheckRead(use, found->second);
      }
    }
  }

  void CheckAssigned(const ScriptFacts::GlobalUse& use) {
    const bool is_function =
        std::any_of(facts_.functions.begin(), facts_.functions.end(),
                    [&](const auto& function) { return function.name == use.name; });
    if (is_function || use.name == field_.function || !told_.insert(use.name).second) return;
    Report(Severity::kWarning, use.line, use.name,
           absl::StrCat("the global ", use.name, " is assigned: write local ", use.name));
  }

  void CheckRead(const ScriptFacts::GlobalUse& use, Standing standing) {
    if (standing == Standing::kRefused) {
      Report(Severity::kError, use.line, use.name,
             absl::StrCat(use.name, " is not supported in customizations"));
    } else if (standing == Standing::kAbsent) {
      if (loaded_.ok() && loaded_->absent.count(use.name) == 0) return;  // It was made through _G.
      Report(Severity::kError, use.line, use.name,
             absl::StrCat("the global ", use.name, " does not exist: it is nil"));
    } else if (use.name == "string.gsub" || use.name == "string.rep") {
      Report(Severity::kWarning, use.line, use.name,
             absl::StrCat(use.name, " is here, but upstream's Karmada does not support it"));
    }
  }

  void CheckModules() {
    // When the top level fails, perhaps because of a missing module, at least the sandbox's modules
    // are known.
    const auto known =
        loaded_.ok() ? loaded_ : Load(**lua::Script::Compile("x", ""), QuestionsOf());
    if (!known.ok()) return;
    for (const auto& use : facts_.modules) {
      const auto presence = known->modules.at({use.module, use.member});
      if (presence == LoadedScript::Presence::kThere) continue;
      if (presence == LoadedScript::Presence::kNoModule && !use.member.empty())
        continue;  // The missing module has been reported.
      findings_.push_back({Severity::kError, path_, use.line, use.column, "", AbsentText(use)});
    }
  }

  static std::string AbsentText(const ScriptFacts::ModuleUse& use) {
    if (use.member.empty()) {
      return absl::StrCat("there is no module \"", use.module,
                          "\": scripts can require \"kube\", \"karmada\" and what they put into "
                          "package.preload");
    }
    const auto names = interpreter::customized::FunctionsOf(use.module);
    const auto nearest = base::NearestName(use.member, names);
    return absl::StrCat(use.module, " has no ", use.member, ": it is nil",
                        nearest ? absl::StrCat("; is it ", names[*nearest], "?") : "");
  }

  // A top level that fails does so in every run; the reason may have been reported already.
  void CheckLoading() {
    if (loaded_.ok() || absl::IsOutOfRange(loaded_.status())) return;
    const auto [line, what] = LineIn(loaded_.status().message());
    for (const Finding& finding : findings_) {
      if (finding.severity == Severity::kError && finding.script_line == line) return;
    }
    Report(Severity::kError, line, "",
           absl::StrCat("every run fails here: ", absl::StripPrefix(what, "in the main chunk: ")));
    findings_.back().certain = !absl::IsDeadlineExceeded(loaded_.status());
  }

  const ScriptField& field_;
  const std::string path_;
  const ScriptFacts& facts_;
  std::set<std::string> assigned_, read_;  // `read_` has the globals that are only read.
  absl::StatusOr<LoadedScript> loaded_;
  std::set<std::string> told_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> CheckScript(const ScriptField& field, const lua::Script& script) {
  const auto facts = lua::Inspect(script);
  if (facts.ok()) return ScriptCheck(field, script, *facts).Run();
  // The script compiles, so what lacks is memory for the inspection.
  return {{Severity::kError, absl::StrCat("spec.customizations.", field.name, ".luaScript"), 0, 0,
           "", std::string(facts.status().message()), /*certain=*/false}};
}

}  // namespace interpreter::check
