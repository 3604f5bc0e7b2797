#include "lua/script.h"

#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "lua/internal/chunk_cache.h"
#include "lua/internal/state.h"

namespace lua {

Script::Script(absl::string_view name, absl::string_view text)
    : name_(name),
      text_(text),
      chunk_name_(absl::StrCat("=", internal::ChunkName(name))),
      fingerprint_(absl::Hash<std::pair<std::string, std::string>>()({name_, text_})) {}

absl::StatusOr<std::shared_ptr<const Script>> Script::Compile(absl::string_view name,
                                                              absl::string_view text) {
  if (text.size() > kMaxText) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": the script is longer than ", kMaxText, " bytes"));
  }
  std::shared_ptr<const Script> script(new Script(name, text));
  RETURN_IF_ERROR(internal::State::Check(*script));
  return script;
}

}  // namespace lua
