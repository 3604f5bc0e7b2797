// Functions that scripts reach with `local name = require("name")`.
#ifndef LUA_LIBRARY_H_
#define LUA_LIBRARY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lua/value.h"

namespace lua {

// Takes all arguments that the script gives; returns the results in order. An error becomes a Lua
// error with the status's message. Called from any thread; must not block, must not throw.
using LibraryFunction =
    std::function<absl::StatusOr<std::vector<Value>>(absl::Span<const Value> arguments)>;

struct Library {
  std::string name;
  struct Entry {
    std::string name;
    LibraryFunction function;
  };
  std::vector<Entry> functions;
  // Lua that returns a table with further functions; nullptr for none. It runs once for each state,
  // which scripts then share one after the other: it must not define globals, and its functions
  // must keep nothing from one call to the next and hand out no table of their own.
  std::shared_ptr<const std::string> source;
};

}  // namespace lua

#endif  // LUA_LIBRARY_H_
