// Converts JSON to Lua: what a script does not read is not converted.
//
// An object becomes a table that refers, under a key no script can make, to its JSON. Members are
// looked up there when they are read. A scalar is looked up each time. A member that is an object
// or an array, or that the script writes, is kept in the table itself from then on, and the source
// notes that it has been taken: what the table holds counts for it, even if that is nothing. A walk
// over all members fills the table: it takes the rest of them. Arrays are filled at once, because
// Lua 5.1 has no hook for # on a table. A table keeps the reference to its JSON, so that the
// Encoder sees what a script has changed.
#ifndef LUA_INTERNAL_SOURCES_H_
#define LUA_INTERNAL_SOURCES_H_

#include <cstdint>
#include <deque>
#include <lua.hpp>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace lua::internal {

// Below this bound every integer is exactly one double.
constexpr int64_t kMaxExact = int64_t{1} << 53;

// Functions that take a lua_State may raise unless their comment says that they do not. Stack
// indexes are absolute.
class Sources {
 public:
  // Makes the metatable of unfilled tables. REQUIRES: is called once for a state.
  void Register(lua_State* state);

  // Pushes the Lua form of the value, which must not move until Clear.
  void Push(lua_State* state, const json::Value& value);
  // Keeps a value until Clear. Does not raise.
  const json::Value& Keep(json::Value value);

  // Fills a table that is not filled yet. Functions that read or write a table with raw access must
  // call it first.
  void Fill(lua_State* state, int index);

  struct Source {
    const json::Value* json = nullptr;  // nullptr: the script made this table.
    bool filled = true;
    // Of a table that is not filled: whether it may differ from the JSON, and which members of the
    // JSON it has taken, the first one in the lowest bit.
    bool touched = false;
    uint64_t taken = 0;

    bool HasTaken(size_t member) const { return member < 64 && (taken >> member & 1) != 0; }
  };
  // Returns the source of the table at `index`. Does not raise.
  Source Of(lua_State* state, int index) const;

  // Returns the integer from 2^53 on that became this double, if there is only one such integer, or
  // only one in members of this name; else nullptr. Does not raise.
  const int64_t* ExactInteger(double number, absl::string_view name) const;

  // Must be called after the run.
  void Clear();

 private:
  struct Exact {
    json::Value::Type type;  // The type of the number that came first.
    int64_t value;
    bool ambiguous;
  };

  static int Index(lua_State* state);
  static int NewIndex(lua_State* state);
  // Returns the place in sources_ of the source of the table at `index`; -1: it has none.
  int PlaceOf(lua_State* state, int index) const;
  void PushUntaken(lua_State* state);
  void PushScalar(lua_State* state, const json::Member& member);
  void Take(lua_State* state);
  // `name` is the name of the member with the value; empty for items.
  void PushMember(lua_State* state, const json::Value& value, absl::string_view name);
  void NoteNumber(const json::Value& value, absl::string_view name);
  void PushObject(lua_State* state, const json::Value& value);
  void PushArray(lua_State* state, const json::Value& value);
  void PushSourced(lua_State* state, const json::Value& value);
  void FillFrom(lua_State* state, int index, Source source);

  int unfilled_ = 0;  // The metatable of unfilled tables, in the registry.
  // `filled` has no meaning here: a table is filled once it has no metatable.
  std::vector<Source> sources_;
  std::deque<json::Value> kept_;
  // The key is the bits of the double and the member's name. The name "" stands for all members.
  absl::flat_hash_map<std::pair<uint64_t, absl::string_view>, Exact> exact_;
};

// Pushes the hidden key of a table's source.
void PushSourceKey(lua_State* state);
// Returns whether the value at `index` is that key: functions that list keys skip it.
inline bool IsSourceKey(lua_State* state, int index) {
  return lua_type(state, index) == LUA_TLIGHTUSERDATA;
}

}  // namespace lua::internal

#endif  // LUA_INTERNAL_SOURCES_H_
