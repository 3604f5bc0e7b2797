// A Lua script: a name for messages and a text that is known to compile.
//
// Immutable and shared between threads. Runners keep compiled chunks by the script's content, so
// two scripts with equal name and text cost one compilation per state.
#ifndef LUA_SCRIPT_H_
#define LUA_SCRIPT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lua {

class Script : public std::enable_shared_from_this<Script> {
 public:
  // kInvalidArgument for a text that does not compile, is bytecode or is longer than kMaxText:
  // "<name>:<line>: <what> near '<token>'".
  static absl::StatusOr<std::shared_ptr<const Script>> Compile(absl::string_view name,
                                                               absl::string_view text);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  uint64_t fingerprint() const {
    return fingerprint_;
  }  // A hash of name and text, valid in this process only.
  // "=" and the name as Lua's messages show it: names over 59 bytes are cut at the front.
  const std::string& chunk_name() const { return chunk_name_; }

  static constexpr size_t kMaxText = size_t{1} << 20;  // Bytes.

 private:
  Script(absl::string_view name, absl::string_view text);

  std::string name_;
  std::string text_;
  std::string chunk_name_;
  uint64_t fingerprint_;
};

// What a script's top level defines, and which globals any part of it uses.
struct ScriptFacts {
  struct Function {
    std::string name;  // The global it is assigned to.
    int parameters = 0;
    bool variadic = false;
    int line = 0;
  };
  struct GlobalUse {
    std::string name;  // "os.exit" for a member of a library table.
    int line = 0;
    bool assigned = false;
  };
  struct LocalFunction {
    std::string name;
    int line = 0;
  };
  // A module that is required by its name, or a member of it that is read: require("kube").add, or
  // kube.add where kube is always that module. Modules that the script itself provides
  // (package.preload.name) are left out.
  struct ModuleUse {
    std::string module;
    std::string member;  // "" for the require itself.
    int line = 0;
    int column = 0;  // In bytes, counted from 1.
  };
  std::vector<Function> functions;
  std::vector<GlobalUse> globals;              // In the order of lines; each name once per line.
  std::vector<LocalFunction> local_functions;  // In the order of lines, at any depth.
  std::vector<ModuleUse> modules;              // Required modules first, then their members.
  bool complete = true;  // False for a script that uses more globals than are listed.

  // Returns whether running the script could define a global of this name. If false, it cannot:
  // nothing assigns it, and nothing uses the table of globals, through which it could be defined.
  bool MayDefine(absl::string_view global) const;
};
// Does not run any part of the script.
absl::StatusOr<ScriptFacts> Inspect(const Script& script);

}  // namespace lua

#endif  // LUA_SCRIPT_H_
