// Determines what exists once a script has been loaded. It asks the sandbox that runs the script,
// so that there is no second list of its functions.
#ifndef INTERPRETER_CHECK_SCRIPT_PROBE_H_
#define INTERPRETER_CHECK_SCRIPT_PROBE_H_

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lua/script.h"

namespace interpreter::check {

// The standing of a global, or of a member of a library, in the sandbox.
enum class Standing { kThere, kRefused, kAbsent };
// Returns the standing of globals before any script has run. A refused function is one that fails
// with a message when it is called. REQUIRES: the names are identifiers, with a dot between library
// and member.
std::map<std::string, Standing> StandingsOf(const std::set<std::string>& names);

// The result of a script's top level, with which every run begins.
struct LoadedScript {
  enum class Presence { kThere, kNoModule, kNoMember };
  std::string function_type;     // The type() of the requested function; "nil" without one.
  std::set<std::string> absent;  // The requested globals that do not exist.
  std::map<std::pair<std::string, std::string>, Presence> modules;  // By module and member.
};
struct Questions {
  absl::string_view function;
  std::set<std::string> globals;  // As for StandingsOf.
  std::set<std::pair<std::string, std::string>> modules;
};
// Runs the top level within the limits of a run; of the script's functions only those that it
// requires from package.preload are called. Errors are those of lua::ScriptRunner::Run; kOutOfRange
// for a script that leaves no room for the questions.
absl::StatusOr<LoadedScript> Load(const lua::Script& script, const Questions& questions);

}  // namespace interpreter::check

#endif  // INTERPRETER_CHECK_SCRIPT_PROBE_H_
