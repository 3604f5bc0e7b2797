// Runs LuaJIT's own string functions, to compare ours with: both run the same script.
#ifndef TESTS_LUA_NATIVE_PATTERN_H_
#define TESTS_LUA_NATIVE_PATTERN_H_

#include <memory>
#include <string>

#include "base/json.h"

namespace lua {

class NativePattern {
 public:
  // Defines All({subject, pattern, start}), which returns in one text the results of find, match,
  // gmatch and gsub.
  static const char kScript[];

  NativePattern();
  ~NativePattern();
  std::string Run(const json::Value& arguments) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lua

#endif  // TESTS_LUA_NATIVE_PATTERN_H_
