#include "base/regex.h"

#include <re2/re2.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace base {
namespace {

re2::StringPiece Piece(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Regex::Regex(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

absl::StatusOr<Regex> Regex::Compile(absl::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);  // Callers report errors.
  auto compiled = std::make_shared<const re2::RE2>(Piece(pattern), options);
  if (!compiled->ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", pattern, "\" is not a valid regular expression: ", compiled->error()));
  }
  return Regex(std::move(compiled));
}

bool Regex::Finds(absl::string_view text) const {
  return re2::RE2::PartialMatch(Piece(text), *compiled_);
}

}  // namespace base
