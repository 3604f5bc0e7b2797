// JSON on its way into Lua: tables that are filled when a script looks into them.
//
// An object arrives as an empty table that knows, under a key no script can make, which JSON it
// stands for; the first access fills in its members, which are such tables again. Arrays are filled
// at once, since Lua 5.1 lets nobody see the use of # on a table. A table keeps the knowledge of
// its JSON, so that the way back (Encoder) sees what a script has changed.
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

// Every integer below is a double of its own.
constexpr int64_t kMaxExact = int64_t{1} << 53;

// Functions that take a lua_State may raise unless they say not. Indexes of the stack are absolute.
class Sources {
 public:
  // Makes the metatable of unfilled tables, once for a state.
  void Register(lua_State* state);

  // Pushes what the value is in Lua. It must stay where it is until Clear.
  void Push(lua_State* state, const json::Value& value);
  // Keeps a value until Clear. Does not raise.
  const json::Value& Keep(json::Value value);

  // Fills a table if need be, before a function of ours reads or writes it with raw access.
  void Fill(lua_State* state, int index);

  struct Source {
    const json::Value* json = nullptr;  // nullptr: the script made this table.
    bool filled = true;
  };
  // The source of the table at `index`. Does not raise.
  Source Of(lua_State* state, int index) const;

  // The integer from 2^53 on that became this double: the only one, or else the only one in members
  // of this name. nullptr when that is not known. Does not raise.
  const int64_t* ExactInteger(double number, absl::string_view name) const;

  // The run is over.
  void Clear();

 private:
  struct Exact {
    json::Value::Type type;  // A double may have the value of an integer.
    int64_t value;
    bool ambiguous;
  };

  static int Index(lua_State* state);
  static int NewIndex(lua_State* state);
  // `name` is that of the member the value stands in; empty for items.
  void PushMember(lua_State* state, const json::Value& value, absl::string_view name);
  void NoteNumber(const json::Value& value, absl::string_view name);
  void PushObject(lua_State* state, const json::Value& value);
  void PushArray(lua_State* state, const json::Value& value);
  void PushSourced(lua_State* state, const json::Value& value);
  void FillFrom(lua_State* state, int index, const json::Value& value);

  int unfilled_ = 0;  // The metatable, in the registry.
  std::vector<const json::Value*> values_;
  std::deque<json::Value> kept_;
  // The key is the bits of the double and the member's name; what is true of all has the name "".
  absl::flat_hash_map<std::pair<uint64_t, absl::string_view>, Exact> exact_;
};

// The hidden key under which a table knows its source.
void PushSourceKey(lua_State* state);
// Returns whether the value at `index` is that key: functions that list keys pass over it.
inline bool IsSourceKey(lua_State* state, int index) {
  return lua_type(state, index) == LUA_TLIGHTUSERDATA;
}

}  // namespace lua::internal

#endif  // LUA_INTERNAL_SOURCES_H_
