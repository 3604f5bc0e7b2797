#include "sandbox/tables/json_path.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"

namespace sandbox {

class JsonPath::Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text), rest_(text) {}

  absl::StatusOr<std::vector<Step>> Run() {
    // kubectl writes {.a.b}, definitions .a.b.
    if (absl::ConsumePrefix(&rest_, "{")) absl::ConsumeSuffix(&rest_, "}");
    absl::ConsumePrefix(&rest_, "$");
    while (!rest_.empty()) RETURN_IF_ERROR(Next());
    return std::move(steps_);
  }

 private:
  absl::Status Bad(absl::string_view why) const {
    return absl::InvalidArgumentError(absl::StrCat("JSON path \"", text_, "\": ", why));
  }

  absl::Status Next() {
    if (absl::ConsumePrefix(&rest_, "[")) return Bracket();
    if (!absl::ConsumePrefix(&rest_, ".")) return Bad("expected . or [");
    std::string name;
    while (!rest_.empty() && rest_[0] != '.' && rest_[0] != '[') {
      if (rest_[0] == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      name.push_back(rest_[0]);
      rest_.remove_prefix(1);
    }
    if (name.empty()) return rest_.empty() ? absl::OkStatus() : Bad("recursion is not supported");
    Step step;
    step.kind = name == "*" ? Step::Kind::kAll : Step::Kind::kMember;
    step.name = std::move(name);
    steps_.push_back(std::move(step));
    return absl::OkStatus();
  }

  absl::Status Bracket() {
    const size_t end = ClosingBracket();
    if (end == absl::string_view::npos) return Bad("unclosed [");
    const absl::string_view inside = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    Step step;
    if (inside == "*") {
      step.kind = Step::Kind::kAll;
    } else if (IsQuoted(inside)) {
      step.name = std::string(inside.substr(1, inside.size() - 2));
    } else if (absl::SimpleAtoi(inside, &step.index)) {
      step.kind = Step::Kind::kIndex;
    } else if (absl::StartsWith(inside, "?(") && absl::EndsWith(inside, ")")) {
      RETURN_IF_ERROR(Filter(inside.substr(2, inside.size() - 3), step));
    } else {
      return Bad("unknown subscript");
    }
    steps_.push_back(std::move(step));
    return absl::OkStatus();
  }

  // Returns the position of the bracket that closes this one; brackets in quotes do not count.
  size_t ClosingBracket() const {
    char quote = 0;
    for (size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == ']') {
        return i;
      }
    }
    return absl::string_view::npos;
  }

  static bool IsQuoted(absl::string_view s) {
    return s.size() >= 2 && (s[0] == '\'' || s[0] == '"') && s.back() == s[0];
  }

  absl::Status Filter(absl::string_view text, Step& step) const {
    step.kind = Step::Kind::kFilter;
    for (const char* op : {"==", "!="}) {
      const size_t at = text.find(op);
      if (at == absl::string_view::npos) continue;
      step.op = op;
      const absl::string_view literal = absl::StripAsciiWhitespace(text.substr(at + 2));
      if (IsQuoted(literal)) {
        step.literal = literal.substr(1, literal.size() - 2);
      } else {
        ASSIGN_OR_RETURN(step.literal, json::Parse(literal));
      }
      text = text.substr(0, at);
      break;
    }
    text = absl::StripAsciiWhitespace(text);
    if (!absl::ConsumePrefix(&text, "@")) return Bad("a filter starts with @");
    step.operand = absl::StrSplit(text, '.', absl::SkipEmpty());
    return absl::OkStatus();
  }

  absl::string_view text_;
  absl::string_view rest_;
  std::vector<Step> steps_;
};

absl::StatusOr<JsonPath> JsonPath::Parse(absl::string_view text) {
  JsonPath path;
  ASSIGN_OR_RETURN(path.steps_, Parser(text).Run());
  return path;
}

bool JsonPath::Passes(const Step& filter, const json::Value& item) {
  const json::Value* v = &item;
  for (const std::string& name : filter.operand) {
    v = v->Find(name);
    if (v == nullptr) return false;
  }
  if (filter.op.empty()) return true;
  return (*v == filter.literal) == (filter.op == "==");
}

void JsonPath::Apply(const Step& step, const json::Value& value, std::vector<json::Value>& out) {
  switch (step.kind) {
    case Step::Kind::kMember:
      if (const json::Value* member = value.Find(step.name)) out.push_back(*member);
      return;
    case Step::Kind::kIndex: {
      const auto size = static_cast<int64_t>(value.items().size());
      const int64_t at = step.index < 0 ? size + step.index : step.index;
      if (at >= 0 && at < size) out.push_back(value.At(static_cast<size_t>(at)));
      return;
    }
    case Step::Kind::kAll:
      for (const json::Value& item : value.items()) out.push_back(item);
      for (const json::Member& member : value.members()) out.push_back(member.value);
      return;
    case Step::Kind::kFilter:
      for (const json::Value& item : value.items()) {
        if (Passes(step, item)) out.push_back(item);
      }
      return;
  }
}

std::vector<json::Value> JsonPath::Find(const json::Value& root) const {
  std::vector<json::Value> found = {root};
  for (const Step& step : steps_) {
    std::vector<json::Value> next;
    for (const json::Value& value : found) Apply(step, value, next);
    found = std::move(next);
  }
  return found;
}

}  // namespace sandbox
