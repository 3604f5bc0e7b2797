// Gives JSON to a script lazily. A table of an object begins empty, with a metatable whose
// functions look members up in the JSON behind it (sources_, found by a hidden key in the table). A
// member that is an object or array, or is assigned to, is taken over into the table and noted as
// taken, because the script may change it from then on. Fill takes over the rest and removes the
// metatable: then the table alone counts. The JSON must not move while a run lasts, since sources
// point to it; kept_ is a list whose elements stay where they are.
//
// What is read is charged to the meter. A Lua error may leave any function here; Clear after the
// run drops everything.

#include "lua/internal/sources.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

// Limits the sources that stay allocated between runs.
constexpr size_t kMaxIdle = 4096;

// LuaJIT packs pointers, so they must be small numbers: 8 is the key, values have indexes from 1
// on.
void* AsPointer(size_t number) {
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr)
}

// The bits of Source::taken. An object with more members is filled when the first one is taken.
constexpr size_t kMaxNoted = 64;

// Bytes of a string whose reading counts as one step.
constexpr size_t kBytesOfStep = 256;

bool IsContainer(const json::Value& value) { return value.is_object() || value.is_array(); }

// Returns which of the object's members has the name at 2; -1: none.
int FindMember(lua_State* state, const json::Value& object) {
  if (lua_type(state, 2) != LUA_TSTRING) return -1;  // The members of JSON have names.
  size_t size = 0;
  const char* text = lua_tolstring(state, 2, &size);
  const json::Value* value = object.Find({text, size});
  if (value == nullptr) return -1;
  // A member's number follows from its address, which saves a second search.
  const json::Member* first = object.members().data();
  const auto* start = reinterpret_cast<const char*>(&first->value);
  const auto offset = reinterpret_cast<const char*>(value) - start;
  return static_cast<int>(offset / static_cast<std::ptrdiff_t>(sizeof(json::Member)));
}

}  // namespace

void PushSourceKey(lua_State* state) { lua_pushlightuserdata(state, AsPointer(8)); }

void Sources::Register(lua_State* state) {
  lua_createtable(state, 0, 2);
  lua_pushcfunction(state, &Sources::Index);
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, &Sources::NewIndex);
  lua_setfield(state, -2, "__newindex");
  unfilled_ = luaL_ref(state, LUA_REGISTRYINDEX);
}

const json::Value& Sources::Keep(json::Value value) {
  kept_.push_back(std::move(value));
  return kept_.back();
}

void Sources::Clear() {
  sources_.clear();
  if (sources_.capacity() > kMaxIdle) std::vector<Source>().swap(sources_);
  kept_.clear();
  exact_.clear();
}

void Sources::Push(lua_State* state, const json::Value& value) { PushMember(state, value, ""); }

void Sources::PushMember(lua_State* state, const json::Value& value, absl::string_view name) {
  switch (value.type()) {
    case json::Value::Type::kNull:
      return lua_pushnil(state);
    case json::Value::Type::kBool:
      return lua_pushboolean(state, value.AsBool() ? 1 : 0);
    case json::Value::Type::kInt:
    case json::Value::Type::kDouble:
      NoteNumber(value, name);
      return lua_pushnumber(state, value.AsDouble());
    case json::Value::Type::kString: {
      const absl::string_view text = value.AsString();
      return lua_pushlstring(state, text.data(), text.size());
    }
    case json::Value::Type::kArray:
      return PushArray(state, value);
    case json::Value::Type::kObject:
      return PushObject(state, value);
  }
}

void Sources::NoteNumber(const json::Value& value, absl::string_view name) {
  const double number = value.AsDouble();
  if (std::fabs(number) < static_cast<double>(kMaxExact)) return;
  // Two different integers can become one double; then the name of the member may tell which is
  // meant.
  const Exact exact{value.type(), value.is_int() ? value.AsInt() : 0, false};
  for (const absl::string_view key : {absl::string_view(), name}) {
    const auto [it, added] = exact_.try_emplace({absl::bit_cast<uint64_t>(number), key}, exact);
    Exact& known = it->second;
    if (known.type != exact.type || known.value != exact.value) known.ambiguous = true;
  }
}

const int64_t* Sources::ExactInteger(double number, absl::string_view name) const {
  if (exact_.empty()) return nullptr;
  for (const absl::string_view key : {absl::string_view(), name}) {
    const auto it = exact_.find({absl::bit_cast<uint64_t>(number), key});
    if (it == exact_.end()) return nullptr;
    const Exact& known = it->second;
    if (!known.ambiguous) return known.type == json::Value::Type::kInt ? &known.value : nullptr;
  }
  return nullptr;
}

void Sources::PushSourced(lua_State* state, const json::Value& value) {
  sources_.push_back({.json = &value});
  PushSourceKey(state);
  lua_pushlightuserdata(state, AsPointer(sources_.size()));
  lua_rawset(state, -3);
}

