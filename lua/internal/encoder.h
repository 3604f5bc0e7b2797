// Converts Lua values back to JSON.
//
// A table that the script did not change becomes the JSON that it came from (shared, at no cost); a
// changed one becomes that JSON with the differences; tables that the script made become objects or
// arrays, depending on their keys.
#ifndef LUA_INTERNAL_ENCODER_H_
#define LUA_INTERNAL_ENCODER_H_

#include <cstdint>
#include <lua.hpp>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "lua/internal/object_changes.h"
#include "lua/internal/sources.h"
#include "lua/value.h"

namespace lua::internal {

class State;

// Keeps everything it builds in its members, because a Lua error may leave any of its functions.
class Encoder {
 public:
  explicit Encoder(State& host) : host_(host) {}

  // The references determine the shape of empty tables that the script made; see
  // Call::arguments_are_references. Without references such tables are left out. They must outlive
  // the calls of Encode.
  void SetReferences(absl::Span<const json::Value> references);

  // Converts the value at `index` to result(). Raises when it cannot be JSON.
  void Encode(lua_State* state, int index);
  Value& result() { return result_; }

  // Must be called after the run.
  void Clear();

 private:
  // The result of converting a value inside the result: `same`, or made_ if `same` is null.
  struct Piece {
    const json::Value* same = nullptr;
    bool left_out = false;
  };
  struct Step {
    const void* table;
    absl::string_view name;  // The member that led here; empty for array elements.
    bool is_member;
  };
  struct Keys {
    size_t strings = 0;
    size_t numbers = 0;
    bool only_indexes = true;  // All numbers are whole and above 0.
    double largest = 0;
  };
  enum : uint8_t { kObjectHere = 1, kArrayHere = 2 };

  Piece EncodeValue(lua_State* state, int index, const json::Value* expected);
  Piece EncodeScalar(lua_State* state, int index, const json::Value* expected);
  Piece EncodeNumber(lua_State* state, double number, const json::Value* expected);
  Piece EncodeTable(lua_State* state, int index);
  void ChargeShared(lua_State* state, const json::Value& part);
  Piece EncodeTouched(lua_State* state, int index, const Sources::Source& source);
  Piece EncodeEmpty(const json::Value* source);
  Piece EncodeObject(lua_State* state, int index, const Sources::Source& source);
  void KeepUntaken(const Sources::Source& source);
  void EncodeMember(lua_State* state, const json::Value* source);
  Piece FinishObject(const json::Value* source, size_t fields, size_t seen);
  Piece EncodeArray(lua_State* state, int index, const json::Value* source);
  Keys CountKeys(lua_State* state, int index);
  json::Value Take(const Piece& piece);
  Piece Made(json::Value value);

  void Enter(lua_State* state, const void* table);
  uint8_t ShapeHere();
  void AddReferences(const json::Value& value, std::string& path);
  [[noreturn]] void Raise(lua_State* state, const char* message);

  State& host_;
  absl::Span<const json::Value> references_;
  bool references_known_ = false;
  absl::flat_hash_map<std::string, uint8_t> shapes_;  // Shapes of empty values by path.
  json::Value made_;
  std::vector<Field> fields_;             // The members of the objects being made, innermost last.
  std::vector<const json::Value*> seen_;  // Their members that also the sources have.
  std::vector<json::Value> arrays_;       // The arrays being made, innermost last.
  std::vector<Step> path_;
  Value result_;
};

}  // namespace lua::internal

#endif  // LUA_INTERNAL_ENCODER_H_
