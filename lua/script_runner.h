// Calls functions of scripts, in bounds.
//
//   lua::ScriptRunner runner({KubeLibrary()});
//   ASSIGN_OR_RETURN(lua::Outcome outcome, runner.Run(*script, {"GetReplicas", {template_json},
//   2}));
//
// States are pooled: a run takes an idle one (made when there is none), gives the script a fresh
// global table over read-only libraries, and puts the state back, so that nothing of a run is left
// for the next one. A state whose run was ended by the budget is thrown away. JIT is off.
// What a script sees: lua/README.md.
// Threads: Run may be called from any number of threads; each run has a state of its own, and none
// waits for another.
#ifndef LUA_SCRIPT_RUNNER_H_
#define LUA_SCRIPT_RUNNER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "lua/library.h"
#include "lua/script.h"
#include "lua/value.h"

namespace lua {

struct Budget {
  // CPU time of one run, loading included. Time in which other processes, or a container's quota,
  // keep the thread from running does not count.
  absl::Duration time = absl::Seconds(1);
  // Wall time of one run, whether the thread was running or not; never less than `time`.
  absl::Duration wall = absl::Seconds(30);
  // Bytes that a run may hold at a time. Results of libraries count until the run is over.
  size_t memory = size_t{64} << 20;
  size_t largest_block = size_t{16} << 20;  // Bytes of one string or table part.
  // Bytes of JSON in a result, in memory and as text. An argument, or a part of one, that is
  // returned whole and unchanged does not count.
  size_t result = size_t{16} << 20;
  int max_depth = 256;  // Nesting of tables in a result.
};

struct Call {
  std::string function;
  std::vector<json::Value> arguments;  // A null becomes nil.
  int results = 1;
  // Determines the shape of empty tables that the script made, inside a result. A table at a path
  // (without array indexes) where some argument has `{}` or `[]` becomes that; other empty tables,
  // and all of them when this is false, are left out. (Tables that came with the arguments keep
  // their shape.) As upstream's ConvertLuaResultInto, docs/differences.md.
  bool arguments_are_references = false;
};

struct Usage {
  absl::Duration time;
  size_t peak_memory = 0;  // The most bytes that the run held at a time.
  size_t garbage = 0;      // Bytes allocated during the run.
};

struct Outcome {
  std::vector<Value> results;  // As many as Call::results.
  Usage usage;
};

class ScriptRunner {
 public:
  struct Options {
    std::vector<Library> libraries;
    Budget budget;
    // Used by os.time and os.date; the budget is measured with the machine's clocks.
    const base::Clock* clock = nullptr;  // nullptr: the real one.
    size_t max_idle_states = 16;
    // Counts states taken and given back (pool_get_operation_total, pool_put_operation_total, as
    // upstream's pool of Lua VMs); nullptr: nothing is counted. Must outlive the runner.
    metrics::Registry* metrics = nullptr;
  };
  explicit ScriptRunner(Options options);
  ~ScriptRunner();
  ScriptRunner(const ScriptRunner&) = delete;
  ScriptRunner& operator=(const ScriptRunner&) = delete;

  // Errors: kInvalidArgument when the script defines no such function, when it raises, or when what
  // it returns cannot be JSON (cycles, mixed keys, functions, not-a-number);
  // kDeadlineExceeded and kResourceExhausted when the budget ended it. Messages name script,
  // function and line: "my-customization/healthInterpretation:12: in InterpretHealth: ...".
  absl::StatusOr<Outcome> Run(const Script& script, const Call& call) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lua

#endif  // LUA_SCRIPT_RUNNER_H_
