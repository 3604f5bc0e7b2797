// Parses JSONPath templates: pieces, which are texts and expressions; an expression is a list of
// steps. The grammar is that of client-go's jsonpath package, without range and end; its oddities
// are kept, such as blanks, @ and $ that mean nothing between steps. Parsing is recursive only into
// filters and subscripts, and a template is limited to kMaxLength, so the depth is bounded.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "kube/meta/json_path.h"

namespace kube {

namespace {

bool IsQuote(char c) { return c == '"' || c == '\''; }

bool EndsName(char c) {
  return absl::ascii_isspace(static_cast<unsigned char>(c)) ||
         absl::string_view(".,[]$@{}").find(c) != absl::string_view::npos;
}

}  // namespace

class JsonPath::Parser {
 public:
  // `whole` is the template that errors name.
  explicit Parser(absl::string_view whole) : whole_(whole), rest_(whole) {}

  absl::StatusOr<std::vector<Nodes>> Template() {
    std::vector<Nodes> pieces;
    while (!rest_.empty()) {
      const absl::string_view text = Take(std::min(rest_.find('{'), rest_.size()));
      if (!text.empty()) pieces.push_back({Literal(text)});
      if (!absl::ConsumePrefix(&rest_, "{")) continue;
      ASSIGN_OR_RETURN(Nodes nodes, Expression());
      if (!absl::ConsumePrefix(&rest_, "}")) return Bad("unclosed action");
      pieces.push_back(std::move(nodes));
    }
    return pieces;
  }

 private:
  Parser(absl::string_view whole, absl::string_view part) : whole_(whole), rest_(part) {}

  absl::Status Bad(absl::string_view why) const {
    return absl::InvalidArgumentError(absl::StrCat("JSONPath \"", whole_, "\": ", why));
  }