void Sources::PushObject(lua_State* state, const json::Value& value) {
  lua_createtable(state, 0, 1);
  PushSourced(state, value);
  if (value.empty()) return;  // There is nothing to read.
  lua_rawgeti(state, LUA_REGISTRYINDEX, unfilled_);
  lua_setmetatable(state, -2);
}

void Sources::PushArray(lua_State* state, const json::Value& value) {
  luaL_checkstack(state, 8, "arrays in arrays are nested too deeply");
  State::Of(state).meter().Charge(state, value.size());
  lua_createtable(state, static_cast<int>(value.size()), 1);
  PushSourced(state, value);
  int index = 0;
  for (const json::Value& item : value.items()) {
    // Lua's lists have no holes: later items move up.
    if (item.is_null()) continue;
    Push(state, item);
    lua_rawseti(state, -2, ++index);
  }
}

int Sources::PlaceOf(lua_State* state, int index) const {
  PushSourceKey(state);
  lua_rawget(state, index);
  const auto number = reinterpret_cast<size_t>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  // A null pointer (no key) gives -1, too.
  return number > sources_.size() ? -1 : static_cast<int>(number) - 1;
}

Sources::Source Sources::Of(lua_State* state, int index) const {
  const int place = PlaceOf(state, index);
  if (place < 0) return {};
  Source source = sources_[static_cast<size_t>(place)];
  source.filled = lua_getmetatable(state, index) == 0;
  if (!source.filled) lua_pop(state, 1);
  return source;
}

void Sources::Fill(lua_State* state, int index) {
  if (lua_getmetatable(state, index) == 0) return;
  lua_pop(state, 1);
  const int place = PlaceOf(state, index);
  if (place >= 0) FillFrom(state, index, sources_[static_cast<size_t>(place)]);
}

// The source is a copy because those of the members are added to the list that it is from.
void Sources::FillFrom(lua_State* state, int index, Source source) {
  const absl::Span<const json::Member> members = source.json->members();
  State::Of(state).meter().Charge(state, members.size());
  luaL_checkstack(state, 8, nullptr);
  for (size_t i = 0; i < members.size(); ++i) {
    const json::Member& member = members[i];
    if (member.value.is_null() || source.HasTaken(i)) continue;
    const absl::string_view name = member.name();
    lua_pushlstring(state, name.data(), name.size());
    PushMember(state, member.value, name);
    lua_rawset(state, index);
  }
  lua_pushnil(state);
  lua_setmetatable(state, index);
}

// Pushes the member, named at 2, that the unfilled table at 1 has not taken; nil if there is none.
void Sources::PushUntaken(lua_State* state) {
  const auto place = static_cast<size_t>(PlaceOf(state, 1));
  const Source source = sources_[place];
  const int number = FindMember(state, *source.json);
  if (number < 0 || source.HasTaken(static_cast<size_t>(number))) return lua_pushnil(state);
  const json::Member& member = source.json->members()[static_cast<size_t>(number)];
  if (!IsContainer(member.value)) return PushScalar(state, member);
  if (source.json->size() > kMaxNoted) {
    FillFrom(state, 1, source);
  } else {
    lua_pushvalue(state, 2);
    PushMember(state, member.value, member.name());
    lua_rawset(state, 1);
    sources_[place].touched = true;
    // sources_ may have grown in PushMember: no reference into it is kept across that call.
    sources_[place].taken |= uint64_t{1} << number;
  }
  lua_pushvalue(state, 2);
  lua_rawget(state, 1);
}

void Sources::PushScalar(lua_State* state, const json::Member& member) {
  if (member.value.is_string()) {
    State::Of(state).meter().Charge(state, member.value.AsString().size() / kBytesOfStep);
  }
  PushMember(state, member.value, member.name());
}

// Notes that the script writes to the member, named at 2, of the unfilled table at 1.
void Sources::Take(lua_State* state) {
  Source& source = sources_[static_cast<size_t>(PlaceOf(state, 1))];
  source.touched = true;
  const int number = FindMember(state, *source.json);
  if (number < 0) return;
  if (source.json->size() > kMaxNoted) return FillFrom(state, 1, source);
  source.taken |= uint64_t{1} << number;
}

int Sources::Index(lua_State* state) {
  State& host = State::Of(state);
  host.meter().Charge(state, 1);
  lua_settop(state, 2);
  host.sources().PushUntaken(state);
  return 1;
}

int Sources::NewIndex(lua_State* state) {
  State& host = State::Of(state);
  host.meter().Charge(state, 1);
  lua_settop(state, 3);
  host.sources().Take(state);
  lua_rawset(state, 1);
  return 0;
}

}  // namespace lua::internal
