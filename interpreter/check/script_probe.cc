#include "interpreter/check/script_probe.h"

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "interpreter/customized/script_libraries.h"
#include "lua/script_runner.h"

namespace interpreter::check {
namespace {

absl::StatusOr<json::Value> RunIn(const lua::Script& script, const std::string& function) {
  lua::ScriptRunner::Options options;
  options.libraries = interpreter::customized::ScriptLibraries();
  const lua::ScriptRunner runner(std::move(options));
  lua::Call call;
  call.function = function;
  ASSIGN_OR_RETURN(const lua::Outcome outcome, runner.Run(script, call));
  return outcome.results[0].json;
}

std::string LibraryOf(const std::string& name) { return name.substr(0, name.find('.')); }

// Returns a Lua string literal with these bytes.
std::string Quoted(absl::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    absl::StrAppend(&quoted, "\\", absl::Dec(static_cast<unsigned char>(c), absl::kZeroPad3));
  }
  return quoted + "'";
}

constexpr char kProbe[] = "karmada_interpret_probe";

// The text is one line, so that the lines of the script after it keep their numbers.
std::string ProbeText(const Questions& questions) {
  std::string text = absl::StrCat(
      "function ", kProbe, "() local function Try(module, member) ",
      "local found, library = pcall(require, module) if not found then return 1 end ",
      "if member ~= '' and type(library) == 'table' and library[member] == nil then return 2 end ",
      "return 0 end local globals, modules = {}, {} ");
  for (const std::string& name : questions.globals) {
    absl::StrAppend(&text, "globals['", name, "'] = (", LibraryOf(name), " and ", name,
                    ") == nil ");
  }
  for (const auto& [module, member] : questions.modules) {
    absl::StrAppend(&text, "modules[#modules + 1] = Try(", Quoted(module), ", ", Quoted(member),
                    ") ");
  }
  absl::StrAppend(&text, "return {function_type = type(", questions.function,
                  "), globals = globals, modules = modules} end ");
  return text;
}

}  // namespace

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
    absl::StrAppend(&text, "  out['", name, "'] = Of(", LibraryOf(name), " and ", name, ")\n");
  }
  text += "  return out\nend\n";
  std::map<std::string, Standing> standings;
  const auto script = lua::Script::Compile("probe", text);
  if (!script.ok()) return standings;
  const auto answer = RunIn(**script, "Probe");
  if (!answer.ok()) return standings;
  for (const json::Member& member : answer->members()) {
    const absl::string_view word = member.value.AsString();
    standings[std::string(member.name())] = word == "refused"  ? Standing::kRefused
                                            : word == "absent" ? Standing::kAbsent
                                                               : Standing::kThere;
  }
  return standings;
}

absl::StatusOr<LoadedScript> Load(const lua::Script& script, const Questions& questions) {
  const auto asking =
      lua::Script::Compile(script.name(), absl::StrCat(ProbeText(questions), script.text()));
  // The script compiles alone, so together with the questions it is too large for the compiler.
  if (!asking.ok()) return absl::OutOfRangeError(asking.status().message());
  ASSIGN_OR_RETURN(const json::Value answer, RunIn(**asking, kProbe));
  LoadedScript loaded;
  loaded.function_type = answer["function_type"].ToString();
  for (const std::string& name : questions.globals) {
    if (answer["globals"][name].AsBool()) loaded.absent.insert(name);
  }
  size_t index = 0;
  for (const auto& use : questions.modules) {
    const int64_t code = answer["modules"].At(index++).AsInt();
    loaded.modules[use] = code == 1   ? LoadedScript::Presence::kNoModule
                          : code == 2 ? LoadedScript::Presence::kNoMember
                                      : LoadedScript::Presence::kThere;
  }
  return loaded;
}

}  // namespace interpreter::check
