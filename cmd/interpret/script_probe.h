// What is there once a script has been loaded, asked of the sandbox that runs it, so that there is
// no second list of what the sandbox has.
#ifndef CMD_INTERPRET_SCRIPT_PROBE_H_
#define CMD_INTERPRET_SCRIPT_PROBE_H_

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lua/script.h"

namespace cmd::interpret {

// What the sandbox has under the name of a global, or of a library's member.
enum class Standing { kThere, kRefused, kAbsent };
// How globals stand before any script has run. A refused function is one that says so when it is
// called. REQUIRES: the names are identifiers, with a dot between library and member.
std::map<std::string, Standing> StandingsOf(const std::set<std::string>& names);

// What came of a script's top level, which every run begins with.
struct LoadedScript {
  enum class Presence { kThere, kNoModule, kNoMember };
  std::string function_type;     // type() of the function that is asked for, "nil" without one.
  std::set<std::string> absent;  // Those of the globals asked for that are not there.
  std::map<std::pair<std::string, std::string>, Presence> modules;  // By module and member.
};
struct Questions {
  absl::string_view function;
  std::set<std::string> globals;  // As for StandingsOf.
  std::set<std::pair<std::string, std::string>> modules;
};
// Runs the top level, within a run's bounds, and no function of the script but what it requires
// from package.preload. Errors are those of lua::ScriptRunner::Run, kOutOfRange for a script that
// has no room for the questions.
absl::StatusOr<LoadedScript> Load(const lua::Script& script, const Questions& questions);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_SCRIPT_PROBE_H_
