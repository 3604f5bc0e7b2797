// Finds facts about a script that its bytecode does not have: names of locals, and columns.
#ifndef LUA_INTERNAL_SOURCE_FACTS_H_
#define LUA_INTERNAL_SOURCE_FACTS_H_

#include "lua/script.h"

namespace lua {

// Fills facts.local_functions and facts.modules from the text.
void AddSourceFacts(absl::string_view text, ScriptFacts& facts);

}  // namespace lua

#endif  // LUA_INTERNAL_SOURCE_FACTS_H_
