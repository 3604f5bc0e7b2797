// Walks a Lua value and builds JSON, reusing the JSON of the arguments where the script has changed
// nothing. Each step returns a Piece: either a pointer to a value of the arguments that is the
// same, or "made", and then the value is in made_ until the caller takes it. An object is put
// together from the members that differ (fields_) and the addresses of those that are still there
// (seen_); both are stacks shared by all levels, and each level works on its end of them.
//
// Everything lies in members of the encoder and nothing in local variables that own memory, because
// a Lua error may leave these functions without running destructors: Clear and the next Encode drop
// what it has left behind. Time and memory are charged before they are used, so a script cannot
// make a result that is much larger than its budget.

#include "lua/internal/encoder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lua/internal/json_size.h"
#include "lua/internal/object_changes.h"
#include "lua/internal/state.h"

namespace lua::internal {
namespace {

// Whole doubles outside this range do not fit an int64.
constexpr double kInt64Limit = 9223372036854775808.0;
// Limits the depth in a result at which JSON from the arguments may end.
constexpr int kMaxJsonDepth = 512;

// Limits the members that stay allocated between runs.
constexpr size_t kMaxIdle = 1024;

// Bytes of the path in an error message.
constexpr size_t kMaxPathText = 500;

// Results are charged with about the memory that they take, which is more than their text.
constexpr size_t kBytesOfTable = 96;
constexpr size_t kBytesOfMember = 32;  // Bytes in addition to name and value.
constexpr size_t kBytesOfScalar = 16;

absl::string_view ViewOf(lua_State* state, int index) {
  size_t size = 0;
  const char* text = lua_tolstring(state, index, &size);
  return {text, size};
}

// Paths are JSON pointers, so a name with a slash is not two names.
void AddStep(std::string& path, absl::string_view name) {
  absl::StrAppend(&path, "/", absl::StrReplaceAll(name, {{"~", "~0"}, {"/", "~1"}}));
}

}  // namespace

void Encoder::SetReferences(absl::Span<const json::Value> references) {
  references_ = references;
  references_known_ = false;
}

void Encoder::Clear() {
  references_ = {};
  references_known_ = false;
  shapes_.clear();
  made_ = json::Value();
  fields_.clear();
  seen_.clear();
  arrays_.clear();
  path_.clear();
  if (fields_.capacity() > kMaxIdle) std::vector<Field>().swap(fields_);
  if (seen_.capacity() > kMaxIdle) std::vector<const json::Value*>().swap(seen_);
  result_ = Value();
}

void Encoder::Encode(lua_State* state, int index) {
  result_ = Value();
  // An error that a script caught may have left something.
  fields_.clear();
  seen_.clear();
  arrays_.clear();
  path_.clear();
  switch (lua_type(state, index)) {
    case LUA_TNIL:
      return;
    case LUA_TFUNCTION:
      result_.type = Value::Type::kFunction;
      return;
    default:
      break;
  }
  // A script's empty table, whose shape nothing determines, is an array at the top, and is left out
  // elsewhere.
  const Piece piece = EncodeValue(state, index, nullptr);
  if (piece.left_out) {
    result_ = Value(json::Value::Array());
    result_.shapeless = true;
    return;
  }
  result_ = Value(Take(piece));
}

json::Value Encoder::Take(const Piece& piece) {
  return piece.same != nullptr ? *piece.same : std::move(made_);
}

Encoder::Piece Encoder::Made(json::Value value) {
  made_ = std::move(value);
  return {};
}

void Encoder::Raise(lua_State* state, const char* message) {
  std::string& text = host_.scratch();
  text = message;
  const size_t size = text.size();
  for (const Step& step : path_) {
    if (!step.is_member) continue;
    absl::StrAppend(&text, text.size() == size ? " (at ." : ".", step.name);
    if (text.size() > size + kMaxPathText) break;
  }
  if (text.size() > size) text += ')';
  lua_pushlstring(state, text.data(), text.size());
  lua_error(state);
  __builtin_unreachable();
}

Encoder::Piece Encoder::EncodeValue(lua_State* state, int index, const json::Value* expected) {
  host_.meter().Charge(state, 1);
  return lua_type(state, index) == LUA_TTABLE ? EncodeTable(state, index)
                                              : EncodeScalar(state, index, expected);
}

Encoder::Piece Encoder::EncodeScalar(lua_State* state, int index, const json::Value* expected) {
  switch (lua_type(state, index)) {
    case LUA_TBOOLEAN: {
      host_.meter().ChargeResult(state, kBytesOfScalar);
      const bool value = lua_toboolean(state, index) != 0;
      if (expected != nullptr && expected->is_bool() && expected->AsBool() == value) {
        return {expected};
      }
      return Made(value);
    }
    case LUA_TNUMBER:
      return EncodeNumber(state, lua_tonumber(state, index), expected);
    case LUA_TSTRING: {
      const absl::string_view text = ViewOf(state, index);
      host_.meter().ChargeResult(state, text.size() + kBytesOfScalar);
      if (expected != nullptr && expected->is_string() && expected->AsString() == text) {
        return {expected};
      }
      return Made(json::Value(text));
    }
    case LUA_TFUNCTION:
      Raise(state, "cannot encode function to JSON");
    default:
      Raise(state, "cannot encode this type of value to JSON");
  }
}

Encoder::Piece Encoder::EncodeNumber(lua_State* state, double number, const json::Value* expected) {
  host_.meter().ChargeResult(state, kBytesOfScalar);
  if (expected != nullptr && expected->is_number() && expected->AsDouble() == number) {
    return {expected};
  }
  if (!std::isfinite(number)) Raise(state, "unsupported value: not a finite number");
  if (number != std::floor(number)) return Made(number);
  // Lua has doubles only: from 2^53 on, the integer that an argument had is looked up by the double
  // that it became.
  if (std::fabs(number) >= static_cast<double>(kMaxExact)) {
    const bool in_member = !path_.empty() && path_.back().is_member;
    // The name of the member may tell two such integers apart.
    const int64_t* exact =
        host_.sources().ExactInteger(number, in_member ? path_.back().name : absl::string_view());
    if (exact != nullptr) return Made(*exact);
  }
  if (number < -kInt64Limit || number >= kInt64Limit) return Made(number);
  return Made(static_cast<int64_t>(number));
}

void Encoder::Enter(lua_State* state, const void* table) {
  for (const Step& step : path_) {
    // The path is as long as the result is deep, which max_depth limits, so searching it is cheap.
    if (step.table == table) Raise(state, "cannot encode recursively nested tables to JSON");
  }
  if (static_cast<int>(path_.size()) >= host_.meter().budget().max_depth) {
    Raise(state, "cannot encode tables nested so deeply to JSON");
  }
  luaL_checkstack(state, 10, "tables are nested too deeply");
  path_.push_back({table, {}, false});
}

void Encoder::ChargeShared(lua_State* state, const json::Value& part) {
  const JsonSize size = SizeOf(part);
  host_.meter().Charge(state, size.values);
  host_.meter().ChargeResult(state, size.bytes);
  if (static_cast<int>(path_.size()) + size.depth > kMaxJsonDepth) {
    Raise(state, "cannot encode tables nested so deeply to JSON");
  }
}

Encoder::Piece Encoder::EncodeTable(lua_State* state, int index) {
  const Sources::Source source = host_.sources().Of(state, index);
  // A part is charged because the script may repeat it in the result. The whole argument is free:
  // it is shared, and no larger than what came in. (A library that makes something of it charges
  // that.)
  if (!source.filled && !path_.empty()) ChargeShared(state, *source.json);
  if (!source.filled && !source.touched) return {source.json};
  host_.meter().ChargeResult(state, kBytesOfTable);
  Enter(state, lua_topointer(state, index));
  const Piece piece = EncodeTouched(state, index, source);
  path_.pop_back();
  return piece;
}

Encoder::Piece Encoder::EncodeTouched(lua_State* state, int index, const Sources::Source& source) {
  const Keys keys = CountKeys(state, index);
  if (!source.filled && keys.numbers == 0) return EncodeObject(state, index, source);
  if (keys.strings + keys.numbers == 0) return EncodeEmpty(source.json);
  if (!source.filled || (keys.strings != 0 && keys.numbers != 0)) {
    Raise(state, "cannot encode mixed or invalid key types");
  }
  if (keys.strings != 0) return EncodeObject(state, index, source);
  // Keys 1 to n without a gap make an array.
  if (!keys.only_indexes || keys.largest != static_cast<double>(keys.numbers)) {
    Raise(state, "cannot encode sparse array");
  }
  const bool was_array = source.json != nullptr && source.json->is_array();
  return EncodeArray(state, index, was_array ? source.json : nullptr);
}

Encoder::Keys Encoder::CountKeys(lua_State* state, int index) {
  Keys keys;
  lua_pushnil(state);
  while (lua_next(state, index) != 0) {
    lua_pop(state, 1);
    switch (lua_type(state, -1)) {
      case LUA_TSTRING:
        ++keys.strings;
        break;
      case LUA_TNUMBER: {
        const double number = lua_tonumber(state, -1);
        ++keys.numbers;
        keys.only_indexes = keys.only_indexes && number >= 1 && number == std::floor(number);
        keys.largest = std::max(keys.largest, number);
        break;
      }
      // The hidden key of the source; scripts cannot make such a key.
      case LUA_TLIGHTUSERDATA:
        break;
      default:
        Raise(state, "cannot encode mixed or invalid key types");
    }
  }
  host_.meter().Charge(state, keys.strings + keys.numbers);
  return keys;
}

Encoder::Piece Encoder::EncodeEmpty(const json::Value* source) {
  if (source != nullptr) {
    if (source->empty()) return {source};
    if (CountNonNull(*source) == 0) return {source};
    if (source->is_array()) return Made(json::Value::Array());
    json::Value left = json::Value::Object();
    for (const json::Member& m : source->members()) {
      // A null member was never visible to the script, so it stays.
      if (m.value.is_null()) left.Set(m.name(), json::Value());
    }
    return Made(std::move(left));
  }
  const uint8_t shape = references_.empty() ? 0 : ShapeHere();
  if ((shape & kObjectHere) != 0) return Made(json::Value::Object());
  if ((shape & kArrayHere) != 0) return Made(json::Value::Array());
  return {nullptr, true};
}

Encoder::Piece Encoder::EncodeObject(lua_State* state, int index, const Sources::Source& source) {
  const bool was_object = source.json != nullptr && source.json->is_object();
  const json::Value* before = was_object ? source.json : nullptr;
  const size_t fields = fields_.size();
  const size_t seen = seen_.size();
  lua_pushnil(state);
  while (lua_next(state, index) != 0) {
    // The hidden key is not a member.
    if (!IsSourceKey(state, -2)) EncodeMember(state, before);
    lua_pop(state, 1);
  }
  if (!source.filled) KeepUntaken(source);
  return FinishObject(before, fields, seen);
}

// What a table has not taken is as it was.
void Encoder::KeepUntaken(const Sources::Source& source) {
  const absl::Span<const json::Member> members = source.json->members();
  for (size_t i = 0; i < members.size(); ++i) {
    if (!source.HasTaken(i)) seen_.push_back(&members[i].value);
  }
}

// Encodes the member whose key and value are on top of the stack.
void Encoder::EncodeMember(lua_State* state, const json::Value* source) {
  const absl::string_view name = ViewOf(state, -2);
  const json::Value* before = source != nullptr ? source->Find(name) : nullptr;
  host_.meter().ChargeResult(state, name.size() + kBytesOfMember);
  path_.back().name = name;
  path_.back().is_member = true;
  const Piece piece = EncodeValue(state, lua_gettop(state), before);
  if (piece.left_out) return;
  if (before != nullptr) seen_.push_back(before);
  if (piece.same == nullptr || piece.same != before) fields_.push_back({name, Take(piece)});
}

Encoder::Piece Encoder::FinishObject(const json::Value* source, size_t fields, size_t seen) {
  const auto first = fields_.begin() + static_cast<std::ptrdiff_t>(fields);
  const absl::Span<Field> changed =
      absl::MakeSpan(fields_.data() + fields, fields_.size() - fields);
  if (source == nullptr) {
    Made(NewObject(changed));
    fields_.erase(first, fields_.end());
    return {};
  }
  const auto first_seen = seen_.begin() + static_cast<std::ptrdiff_t>(seen);
  std::sort(first, fields_.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
  // Members are adjacent in memory, so sorting by address restores their order.
  std::sort(first_seen, seen_.end());
  const ObjectChanges changes{source, changed,
                              absl::MakeConstSpan(seen_.data() + seen, seen_.size() - seen)};
  Piece piece;
  if (IsUnchanged(changes)) {
    piece.same = source;
  } else {
    Made(Apply(changes));
  }
  fields_.erase(first, fields_.end());
  seen_.erase(first_seen, seen_.end());
  return piece;
}

Encoder::Piece Encoder::EncodeArray(lua_State* state, int index, const json::Value* source) {
  const auto size = static_cast<int>(lua_objlen(state, index));
  const absl::Span<const json::Value> items =
      source != nullptr ? source->items() : absl::Span<const json::Value>();
  const size_t non_null = source != nullptr ? CountNonNull(*source) : 0;
  const size_t array = arrays_.size();
  bool changed = source == nullptr || static_cast<size_t>(size) != non_null;
  arrays_.push_back(json::Value::Array());
  path_.back().is_member = false;
  size_t at = 0;  // Index in `items`.
  for (int i = 1; i <= size; ++i, ++at) {
    // Nulls of an argument's array were never visible to the script.
    while (at < items.size() && items[at].is_null()) ++at;
    const json::Value* before = at < items.size() ? &items[at] : nullptr;
    lua_rawgeti(state, index, i);
    const Piece piece = EncodeValue(state, lua_gettop(state), before);
    lua_pop(state, 1);
    changed = changed || piece.left_out || piece.same == nullptr || piece.same != before;
    if (!piece.left_out) arrays_[array].Append(Take(piece));
  }
  json::Value made = std::move(arrays_[array]);
  arrays_.resize(array);
  if (!changed) return {source};
  return Made(std::move(made));
}

uint8_t Encoder::ShapeHere() {
  std::string& path = host_.scratch();
  if (!references_known_) {
    references_known_ = true;
    shapes_.clear();
    for (const json::Value& reference : references_) {
      path.clear();
      AddReferences(reference, path);
    }
  }
  if (path_.size() <= 1) return 0;  // The result itself is an empty table.
  path.clear();
  for (size_t i = 0; i + 1 < path_.size(); ++i) {
    if (path_[i].is_member) AddStep(path, path_[i].name);
  }
  const auto found = shapes_.find(path);
  return found == shapes_.end() ? 0 : found->second;
}

void Encoder::AddReferences(const json::Value& value, std::string& path) {
  if (value.is_object() && value.empty()) shapes_[path] |= kObjectHere;
  if (value.is_array() && value.empty()) shapes_[path] |= kArrayHere;
  for (const json::Value& item : value.items()) AddReferences(item, path);
  const size_t size = path.size();
  for (const json::Member& member : value.members()) {
    AddStep(path, member.name());
    AddReferences(member.value, path);
    path.resize(size);
  }
}

}  // namespace lua::internal
