// string.format as in Lua 5.1: each conversion is rebuilt as a format for printf, after its flags,
// width and precision have been checked as Lua checks them, so that a script never determines a
// format of its own.

#include <cstdio>
#include <cstring>

#include "lua/internal/libraries.h"
#include "lua/internal/state.h"
#include "lua/internal/text_builder.h"

namespace lua::internal {
namespace {

// The longest text of a number: %99.99f of the largest double.
constexpr size_t kMaxItem = 512;
constexpr size_t kMaxFlags = 20;

// One conversion such as "%-5.2f"; flags, width and precision are kept as written.
struct Conversion {
  char text[kMaxFlags + 8] = "%";
  size_t size = 1;
  char letter = 0;
  bool has_precision = false;

  void Add(char c) { text[size++] = c; }
  // Completes the text to a format for printf, with a length modifier if need be.
  void Finish(const char* modifier, char as) {
    while (*modifier != 0) Add(*modifier++);
    Add(as);
    text[size] = 0;
  }
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void ReadDigits(const char*& at, const char* end, Conversion& conversion) {
  for (int i = 0; i < 2 && at < end && IsDigit(*at); ++i) conversion.Add(*at++);
}

// Reads what follows a '%' and moves `at` behind it.
Conversion ReadConversion(lua_State* state, const char*& at, const char* end) {
  Conversion conversion;
  const char* flags = at;
  while (at < end && *at != 0 && std::strchr("-+ #0", *at) != nullptr) {
    if (at - flags >= 5) luaL_error(state, "invalid format (repeated flags)");
    conversion.Add(*at++);
  }
  ReadDigits(at, end, conversion);
  if (at < end && *at == '.') {
    conversion.has_precision = true;
    conversion.Add(*at++);
    ReadDigits(at, end, conversion);
  }
  if (at < end && IsDigit(*at)) {
    luaL_error(state, "invalid format (width or precision too long)");
  }
  conversion.letter = at < end ? *at++ : '\0';
  return conversion;
}

void AppendQuoted(TextBuilder& result, Text text) {
  result.Append('"');
  for (size_t i = 0; i < text.size; ++i) {
    const char c = text.data[i];
    if (c == '"' || c == '\\' || c == '\n') {
      result.Append('\\');
      result.Append(c);
    } else if (c == '\r') {
      result.Append("\\r", 2);
    } else if (c == '\0') {
      result.Append("\\000", 4);
    } else {
      result.Append(c);
    }
  }
  result.Append('"');
}

void AppendString(lua_State* state, TextBuilder& result, Conversion& conversion, int argument) {
  luaL_checkany(state, argument);
  PushText(state, argument);
  lua_replace(state, argument);
  const Text text = CheckText(state, argument);
  State::Of(state).meter().Charge(state, text.size / 16);
  // As in Lua, a long text without precision is not padded.
  if (conversion.size == 1 || (!conversion.has_precision && text.size >= 100)) {
    result.Append(text.data, text.size);
    return;
  }
  conversion.Finish("", 's');
  // printf stops at a zero byte, as Lua's does here.
  const int size = std::snprintf(nullptr, 0, conversion.text, text.data);
  if (size < 0) luaL_error(state, "invalid format");
  const auto room = static_cast<size_t>(size) + 1;
  std::snprintf(result.Room(room), room, conversion.text, text.data);
  result.Added(static_cast<size_t>(size));
}

// C does not define the conversion of doubles outside the type's range.
long long Integer(double number) {
  if (!(number > -9223372036854775808.0)) return INT64_MIN;
  return number < 9223372036854775808.0 ? static_cast<long long>(number) : INT64_MAX;
}

void AppendNumber(lua_State* state, TextBuilder& result, Conversion& conversion, int argument) {
  const double number = luaL_checknumber(state, argument);
  char* to = result.Room(kMaxItem);
  int size = 0;
  switch (conversion.letter) {
    case 'c':
      conversion.Finish("", 'c');
      size = std::snprintf(to, kMaxItem, conversion.text, static_cast<int>(Integer(number)));
      break;
    case 'd':
    case 'i':
      conversion.Finish("ll", 'd');
      size = std::snprintf(to, kMaxItem, conversion.text, Integer(number));
      break;
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      conversion.Finish("ll", conversion.letter);
      size = std::snprintf(to, kMaxItem, conversion.text,
                           static_cast<unsigned long long>(Integer(number)));
      break;
    default:
      conversion.Finish("", conversion.letter);
      size = std::snprintf(to, kMaxItem, conversion.text, number);
      break;
  }
  if (size > 0) result.Added(static_cast<size_t>(size));
}

}  // namespace

int Format(lua_State* state) {
  const int arguments = lua_gettop(state);
  const Text format = CheckText(state, 1);
  const char* const end = format.data + format.size;
  State::Of(state).meter().Charge(state, format.size / 4);
  int argument = 1;
  TextBuilder result(state);
  for (const char* at = format.data; at < end;) {
    if (*at != '%') {
      result.Append(*at++);
      continue;
    }
    if (++at < end && *at == '%') {
      result.Append(*at++);
      continue;
    }
    Conversion conversion = ReadConversion(state, at, end);
    if (++argument > arguments) luaL_argerror(state, argument, "no value");
    if (conversion.letter == 's') {
      AppendString(state, result, conversion, argument);
    } else if (conversion.letter == 'q') {
      AppendQuoted(result, CheckText(state, argument));
    } else if (conversion.letter != 0 &&
               std::strchr("cdiouxXeEfgGaA", conversion.letter) != nullptr) {
      AppendNumber(state, result, conversion, argument);
    } else {
      return luaL_error(state, "invalid option '%%%c' to 'format'", conversion.letter);
    }
  }
  result.Push();
  return 1;
}

}  // namespace lua::internal