  // Takes fewer characters when there are not so many.
  absl::string_view Take(size_t length) {
    const absl::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  static Node Literal(json::Value value) {
    Node node;
    node.literal = std::move(value);
    return node;
  }
  static Node Step(Node::Kind kind) {
    Node node;
    node.kind = kind;
    return node;
  }

  // Parses the steps up to a closing brace or the end.
  absl::StatusOr<Nodes> Expression() {
    Nodes nodes;
    while (!rest_.empty() && rest_[0] != '}') RETURN_IF_ERROR(Next(nodes));
    return nodes;
  }

  // Parses a whole part of an expression, such as one side of a filter.
  absl::StatusOr<Nodes> Part(absl::string_view text) const {
    Parser parser(whole_, text);
    ASSIGN_OR_RETURN(Nodes nodes, parser.Expression());
    if (!parser.rest_.empty()) return Bad("unexpected }");
    return nodes;
  }

  absl::Status Next(Nodes& nodes) {
    const char c = rest_[0];
    // "$" and "@" name what a path begins at anyway.
    if (c == ' ' || c == '@' || c == '$') {
      Take(1);
      return absl::OkStatus();
    }
    if (absl::StartsWith(rest_, "[?(")) return Filter(nodes);
    if (absl::StartsWith(rest_, "..")) return Recursive(nodes);
    if (c == '[') return Subscript(nodes);
    if (c == '.') {
      Take(1);
      return Member(nodes);
    }
    if (IsQuote(c)) return Quoted(nodes);
    return Word(nodes);
  }

  absl::Status Member(Nodes& nodes) {
    std::string name;
    while (!rest_.empty() && !EndsName(rest_[0])) {
      if (rest_[0] == '\\') Take(1);
      if (rest_.empty()) return Bad("a name ends with a backslash");
      absl::StrAppend(&name, Take(1));
    }
    nodes.push_back(Step(name == "*" ? Node::Kind::kAll : Node::Kind::kMember));
    nodes.back().name = std::move(name);
    return absl::OkStatus();
  }

  absl::Status Recursive(Nodes& nodes) {
    if (!nodes.empty() && nodes.back().kind == Node::Kind::kRecursive) {
      return Bad("invalid multiple recursive descent");
    }
    Take(2);
    nodes.push_back(Step(Node::Kind::kRecursive));
    // "..name" is a descent and a member; "..[0]" and "..*" have their own step behind the descent.
    const bool named = !rest_.empty() && (absl::ascii_isalnum(rest_[0]) || rest_[0] == '_');
    return named ? Member(nodes) : absl::OkStatus();
  }

  absl::Status Quoted(Nodes& nodes) {
    const char quote = Take(1)[0];
    std::string text;
    while (!rest_.empty() && rest_[0] != quote) {
      if (rest_[0] == '\\') Take(1);
      absl::StrAppend(&text, Take(1));
    }
    if (rest_.empty()) return Bad("unterminated quoted string");
    Take(1);
    nodes.push_back(Literal(text));
    return absl::OkStatus();
  }

  // Parses a number or a boolean.
  absl::Status Word(Nodes& nodes) {
    size_t length = 0;
    const bool number = absl::string_view("+-0123456789").find(rest_[0]) != absl::string_view::npos;
    while (length < rest_.size() &&
           (!EndsName(rest_[length]) || (number && rest_[length] == '.'))) {
      ++length;
    }
    const absl::string_view word = Take(length);
    int64_t integer = 0;
    double real = 0;
    if (word == "true" || word == "false") {
      nodes.push_back(Literal(word == "true"));
    } else if (number && absl::SimpleAtoi(word, &integer)) {
      nodes.push_back(Literal(integer));
    } else if (number && absl::SimpleAtod(word, &real)) {
      nodes.push_back(Literal(real));
    } else if (word == "range" || word == "end") {
      return Bad("range and end are not supported");
    } else {
      return Bad(absl::StrCat("unrecognized ", word.empty() ? rest_.substr(0, 1) : word));
    }
    return absl::OkStatus();
  }

  absl::Status Subscript(Nodes& nodes) {
    const size_t end = rest_.find(']');
    if (end == absl::string_view::npos) return Bad("unterminated array");
    const absl::string_view inside = Take(end + 1).substr(1, end - 1);
    const std::vector<absl::string_view> alternatives = absl::StrSplit(inside, ',');
    if (alternatives.size() == 1) return Single(inside, nodes);
    Node both = Step(Node::Kind::kUnion);
    for (const absl::string_view alternative : alternatives) {
      Nodes one;
      RETURN_IF_ERROR(Single(absl::StripAsciiWhitespace(alternative), one));
      both.parts.push_back(std::move(one));
    }
    nodes.push_back(std::move(both));
    return absl::OkStatus();
  }

  absl::Status Single(absl::string_view inside, Nodes& nodes) const {
    // All items are the slice from the beginning to the end.
    if (inside == "*") inside = ":";
    // ['a.b'] is read as .a.b, as in client-go; a dot of the name is written with a backslash.
    if (inside.size() >= 2 && inside[0] == '\'' && inside.back() == '\'') {
      ASSIGN_OR_RETURN(Nodes named, Part(absl::StrCat(".", inside.substr(1, inside.size() - 2))));
      for (Node& node : named) nodes.push_back(std::move(node));
      return absl::OkStatus();
    }
    const std::vector<absl::string_view> bounds = absl::StrSplit(inside, ':');
    Node slice = Step(Node::Kind::kSlice);
    // "[3]" is one item and an error if it is missing; "[3:4]" may be empty.
    slice.is_index = bounds.size() == 1 && !inside.empty();
    if (bounds.size() > 3) return Bad(absl::StrCat("invalid array index ", inside));
    for (size_t i = 0; i < bounds.size(); ++i) {
      int64_t value = 0;
      if (bounds[i].empty()) continue;
      if (!absl::SimpleAtoi(bounds[i], &value)) {
        return Bad(absl::StrCat("invalid array index ", inside));
      }
      slice.bounds[i] = value;
    }
    nodes.push_back(std::move(slice));
    return absl::OkStatus();
  }

  absl::Status Filter(Nodes& nodes) {
    ASSIGN_OR_RETURN(const absl::string_view inside, FilterText());
    Node filter = Step(Node::Kind::kFilter);
    // The first such character begins the operator, even inside of quotes, as in client-go.
    const size_t op = inside.find_first_of("!<>=");
    const size_t end = std::min(inside.find_first_not_of("!<>=", op), inside.size());
    ASSIGN_OR_RETURN(Nodes left, Part(inside.substr(0, op)));
    filter.parts.push_back(std::move(left));
    if (op != absl::string_view::npos) {
      filter.name = std::string(inside.substr(op, end - op));
      const std::vector<absl::string_view> known = {"==", "!=", "<", "<=", ">", ">="};
      if (std::find(known.begin(), known.end(), filter.name) == known.end()) {
        return Bad(absl::StrCat("unrecognized filter operator ", filter.name));
      }
      ASSIGN_OR_RETURN(Nodes right, Part(inside.substr(end)));
      filter.parts.push_back(std::move(right));
    }
    nodes.push_back(std::move(filter));
    return absl::OkStatus();
  }

  // Takes "[?(...)]"; returns what is in the parentheses. Those in quotes do not count.
  absl::StatusOr<absl::string_view> FilterText() {
    Take(3);
    char quote = 0;
    for (size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (quote == 0 && c == ')') {
        const absl::string_view inside = Take(i);
        if (!absl::ConsumePrefix(&rest_, ")]")) return Bad("unclosed array, expected ]");
        return inside;
      }
      if (quote == 0 && IsQuote(c)) {
        quote = c;
      } else if (quote != 0 && c == quote && rest_[i - 1] != '\\') {
        quote = 0;
      }
    }
    return Bad("unterminated filter");
  }

  const absl::string_view whole_;
  absl::string_view rest_;
};

absl::StatusOr<JsonPath> JsonPath::Parse(absl::string_view text) {
  if (text.size() > kMaxLength) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a JSONPath of ", text.size(), " bytes is too long: at most ", kMaxLength, " are read"));
  }
  JsonPath path;
  ASSIGN_OR_RETURN(path.pieces_, Parser(text).Template());
  return path;
}

}  // namespace kube
