// The functions os.time and os.date. They use the clock of the runner; local time is that of the
// machine, which in containers is usually UTC.

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "lua/internal/libraries.h"
#include "lua/internal/number.h"
#include "lua/internal/state.h"
#include "lua/internal/text_builder.h"

namespace lua::internal {
namespace {

constexpr size_t kStepsPerFlag = 50;  // Formatting a flag takes about a microsecond.

// Returns the member of the table at 1, or `otherwise` if it is missing, as upstream does.
int FieldOf(lua_State* state, const char* name, int otherwise) {
  lua_getfield(state, 1, name);
  const bool given = lua_isnumber(state, -1) != 0;
  const auto value = static_cast<int>(lua_tointeger(state, -1));
  lua_pop(state, 1);
  return given ? value : otherwise;
}

int Time(lua_State* state) {
  // Whole seconds, as upstream.
  if (lua_isnoneornil(state, 1)) {
    const absl::Time now = State::Of(state).setting().clock.Now();
    lua_pushnumber(state, static_cast<double>(absl::ToUnixSeconds(now)));
    return 1;
  }
  luaL_checktype(state, 1, LUA_TTABLE);
  // CivilSecond carries what is out of range: month 13 is January of the next year.
  const absl::CivilSecond local(FieldOf(state, "year", -1), FieldOf(state, "month", -1),
                                FieldOf(state, "day", -1), FieldOf(state, "hour", 12),
                                FieldOf(state, "min", 0), FieldOf(state, "sec", 0));
  const absl::Time time = absl::FromCivil(local, absl::LocalTimeZone());
  lua_pushnumber(state, static_cast<double>(absl::ToUnixSeconds(time)));
  return 1;
}

// Returns the format of absl::FormatTime for a flag of os.date; nullptr for an unknown flag.
const char* FlagFormat(char flag) {
  switch (flag) {
    case 'a':
      return "%a";
    case 'A':
      return "%A";
    case 'b':
      return "%b";
    case 'B':
      return "%B";
    case 'c':
      return "%d %b %y %H:%M %Z";
    case 'd':
      return "%d";
    case 'F':
      return "%Y-%m-%d";
    case 'H':
      return "%H";
    case 'I':
      return "%I";
    case 'm':
      return "%m";
    case 'M':
      return "%M";
    case 'p':
      return "%p";
    case 'P':
      return "%P";
    case 'S':
      return "%S";
    case 'w':
      return "%w";
    case 'x':
      return "%d/%m/%y";
    case 'X':
      return "%H:%M:%S";
    case 'y':
      return "%y";
    case 'Y':
      return "%Y";
    case 'z':
      return "%z";
    case 'Z':
      return "%Z";
    default:
      return nullptr;
  }
}

struct Moment {
  absl::Time time;
  absl::TimeZone zone;
};

// Writes one flag to `out` and returns the number of bytes. Does not raise.
// An error of Lua must not be raised here: it would skip the destructor of the text.
size_t FormatFlag(const Moment& moment, const char* format, char (&out)[128]) {
  const std::string text = absl::FormatTime(format, moment.time, moment.zone);
  const size_t size = std::min(text.size(), sizeof out);
  std::memcpy(out, text.data(), size);
  return size;
}

void PushDateTable(lua_State* state, const Moment& moment) {
  const absl::CivilSecond civil = absl::ToCivilSecond(moment.time, moment.zone);
  const struct {
    const char* name;
    int64_t value;
  } fields[] = {{"year", civil.year()},
                {"month", civil.month()},
                {"day", civil.day()},
                {"hour", civil.hour()},
                {"min", civil.minute()},
                {"sec", civil.second()},
                {"wday", (static_cast<int>(absl::GetWeekday(civil)) + 1) % 7 + 1},
                {"yday", absl::GetYearDay(absl::CivilDay(civil))}};
  lua_createtable(state, 0, 9);
  for (const auto& field : fields) {
    lua_pushinteger(state, static_cast<lua_Integer>(field.value));
    lua_setfield(state, -2, field.name);
  }
  // Upstream does not know summer time either.
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "isdst");
}

int Date(lua_State* state) {
  size_t size = 0;
  const char* format = luaL_optlstring(state, 1, "%c", &size);
  Moment moment{State::Of(state).setting().clock.Now(), absl::LocalTimeZone()};
  if (!lua_isnoneornil(state, 2)) {
    moment.time = absl::UnixEpoch() + absl::Seconds(luaL_checknumber(state, 2));
  }
  if (size > 0 && format[0] == '!') {
    moment.zone = absl::UTCTimeZone();
    ++format;
    --size;
  }
  if (absl::string_view(format, size) == "*t") {
    PushDateTable(state, moment);
    return 1;
  }
  State::Of(state).meter().Charge(state, size);
  TextBuilder result(state);
  for (size_t i = 0; i < size; ++i) {
    if (absl::StartsWith(absl::string_view(format, size).substr(i), "%%")) {
      result.Append(format[i++]);
      continue;
    }
    const char* flag = format[i] == '%' && i + 1 < size ? FlagFormat(format[i + 1]) : nullptr;
    if (flag == nullptr) {
      result.Append(format[i]);
      continue;
    }
    State::Of(state).meter().Charge(state, kStepsPerFlag);
    char text[128];
    result.Append(text, FormatFlag(moment, flag, text));
    ++i;
  }
  result.Push();
  return 1;
}

}  // namespace

void AddTimeFunctions(lua_State* state) {
  const luaL_Reg functions[] = {{"date", &Date}, {"time", &Time}, {nullptr, nullptr}};
  luaL_register(state, nullptr, functions);
}

}  // namespace lua::internal
