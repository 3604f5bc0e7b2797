// Calls functions in C++ from scripts (lua/library.h).

#include <utility>

#include "lua/internal/json_size.h"
#include "lua/internal/libraries.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

void KeepArgument(State& host) {
  host.extras().arguments.push_back(std::move(host.encoder().result()));
}

// Stores the results, or the message of the error, in the state. Does not raise.
bool CallBound(State& host, const LibraryFunction& function) {
  absl::StatusOr<std::vector<Value>> results = function(host.extras().arguments);
  host.extras().arguments.clear();
  if (!results.ok()) {
    host.scratch() = std::string(results.status().message());
    return false;
  }
  host.extras().results = *std::move(results);
  return true;
}

const json::Value& KeepResult(State& host, size_t index) {
  return host.sources().Keep(std::move(host.extras().results[index].json));
}

// Memory that a value in a result takes, approximately. It is charged until the end of the run,
// even if the script drops the result.
constexpr size_t kBytesOfValue = 64;

void ChargeResult(lua_State* state, const json::Value& result) {
  Meter& meter = State::Of(state).meter();
  const JsonSize size = SizeOf(result);
  meter.Charge(state, size.values);
  meter.ChargeKept(state, size.bytes + size.values * kBytesOfValue);
}

// Upvalue 1: the LibraryFunction, which lives as long as the runner.
int Call(lua_State* state) {
  State& host = State::Of(state);
  const auto* function =
      static_cast<const LibraryFunction*>(lua_touserdata(state, lua_upvalueindex(1)));
  host.extras().arguments.clear();
  const int count = lua_gettop(state);
  luaL_checkstack(state, 20, "too many arguments");
  const size_t charged = host.meter().result_bytes();
  for (int i = 1; i <= count; ++i) {
    host.encoder().Encode(state, i);
    KeepArgument(host);
  }
  const bool answered = CallBound(host, *function);
  host.meter().ForgetResultSince(charged);
  if (!answered) {
    luaL_where(state, 1);
    lua_pushlstring(state, host.scratch().data(), host.scratch().size());
    lua_concat(state, 2);
    return lua_error(state);
  }
  const auto results = static_cast<int>(host.extras().results.size());
  luaL_checkstack(state, results + 20, "too many results");
  for (int i = 0; i < results; ++i) {
    ChargeResult(state, host.extras().results[static_cast<size_t>(i)].json);
    host.sources().Push(state, KeepResult(host, static_cast<size_t>(i)));
  }
  if (host.meter().TimeIsUp()) host.meter().Rethrow(state);
  return results;
}

}  // namespace

void AddBoundFunctions(lua_State* state, const Library& library) {
  for (const Library::Entry& entry : library.functions) {
    lua_pushlightuserdata(state, const_cast<LibraryFunction*>(&entry.function));
    lua_pushcclosure(state, &Call, 1);
    lua_setfield(state, -2, entry.name.c_str());
  }
}

}  // namespace lua::internal
