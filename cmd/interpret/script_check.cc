// CheckScript: what a script defines and which globals it uses.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cmd/interpret/findings.h"
#include "cmd/interpret/spelling.h"
#include "interpreter/customized/kube_library.h"
#include "lua/script_runner.h"

namespace cmd::interpret {
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

// What the sandbox has under a name.
enum class Standing { kThere, kRefused, kAbsent };

// Asks the sandbox itself, so that there is no second list of what it has: a refused function is
// one that says so when it is called.
std::map<std::string, Standing> StandingsOf(const std::set<std::string>& names) {
  std::string text =
      "local function Of(value)\n"
      "  if value == nil then return 'absent' end\n"
      "  if type(value) ~= 'function' or value == print then return 'there' end\n"
      "  local fine, why = pcall(value)\n"
      "  local refused = not fine and type(why) == 'string' and\n"
      "      string.find(why, 'not supported', 1, true)\n"
      "  return refused and 'refused' or 'there'\n"
      "end\n"
      "function Probe()\n  local out = {}\n";
  for (const std::string& name : names) {
    const std::string library = name.substr(0, name.find('.'));
    absl::StrAppend(&text, "  out['", name, "'] = Of(", library, " and ", name, ")\n");
  }
  text += "  return out\nend\n";
  std::map<std::string, Standing> standings;
  lua::ScriptRunner::Options options;
  options.libraries.push_back(interpreter::customized::KubeLibrary());
  const lua::ScriptRunner runner(std::move(options));
  const auto script = lua::Script::Compile("probe", text);
  if (!script.ok()) return standings;
  lua::Call call;
  call.function = "Probe";
  const auto outcome = runner.Run(**script, call);
  if (!outcome.ok()) return standings;
  for (const json::Member& member : outcome->results[0].json.members()) {
    const absl::string_view word = member.value.AsString();
    standings[std::string(member.name())] = word == "refused"  ? Standing::kRefused
                                            : word == "absent" ? Standing::kAbsent
                                                               : Standing::kThere;
  }
  return standings;
}

class ScriptCheck {
 public:
  ScriptCheck(const ScriptField& field, const ScriptFacts& facts)
      : field_(field),
        path_(absl::StrCat("spec.customizations.", field.name, ".luaScript")),
        facts_(facts) {}

  std::vector<Finding> Run() {
    CheckFunction();
    CheckGlobals();
    return std::move(findings_);
  }

 private:
  void Report(Severity severity, int line, absl::string_view token, std::string message) {
    findings_.push_back({severity, path_, line, 0, std::string(token), std::move(message)});
  }

  void CheckFunction() {
    const auto named = std::find_if(facts_.functions.rbegin(), facts_.functions.rend(),
                                    [&](const auto& f) { return f.name == field_.function; });
    if (named == facts_.functions.rend()) return ReportMissing();
    const std::vector<std::string> wanted = ParametersOf(field_.operation);
    if (named->variadic || named->parameters == static_cast<int>(wanted.size())) return;
    Report(Severity::kError, named->line, named->name,
           absl::StrCat(named->name, " is called with ", wanted.size(),
                        wanted.size() == 1 ? " argument (" : " arguments (",
                        absl::StrJoin(wanted, ", "), "), but takes ", named->parameters));
  }

  void ReportMissing() {
    // A function may also be made by other means than a definition at the top level.
    const bool assigned =
        std::any_of(facts_.globals.begin(), facts_.globals.end(),
                    [&](const auto& use) { return use.assigned && use.name == field_.function; });
    if (assigned) return;
    const std::string missing =
        absl::StrCat("there is no function ", field_.function, ", which ",
                     interpreter::OperationName(field_.operation), " calls");
    std::vector<std::string> names;
    for (const auto& function : facts_.functions) names.push_back(function.name);
    const auto nearest = NearestName(field_.function, names);
    if (!nearest) return Report(Severity::kError, 0, "", missing);
    const ScriptFacts::Function& function = facts_.functions[*nearest];
    Report(Severity::kError, function.line, function.name,
           absl::StrCat(missing, ": is it ", function.name, "?"));
  }

  void CheckGlobals() {
    std::set<std::string> assigned, read;
    for (const auto& use : facts_.globals) {
      if (!IsProbable(use.name)) continue;
      (use.assigned ? assigned : read).insert(use.name);
    }
    for (const std::string& name : assigned) read.erase(name);
    const std::map<std::string, Standing> standings = StandingsOf(read);
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
    if (is_function || use.name == field_.function || !assigned_.insert(use.name).second) return;
    Report(Severity::kWarning, use.line, use.name,
           absl::StrCat("the global ", use.name, " is assigned: write local ", use.name));
  }

  void CheckRead(const ScriptFacts::GlobalUse& use, Standing standing) {
    if (standing == Standing::kRefused) {
      Report(Severity::kError, use.line, use.name,
             absl::StrCat(use.name, " is not supported in customizations"));
    } else if (standing == Standing::kAbsent) {
      Report(Severity::kError, use.line, use.name,
             absl::StrCat("the global ", use.name, " does not exist: it is nil"));
    } else if (use.name == "string.gsub" || use.name == "string.rep") {
      Report(Severity::kWarning, use.line, use.name,
             absl::StrCat(use.name, " is here, but upstream's Karmada does not support it"));
    }
  }

  const ScriptField& field_;
  const std::string path_;
  const ScriptFacts& facts_;
  std::set<std::string> assigned_;  // Told already.
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> CheckScript(const ScriptField& field, const lua::Script& script) {
  const auto facts = lua::Inspect(script);
  if (facts.ok()) return ScriptCheck(field, *facts).Run();
  return {{Severity::kError, absl::StrCat("spec.customizations.", field.name, ".luaScript"), 0, 0,
           "", std::string(facts.status().message())}};
}

}  // namespace cmd::interpret
