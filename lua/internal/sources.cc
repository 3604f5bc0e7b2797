#include "lua/internal/sources.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/string_view.h"
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
  values_.clear();
  if (values_.capacity() > kMaxIdle) std::vector<const json::Value*>().swap(values_);
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
  values_.push_back(&value);
  PushSourceKey(state);
  lua_pushlightuserdata(state, AsPointer(values_.size()));
  lua_rawset(state, -3);
}

void Sources::PushObject(lua_State* state, const json::Value& value) {
  lua_createtable(state, 0, static_cast<int>(value.size()) + 1);
  PushSourced(state, value);
  if (value.empty()) return;  // There is nothing to fill in.
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
    if (item.is_null()) continue;
    Push(state, item);
    lua_rawseti(state, -2, ++index);
  }
}

Sources::Source Sources::Of(lua_State* state, int index) const {
  PushSourceKey(state);
  lua_rawget(state, index);
  const auto number = reinterpret_cast<size_t>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  if (number == 0 || number > values_.size()) return {};
  const bool unfilled = lua_getmetatable(state, index) != 0;
  if (unfilled) lua_pop(state, 1);
  return {values_[number - 1], !unfilled};
}

void Sources::Fill(lua_State* state, int index) {
  if (lua_getmetatable(state, index) == 0) return;
  lua_pop(state, 1);
  const Source source = Of(state, index);
  if (source.json != nullptr) FillFrom(state, index, *source.json);
}

void Sources::FillFrom(lua_State* state, int index, const json::Value& value) {
  State::Of(state).meter().Charge(state, value.size());
  luaL_checkstack(state, 8, nullptr);
  for (const json::Member& member : value.members()) {
    if (member.value.is_null()) continue;
    const absl::string_view name = member.name();
    lua_pushlstring(state, name.data(), name.size());
    PushMember(state, member.value, name);
    lua_rawset(state, index);
  }
  lua_pushnil(state);
  lua_setmetatable(state, index);
}

int Sources::Index(lua_State* state) {
  State::Of(state).sources().Fill(state, 1);
  lua_settop(state, 2);
  lua_rawget(state, 1);
  return 1;
}

int Sources::NewIndex(lua_State* state) {
  State::Of(state).sources().Fill(state, 1);
  lua_settop(state, 3);
  lua_rawset(state, 1);
  return 0;
}

}  // namespace lua::internal
