// The functions find, match, gmatch and gsub. They follow Lua 5.1's lstrlib.c, with the bounded
// matcher of pattern.h in place of its own; everything that goes through a text charges the meter.
// What must outlive a call into Lua lies on Lua's stack, since an error may leave any function.

#include <cstring>

#include "lua/internal/libraries.h"
#include "lua/internal/pattern.h"
#include "lua/internal/state.h"
#include "lua/internal/text_builder.h"

namespace lua::internal {
namespace {

// Ends a search when the run's time is over.
class MeteredSteps : public Steps {
 public:
  explicit MeteredSteps(Meter& meter) : meter_(meter) {}
  bool Made(size_t) override { return !meter_.TimeIsUp(); }

 private:
  Meter& meter_;
};

// A search in progress. Its destructors do nothing, so errors may leave its frame.
struct Search {
  Search(lua_State* state, Text subject, Text pattern)
      : steps(State::Of(state).meter()),
        matcher({subject.data, subject.size}, {pattern.data, pattern.size}, steps) {}
  MeteredSteps steps;
  PatternMatcher matcher;
};

// Returns whether there is a match; raises for the other results.
bool Found(lua_State* state, const PatternMatcher& matcher, PatternMatcher::Result result) {
  if (result == PatternMatcher::Result::kMalformed) luaL_error(state, "%s", matcher.error());
  if (result == PatternMatcher::Result::kStopped) State::Of(state).meter().Rethrow(state);
  return result == PatternMatcher::Result::kMatch;
}

// Pushes a capture. Capture 0 of a pattern without captures is the whole match.
void PushCapture(lua_State* state, const PatternMatcher& matcher, Text subject, int index) {
  if (index >= matcher.capture_count()) {
    if (index != 0) luaL_error(state, "invalid capture index");
    lua_pushlstring(state, subject.data + matcher.begin(), matcher.end() - matcher.begin());
    return;
  }
  const PatternMatcher::Capture capture = matcher.capture(index);
  if (capture.is_unfinished) luaL_error(state, "unfinished capture");
  if (capture.is_position) {
    lua_pushinteger(state, static_cast<lua_Integer>(matcher.position(index)));
  } else {
    lua_pushlstring(state, capture.text.data(), capture.text.size());
  }
}

// `whole`: a pattern without captures gives the whole match.
int PushCaptures(lua_State* state, const PatternMatcher& matcher, Text subject, bool whole) {
  const int count =
      matcher.capture_count() == 0 && whole ? 1 : static_cast<int>(matcher.capture_count());
  luaL_checkstack(state, count, "too many captures");
  for (int i = 0; i < count; ++i) PushCapture(state, matcher, subject, i);
  return count;
}

size_t StartOf(lua_State* state, int argument, size_t size) {
  lua_Integer start = luaL_optinteger(state, argument, 1);
  start = start < 0 ? start + static_cast<lua_Integer>(size) : start - 1;
  if (start < 0) return 0;
  return static_cast<size_t>(start) > size ? size : static_cast<size_t>(start);
}

int FindPlain(lua_State* state, Text subject, Text wanted, size_t start) {
  State::Of(state).meter().Charge(state, (subject.size - start) / 16 + wanted.size / 16);
  const absl::string_view text(subject.data, subject.size);
  const void* found = memmem(subject.data + start, subject.size - start, wanted.data, wanted.size);
  if (found == nullptr) {
    lua_pushnil(state);
    return 1;
  }
  const auto at = static_cast<lua_Integer>(static_cast<const char*>(found) - text.data());
  lua_pushinteger(state, at + 1);
  lua_pushinteger(state, at + static_cast<lua_Integer>(wanted.size));
  return 2;
}

int FindOrMatch(lua_State* state, bool find) {
  const Text subject = CheckText(state, 1);
  Text pattern = CheckText(state, 2);
  const size_t start = StartOf(state, 3, subject.size);
  if (find && (lua_toboolean(state, 4) != 0 || !HasPatternSpecials({pattern.data, pattern.size}))) {
    return FindPlain(state, subject, pattern, start);
  }
  const bool anchored = pattern.size > 0 && pattern.data[0] == '^';
  if (anchored) pattern = {pattern.data + 1, pattern.size - 1};
  Search search(state, subject, pattern);
  PatternMatcher& matcher = search.matcher;
  if (!Found(state, matcher, anchored ? matcher.MatchAt(start) : matcher.Search(start))) {
    lua_pushnil(state);
    return 1;
  }
  if (!find) return PushCaptures(state, matcher, subject, true);
  lua_pushinteger(state, static_cast<lua_Integer>(matcher.begin()) + 1);
  lua_pushinteger(state, static_cast<lua_Integer>(matcher.end()));
  return 2 + PushCaptures(state, matcher, subject, false);
}

int Find(lua_State* state) { return FindOrMatch(state, true); }
int Match(lua_State* state) { return FindOrMatch(state, false); }

// Upvalues: subject, pattern, offset of the next search.
int NextMatch(lua_State* state) {
  Text subject;
  Text pattern;
  subject.data = lua_tolstring(state, lua_upvalueindex(1), &subject.size);
  pattern.data = lua_tolstring(state, lua_upvalueindex(2), &pattern.size);
  const auto start = static_cast<size_t>(lua_tointeger(state, lua_upvalueindex(3)));
  if (start > subject.size) return 0;
  Search search(state, subject, pattern);
  const PatternMatcher& matcher = search.matcher;
  if (!Found(state, matcher, search.matcher.Search(start))) return 0;
  // An empty match must not be found again at the same place.
  const size_t next = matcher.end() == matcher.begin() ? matcher.end() + 1 : matcher.end();
  lua_pushinteger(state, static_cast<lua_Integer>(next));
  lua_replace(state, lua_upvalueindex(3));
  return PushCaptures(state, matcher, subject, true);
}

int Matches(lua_State* state) {
  CheckText(state, 1);
  CheckText(state, 2);
  lua_settop(state, 2);
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, &NextMatch, 3);
  return 1;
}

// Appends the replacement text with %0 to %9 filled in.
void AppendTemplate(lua_State* state, TextBuilder& result, const PatternMatcher& matcher,
                    Text subject) {
  Text replacement;
  replacement.data = lua_tolstring(state, 3, &replacement.size);
  State::Of(state).meter().Charge(state, replacement.size / 8);
  for (size_t i = 0; i < replacement.size; ++i) {
    const char c = replacement.data[i];
    // A '%' at the end gives a zero byte, as in Lua 5.1, which reads the text's terminator.
    if (c != '%' || ++i == replacement.size) {
      result.Append(c == '%' ? '\0' : c);
      continue;
    }
    const char digit = replacement.data[i];
    if (digit < '0' || digit > '9') {
      result.Append(digit);
    } else if (digit == '0') {
      result.Append(subject.data + matcher.begin(), matcher.end() - matcher.begin());
    } else {
      PushCapture(state, matcher, subject, digit - '1');
      PushText(state, lua_gettop(state));
      size_t size = 0;
      const char* text = lua_tolstring(state, -1, &size);
      result.Append(text, size);
      lua_pop(state, 2);
    }
  }
}

// Appends what the table or function gives for the match; the match itself if that is false or nil.
void AppendAnswer(lua_State* state, TextBuilder& result, const PatternMatcher& matcher,
                  Text subject) {
  if (lua_type(state, 3) == LUA_TTABLE) {
    PushCapture(state, matcher, subject, 0);
    lua_gettable(state, 3);
  } else {
    lua_pushvalue(state, 3);
    lua_call(state, PushCaptures(state, matcher, subject, true), 1);
  }
  if (lua_toboolean(state, -1) == 0) {
    result.Append(subject.data + matcher.begin(), matcher.end() - matcher.begin());
  } else {
    if (lua_isstring(state, -1) == 0) {
      luaL_error(state, "invalid replacement value (a %s)", luaL_typename(state, -1));
    }
    PushText(state, lua_gettop(state));
    size_t size = 0;
    const char* text = lua_tolstring(state, -1, &size);
    result.Append(text, size);
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
}

void CheckReplacement(lua_State* state) {
  const int type = lua_type(state, 3);
  if (type == LUA_TNUMBER) CheckText(state, 3);
  if (type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TTABLE || type == LUA_TFUNCTION) {
    return;
  }
  luaL_argerror(state, 3, "string/function/table expected");
}

// Upstream refuses gsub; here it is bounded like everything else.
int Substitute(lua_State* state) {
  const Text subject = CheckText(state, 1);
  Text pattern = CheckText(state, 2);
  CheckReplacement(state);
  State::Of(state).meter().CheckStack(state);
  const lua_Integer most = luaL_optinteger(state, 4, static_cast<lua_Integer>(subject.size) + 1);
  const bool anchored = pattern.size > 0 && pattern.data[0] == '^';
  if (anchored) pattern = {pattern.data + 1, pattern.size - 1};
  Search search(state, subject, pattern);
  PatternMatcher& matcher = search.matcher;
  const bool by_template = lua_type(state, 3) == LUA_TSTRING;
  TextBuilder result(state);
  lua_Integer count = 0;
  size_t at = 0;
  while (count < most) {
    const bool found = Found(state, matcher, matcher.MatchAt(at));
    if (found) {
      ++count;
      (by_template ? AppendTemplate : AppendAnswer)(state, result, matcher, subject);
    }
    if (found && matcher.end() > at) {
      at = matcher.end();
    } else if (at < subject.size) {
      result.Append(subject.data[at++]);
    } else {
      break;
    }
    if (anchored) break;
  }
  if (at < subject.size) result.Append(subject.data + at, subject.size - at);
  result.Push();
  lua_pushinteger(state, count);
  return 2;
}

}  // namespace

void AddPatternFunctions(lua_State* state) {
  const luaL_Reg functions[] = {{"find", &Find},
                                {"gmatch", &Matches},
                                {"gsub", &Substitute},
                                {"match", &Match},
                                {nullptr, nullptr}};
  luaL_register(state, nullptr, functions);
  lua_getfield(state, -1, "gmatch");
  lua_setfield(state, -2, "gfind");  // Its name in Lua 5.0, which upstream also has.
}

}  // namespace lua::internal
