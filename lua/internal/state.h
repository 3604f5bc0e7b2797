// One LuaJIT state with its libraries, its compiled chunks and the run that uses it.
//
// Everything that touches the state during a run happens inside one protected call (InRun), so that
// any error, "not enough memory" included, ends there. An error may leave a function called by Lua
// at any call into Lua, so such functions own nothing: what must be freed lives in members of
// State.
#ifndef LUA_INTERNAL_STATE_H_
#define LUA_INTERNAL_STATE_H_

#include <cstdint>
#include <lua.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "lua/internal/chunk_cache.h"
#include "lua/internal/encoder.h"
#include "lua/internal/meter.h"
#include "lua/internal/sources.h"
#include "lua/library.h"
#include "lua/script_runner.h"

namespace lua::internal {

// What the states of one runner share. It must outlive them.
struct Setting {
  std::vector<Library> libraries;
  const base::Clock& clock;
};

// Data of one run for the libraries of scripts.
struct RunExtras {
  std::vector<Value> arguments;  // Arguments of the current call of a bound function.
  std::vector<Value> results;    // Results of that call.
  uint64_t random = 0;           // State of math.random.
  int printed_lines = 0;         // Limits the output of print.
};

// REQUIRES: one thread at a time.
class State {
 public:
  // kResourceExhausted when the machine has no memory for it.
  static absl::StatusOr<std::unique_ptr<State>> New(const Setting& setting);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  absl::StatusOr<Outcome> Run(const Script& script, const Call& call, const Budget& budget);

  // Checks whether the script compiles; kInvalidArgument contains the reason if not. It takes a
  // state of its own, without libraries, which are most of what a state costs.
  static absl::Status Check(const Script& script);

  // Returns whether the state is as it was before its last run, and small enough to be kept.
  bool reusable() const { return reusable_; }

  // Returns the state behind an activation, for functions called by Lua.
  static State& Of(lua_State* state);

  Meter& meter() { return meter_; }
  Sources& sources() { return sources_; }
  Encoder& encoder() { return encoder_; }
  RunExtras& extras() { return extras_; }
  const Setting& setting() const { return setting_; }
  // A text that functions may use between two calls into Lua.
  std::string& scratch() { return scratch_; }

  // Must be called when a table of a library was written to; it is emptied after the run.
  void NoteWrittenLibrary() { library_written_ = true; }

 private:
  explicit State(const Setting& setting) : setting_(setting), encoder_(*this) {}

  // Returns a state without libraries; kResourceExhausted as New().
  static absl::StatusOr<std::unique_ptr<State>> NewBare(const Setting& setting);
  static void* Allocate(void* self, void* block, size_t old_size, size_t new_size);
  static int Initialize(lua_State* state);
  static int InRun(lua_State* state);
  static int InCheck(lua_State* state);
  absl::Status CheckHere(const Script& script);
  static int OnError(lua_State* state);
  static int CleanUp(lua_State* state);
  void CallFunction(lua_State* state);
  void PushGlobals(lua_State* state);
  void FindFunction(lua_State* state);
  void TakeResults(lua_State* state, int first);
  void KeepResult();
  struct Blame {
    int line = 0;  // 0: unknown.
    std::string message;
  };
  absl::Status ErrorOf(int status);
  Blame BlameOf(int status);
  std::string ErrorText();
  void Settle();
  bool IsPristine();

  const Setting& setting_;
  Meter meter_;
  Sources sources_;
  Encoder encoder_;
  ChunkCache chunks_;
  RunExtras extras_;
  std::string scratch_;
  lua_State* state_ = nullptr;
  size_t settled_ = 0;  // Bytes held after the last full collection.
  bool reusable_ = true;
  bool library_written_ = false;

  // References into the registry.
  int globals_metatable_ = 0;
  int library_tables_ = 0;
  int string_metatable_ = 0;

  // Members of the current run.
  const Script* script_ = nullptr;
  const Call* call_ = nullptr;
  absl::StatusCode failure_ = absl::StatusCode::kInvalidArgument;
  std::vector<Value> results_;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_STATE_H_
