// The grammar of label selector texts:
//
//   selector    = [ requirement { "," requirement } ]
//   requirement = key | "!" key | key operator value | key ("in" | "notin") "(" values ")"
//   operator    = "=" | "==" | "!=" | ">" | "<"
//   values      = value { "," value }
//
// A value may be empty. Words end at white space or one of = ! ( ) , > <.

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/internal/field_error.h"
#include "kube/meta/internal/label_requirement.h"

namespace kube::internal {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsSymbol(char c) { return absl::string_view("=!(),><").find(c) != absl::string_view::npos; }

struct Token {
  absl::string_view text;  // Empty at the end of the selector.
  bool is_word = false;
};

// Removes the first token from `rest` and returns it.
Token NextToken(absl::string_view& rest) {
  while (!rest.empty() && IsSpace(rest.front())) rest.remove_prefix(1);
  if (rest.empty()) return {};
  size_t length = 1;
  const bool is_word = !IsSymbol(rest.front());
  if (is_word) {
    while (length < rest.size() && !IsSpace(rest[length]) && !IsSymbol(rest[length])) ++length;
  } else if (rest.substr(0, 2) == "==" || rest.substr(0, 2) == "!=") {
    length = 2;
  }
  const Token token{rest.substr(0, length), is_word};
  rest.remove_prefix(length);
  return token;
}

absl::Status Unexpected(const Token& found, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("found '", found.text, "'", expected));
}

class Parser {
 public:
  explicit Parser(absl::string_view text) : rest_(text) { Advance(); }

  absl::StatusOr<std::vector<Requirement>> Parse() {
    std::vector<Requirement> requirements;
    if (AtEnd()) return requirements;
    if (!AtRequirement()) return Unexpected(next_, ", expected: !, identifier, or 'end of string'");
    while (true) {
      auto requirement = ParseRequirement();
      if (!requirement.ok()) {
        return base::Annotate(requirement.status(), "unable to parse requirement");
      }
      requirements.push_back(*std::move(requirement));
      if (AtEnd()) return requirements;
      if (!At(",")) return Unexpected(next_, ", expected: ',' or 'end of string'");
      Advance();
      if (!AtRequirement()) return Unexpected(next_, ", expected: identifier after ','");
    }
  }

 private:
  bool AtEnd() const { return next_.text.empty(); }
  bool At(absl::string_view symbol) const { return next_.text == symbol; }
  bool AtRequirement() const { return next_.is_word || At("!"); }
  bool AtRequirementEnd() const { return AtEnd() || At(","); }

  Token Advance() { return std::exchange(next_, NextToken(rest_)); }

  absl::StatusOr<Requirement> ParseRequirement() {
    const bool negated = At("!");
    if (negated) Advance();
    if (!next_.is_word) return Unexpected(next_, ", expected: identifier");
    const absl::string_view key = Advance().text;
    if (const absl::Status valid = ValidateQualifiedName(key); !valid.ok()) {
      return InvalidField("<nil>", Quote(key), valid.message());
    }
    if (negated) return MakeRequirement(key, Operator::kDoesNotExist, {});
    if (AtRequirementEnd()) return MakeRequirement(key, Operator::kExists, {});
    return ParseComparison(key);
  }

  absl::StatusOr<Requirement> ParseComparison(absl::string_view key) {
    const Token op = Advance();
    if (op.text == "in") return ParseSet(key, Operator::kIn);
    if (op.text == "notin") return ParseSet(key, Operator::kNotIn);
    if (op.text == "=" || op.text == "==") return ParseSingle(key, Operator::kIn);
    if (op.text == "!=") return ParseSingle(key, Operator::kNotIn);
    if (op.text == ">") return ParseSingle(key, Operator::kGreaterThan);
    if (op.text == "<") return ParseSingle(key, Operator::kLessThan);
    return Unexpected(op, ", expected: in, notin, =, ==, !=, gt, lt");
  }

  absl::StatusOr<Requirement> ParseSingle(absl::string_view key, Operator op) {
    if (AtRequirementEnd()) return MakeRequirement(key, op, {""});
    if (!next_.is_word) return Unexpected(next_, ", expected: identifier");
    return MakeRequirement(key, op, {std::string(Advance().text)});
  }

  absl::StatusOr<Requirement> ParseSet(absl::string_view key, Operator op) {
    if (!At("(")) return Unexpected(next_, " expected: '('");
    Advance();
    if (!next_.is_word && !At(",") && !At(")")) {
      return Unexpected(next_, ", expected: ',', ')' or identifier");
    }
    std::vector<std::string> values;
    while (true) {
      const bool written = next_.is_word;
      values.emplace_back(written ? Advance().text : "");
      if (At(")")) break;
      if (!At(",")) {
        return Unexpected(next_,
                          written ? ", expected: ',' or ')'" : ", expected: ',', or identifier");
      }
      Advance();
    }
    Advance();
    return MakeRequirement(key, op, std::move(values));
  }

  absl::string_view rest_;
  Token next_;
};

}  // namespace

absl::StatusOr<std::vector<Requirement>> ParseRequirements(absl::string_view text) {
  return Parser(text).Parse();
}

}  // namespace kube::internal
