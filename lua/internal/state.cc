// One Lua state, and one run in it at a time. A run happens inside one protected call (InRun): push
// the compiled chunk, give it a fresh global table over the read-only libraries, execute it, look
// up the function, call it, encode the results. ErrorOf handles every error; the meter shows
// whether the script or a bound is to blame. Settle clears what the run has left; a state in which
// anything else has changed, or whose run was ended by a bound, is not used again.

#include "lua/internal/state.h"

#include <luajit.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "lua/internal/libraries.h"
#include "lua/internal/library_tables.h"
#include "lua/internal/number.h"

namespace lua::internal {
namespace {

// Stack indexes of what every state has at the bottom of its stack.
constexpr int kErrorHandler = 1;
constexpr int kInRun = 2;
constexpr int kCleanUp = 3;

// Bytes of garbage that runs may leave before it is collected: about that of a hundred usual
// scripts.
constexpr size_t kIdleGarbage = size_t{512} << 10;
// Bytes. A state that has once been larger is not kept.
constexpr size_t kMaxIdleMemory = size_t{4} << 20;

constexpr size_t kMaxIdleText = 4096;

constexpr uint64_t kRandomSeed = 0x9e3779b97f4a7c15;

absl::string_view EndText(End end) {
  switch (end) {
    case End::kTime:
      return "ran longer than ";
    case End::kMemory:
      return "needs more memory than ";
    case End::kBlock:
      return "needs a string or table larger than ";
    default:
      return "returns or passes on more JSON than ";
  }
}

size_t EndLimit(End end, const Budget& budget) {
  if (end == End::kMemory) return budget.memory;
  return end == End::kBlock ? budget.largest_block : budget.result;
}

}  // namespace

State& State::Of(lua_State* state) {
  void* self = nullptr;
  lua_getallocf(state, &self);
  return *static_cast<State*>(self);
}

void* State::Allocate(void* self, void* block, size_t old_size, size_t new_size) {
  return static_cast<State*>(self)->meter_.Allocate(block, old_size, new_size);
}

absl::StatusOr<std::unique_ptr<State>> State::NewBare(const Setting& setting) {
  std::unique_ptr<State> host(new State(setting));
  lua_State* state = lua_newstate(&State::Allocate, host.get());
  if (state == nullptr) return absl::ResourceExhaustedError("no memory for a Lua state");
  // Compiled traces do not call the count hook, by which the meter bounds the time.
  luaJIT_setmode(state, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  lua_gc(state, LUA_GCSTOP, 0);
  host->state_ = state;
  return host;
}

absl::StatusOr<std::unique_ptr<State>> State::New(const Setting& setting) {
  ASSIGN_OR_RETURN(std::unique_ptr<State> host, NewBare(setting));
  lua_State* const state = host->state_;
  if (lua_cpcall(state, &State::Initialize, nullptr) != 0) {
    return absl::ResourceExhaustedError("no memory for a Lua state");
  }
  lua_settop(state, 0);
  lua_pushcfunction(state, &State::OnError);
  lua_pushcfunction(state, &State::InRun);
  lua_pushcfunction(state, &State::CleanUp);
  lua_gc(state, LUA_GCCOLLECT, 0);
  lua_gc(state, LUA_GCSTOP, 0);
  host->settled_ = host->meter_.heap().held();
  host->meter_.Attach(state);
  return host;
}

int State::Initialize(lua_State* state) {
  State& host = Of(state);
  host.sources_.Register(state);
  LibraryTables tables = MakeLibraryTables(state, host.setting_.libraries);
  host.globals_metatable_ = tables.globals_metatable;
  host.library_tables_ = tables.libraries;
  host.string_metatable_ = tables.string_metatable;
  return 0;
}

absl::StatusOr<Outcome> State::Run(const Script& script, const Call& call, const Budget& budget) {
  script_ = &script;
  call_ = &call;
  failure_ = absl::StatusCode::kInvalidArgument;
  // Each run has the same random numbers, so that equal arguments give equal results.
  extras_ = {.random = kRandomSeed};
  meter_.Begin(budget);
  lua_pushvalue(state_, kInRun);
  const int status = lua_pcall(state_, 0, 0, kErrorHandler);
  absl::Status error = ErrorOf(status);
  Outcome outcome;
  outcome.usage = meter_.Finish();
  outcome.results = std::move(results_);
  results_.clear();
  Settle();
  if (!error.ok()) return error;
  return outcome;
}

int State::InRun(lua_State* state) {
  State& host = Of(state);
  host.chunks_.Push(state, *host.script_);
  host.PushGlobals(state);
  lua_pushvalue(state, -1);
  lua_setfenv(state, -3);
  lua_insert(state, 1);  // Keep the globals at 1.
  lua_call(state, 0, 0);
  host.FindFunction(state);
  host.CallFunction(state);
  return 0;
}

absl::Status State::Check(const Script& script) {
  const Setting setting{{}, base::RealClock()};
  ASSIGN_OR_RETURN(const std::unique_ptr<State> state, NewBare(setting));
  state->meter_.Attach(state->state_);
  return state->CheckHere(script);
}

absl::Status State::CheckHere(const Script& script) {
  script_ = &script;
  meter_.Begin(Budget());
  const int status = lua_cpcall(state_, &State::InCheck, nullptr);
  const Blame blame = status == 0 ? Blame() : BlameOf(status);
  meter_.Finish();
  if (status == 0) return absl::OkStatus();
  const std::string line = blame.line > 0 ? absl::StrCat(":", blame.line) : "";
  return absl::InvalidArgumentError(absl::StrCat(script.name(), line, ": ", blame.message));
}

// Reading a number like 1LL makes LuaJIT load its foreign function interface, which is not part of
// Lua. The table of loaded modules shows whether it did.
int State::InCheck(lua_State* state) {
  lua_newtable(state);
  lua_pushvalue(state, -1);
  lua_setfield(state, LUA_REGISTRYINDEX, "_LOADED");
  if (!LoadText(state, *Of(state).script_)) lua_error(state);
  lua_getfield(state, 2, "ffi");
  if (!lua_isnil(state, -1)) {
    luaL_error(state, "malformed number: the suffixes LL, ULL and i are not Lua 5.1");
  }
  return 0;
}

// Pushes a new table over the base functions, with itself as _G.
void State::PushGlobals(lua_State* state) {
  lua_createtable(state, 0, 7);
  lua_pushvalue(state, -1);
  lua_setfield(state, -2, "_G");
  lua_rawgeti(state, LUA_REGISTRYINDEX, globals_metatable_);
  lua_setmetatable(state, -2);
}

void State::FindFunction(lua_State* state) {
  lua_pushlstring(state, call_->function.data(), call_->function.size());
  lua_rawget(state, 1);
  if (lua_isfunction(state, -1)) return;
  const char* name = call_->function.c_str();
  if (lua_isnil(state, -1)) {
    lua_pushfstring(state, "not found function %s", name);
  } else {
    lua_pushfstring(state, "%s is not a function: %s", name, luaL_typename(state, -1));
  }
  lua_error(state);
}

void State::CallFunction(lua_State* state) {
  const int first = lua_gettop(state);
  luaL_checkstack(state, static_cast<int>(call_->arguments.size()) + 20, "too many arguments");
  for (const json::Value& argument : call_->arguments) sources_.Push(state, argument);
  lua_call(state, static_cast<int>(call_->arguments.size()), call_->results);
  TakeResults(state, first);
}

void State::TakeResults(lua_State* state, int first) {
  luaL_checkstack(state, 20, "too many results");
  encoder_.SetReferences(call_->arguments_are_references ? absl::MakeConstSpan(call_->arguments)
                                                         : absl::Span<const json::Value>());
  for (int i = 0; i < call_->results; ++i) {
    encoder_.Encode(state, first + i);
    KeepResult();
  }
}

void State::KeepResult() { results_.push_back(std::move(encoder_.result())); }

int State::OnError(lua_State* state) {
  Of(state).meter_.NotePosition(state);
  return 1;
}

absl::Status State::ErrorOf(int status) {
  const End end = meter_.ended();
  if (status == 0 && end == End::kNone) return absl::OkStatus();
  if (end == End::kTime) failure_ = absl::StatusCode::kDeadlineExceeded;
  if (status == LUA_ERRMEM || (end != End::kNone && end != End::kTime)) {
    failure_ = absl::StatusCode::kResourceExhausted;
  }
  const Blame blame = BlameOf(status);
  const Position& at = meter_.position();
  // An error outside of any function is blamed on the one that was called.
  const absl::string_view function =
      at.line > 0 && at.function[0] != 0 ? absl::string_view(at.function) : call_->function;
  std::string where = script_->name();
  if (blame.line > 0) absl::StrAppend(&where, ":", blame.line);
  return absl::Status(failure_, absl::StrCat(where, ": in ", function, ": ", blame.message));
}

State::Blame State::BlameOf(int status) {
  const End end = meter_.ended();
  const int line = meter_.position().line;
  if (end == End::kTime) {
    return {line, absl::StrCat(EndText(end), absl::FormatDuration(meter_.time_limit()))};
  }
  if (end != End::kNone) {
    return {line, absl::StrCat(EndText(end), EndLimit(end, meter_.budget()), " bytes")};
  }
  if (status == LUA_ERRMEM) return {line, "the machine has no more memory"};
  Blame blame{line, ErrorText()};
  // A place in the message takes precedence: a script may have given error() a level to blame.
  absl::string_view rest = blame.message;
  if (!absl::ConsumePrefix(&rest, absl::StrCat(script_->chunk_name().substr(1), ":"))) return blame;
  const size_t colon = rest.find(": ");
  int named = 0;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(rest.substr(0, colon), &named)) {
    return blame;
  }
  return {named, std::string(rest.substr(colon + 2))};
}

// Returns the error value as text; does not touch the allocator.
std::string State::ErrorText() {
  switch (lua_type(state_, -1)) {
    case LUA_TSTRING: {
      size_t size = 0;
      const char* text = lua_tolstring(state_, -1, &size);
      return std::string(text, std::min<size_t>(size, 4096));
    }
    case LUA_TNUMBER:
      return std::string(NumberText(lua_tonumber(state_, -1)).view());
    default:
      return absl::StrCat("(error object is a ", luaL_typename(state_, -1), " value)");
  }
}

int State::CleanUp(lua_State* state) {
  State& host = Of(state);
  if (host.library_written_) EmptyLibraryTables(state, host.library_tables_);
  host.library_written_ = false;
  return 0;
}

// Restores the state as it was before the run, or marks it as not reusable.
void State::Settle() {
  encoder_.Clear();
  sources_.Clear();
  if (scratch_.capacity() > kMaxIdleText) std::string().swap(scratch_);
  lua_settop(state_, kCleanUp);
  // A bound may have ended it anywhere, even inside a library: the state is not trusted any more.
  if (meter_.ended() != End::kNone) {
    reusable_ = false;
    return;
  }
  lua_pushvalue(state_, kCleanUp);
  const bool clean = lua_pcall(state_, 0, 0, 0) == 0;
  reusable_ = clean && IsPristine() && meter_.heap().reserved() <= kMaxIdleMemory;
  if (!reusable_) return;
  // Collecting after every run would cost more than most runs.
  if (meter_.heap().held() > settled_ + kIdleGarbage) {
    lua_gc(state_, LUA_GCCOLLECT, 0);
    settled_ = meter_.heap().held();
  }
  lua_gc(state_, LUA_GCSTOP, 0);
}

bool State::IsPristine() {
  const bool same = LibraryTablesArePristine(state_, library_tables_, string_metatable_);
  return same && lua_gettop(state_) == kCleanUp && lua_gethookmask(state_) == LUA_MASKCOUNT;
}

}  // namespace lua::internal
