// Reads a script's tokens without parsing its grammar, and so only claims what holds whatever the
// grammar says: three passes over the tokens collect first who gets values, then which variables
// are modules (`local kube = require("kube")`), then which members of modules are used. A variable
// counts as a module only if every assignment to its name in the whole text is that module; scopes
// are not followed. A missed fact costs a warning of `check`, a wrong one would be a false alarm,
// so in doubt nothing is reported.

#include "lua/internal/source_facts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lua/internal/tokens.h"

namespace lua {
namespace {

class SourceReader {
 public:
  SourceReader(absl::string_view text, ScriptFacts& facts)
      : tokens_(Tokenize(text)), facts_(facts) {}

  void Read() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      CountDeclarations(i);
      NoteLocalFunction(i);
      NoteProvided(i);
    }
    for (size_t i = 0; i < tokens_.size(); ++i) NoteRequired(i);
    for (size_t i = 0; i < tokens_.size(); ++i) NoteMember(i);
  }

 private:
  bool Is(size_t i, absl::string_view text) const {
    return i < tokens_.size() && tokens_[i].kind != Token::Kind::kString && tokens_[i].text == text;
  }
  bool IsName(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Token::Kind::kName;
  }
  bool IsString(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Token::Kind::kString;
  }
  // Returns whether the token is a name that is not a member of something.
  bool IsVariable(size_t i) const {
    return IsName(i) && (i == 0 || (!Is(i - 1, ".") && !Is(i - 1, ":")));
  }

  // Counts every place where a name may get a value.
  void CountDeclarations(size_t i) {
    if (Is(i, "local") && Is(i + 1, "function")) return Declare(i + 2);
    if (Is(i, "local") || Is(i, "for")) return DeclareList(i + 1);
    if (Is(i, "function")) {
      while (IsName(i + 1) || Is(i + 1, ".") || Is(i + 1, ":")) ++i;
      return DeclareList(i + 2);
    }
    if (IsVariable(i) && Is(i + 1, "=") && !Is(i - 1, "local")) Declare(i);
  }
  void DeclareList(size_t i) {
    for (; IsName(i); i += 2) {
      Declare(i);
      if (!Is(i + 1, ",")) return;
    }
  }
  void Declare(size_t i) {
    if (IsName(i)) ++declared_[tokens_[i].text];
  }

  void NoteLocalFunction(size_t i) {
    if (!Is(i, "local")) return;
    const bool assigned = IsName(i + 1) && Is(i + 2, "=") && Is(i + 3, "function");
    const size_t name = Is(i + 1, "function") ? i + 2 : i + 1;
    if (name == i + 1 && !assigned) return;
    if (!IsName(name)) return;
    facts_.local_functions.push_back({std::string(tokens_[name].text), tokens_[name].line});
  }

  // Finds package.preload.json = … and package.loaded["json"] = …
  void NoteProvided(size_t i) {
    if (!Is(i, "preload") && !Is(i, "loaded")) return;
    const bool named = Is(i + 1, ".") && IsName(i + 2);
    if (named || (Is(i + 1, "[") && IsString(i + 2))) provided_.insert(tokens_[i + 2].text);
  }

  // Finds require("kube") and require "kube".
  void NoteRequired(size_t i) {
    if (!Is(i, "require") || !IsVariable(i)) return;
    const bool parenthesis = Is(i + 1, "(");
    const size_t module = parenthesis ? i + 2 : i + 1;
    const size_t after = parenthesis ? module + 2 : module + 1;
    if (!IsString(module) || (parenthesis && !Is(module + 1, ")"))) return;
    if (provided_.count(tokens_[module].text) > 0) return;
    Report(tokens_[module].text, "", tokens_[module]);
    if (Is(after, ".") && IsName(after + 1)) {
      Report(tokens_[module].text, tokens_[after + 1].text, tokens_[after + 1]);
    } else if (i >= 2 && Is(i - 1, "=") && IsVariable(i - 2) && !Is(i - 3, ",")) {
      aliases_[tokens_[i - 2].text].push_back(tokens_[module].text);
    }
  }

  void NoteMember(size_t i) {
    // What follows is "module.member" or "module:member".
    if (!IsVariable(i) || !(Is(i + 1, ".") || Is(i + 1, ":")) || !IsName(i + 2)) return;
    if (Is(i + 3, "=")) return;
    const absl::string_view module = ModuleIn(tokens_[i].text);
    if (!module.empty()) Report(module, tokens_[i + 2].text, tokens_[i + 2]);
  }

  // Returns the module that the variable stands for everywhere in the text; "" unless it only ever
  // gets that module.
  absl::string_view ModuleIn(absl::string_view variable) const {
    const auto alias = aliases_.find(variable);
    if (alias == aliases_.end()) return "";
    const std::vector<absl::string_view>& modules = alias->second;
    const bool one = std::count(modules.begin(), modules.end(), modules[0]) ==
                     static_cast<std::ptrdiff_t>(modules.size());
    const bool only_modules = static_cast<size_t>(declared_.at(variable)) == modules.size();
    return one && only_modules ? modules[0] : "";
  }

  void Report(absl::string_view module, absl::string_view member, const Token& at) {
    facts_.modules.push_back({std::string(module), std::string(member), at.line, at.column});
  }

  const std::vector<Token> tokens_;
  ScriptFacts& facts_;
  std::map<absl::string_view, int> declared_;
  std::set<absl::string_view> provided_;
  // Modules assigned to each variable.
  std::map<absl::string_view, std::vector<absl::string_view>> aliases_;
};

}  // namespace

void AddSourceFacts(absl::string_view text, ScriptFacts& facts) {
  SourceReader(text, facts).Read();
}

}  // namespace lua
