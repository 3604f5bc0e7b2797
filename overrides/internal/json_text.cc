// How it works. The text is checked by json::Parse and then split into a tree whose leaves are
// views of pieces of the text, so that opening many levels copies nothing. Operations change the
// tree; what they add are leaves, too, which are split when a later operation goes into them.
// Writing the tree joins the pieces. As json::Parse, operations refuse what is nested deeper than
// 512 levels.

#include "overrides/internal/json_text.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace overrides {
namespace {

// The limit of nesting for parsed documents; a patch must not build deeper ones.
constexpr size_t kMaxDepth = 512;
// What is counted in the time in which a JSON patch looks at one value: one character that is read
// and written, so many characters that are passed over where a value is split, and so many members
// or elements that are compared or moved. A member that is split off takes longer.
constexpr size_t kSplitTogether = 64;
constexpr size_t kPerChild = 4;
constexpr size_t kChildrenTogether = 8;

// One value of the document. Members and elements are split off the text on first use.
class Node {
 public:
  // `text` is one valid value, which must outlive the node.
  explicit Node(absl::string_view text) : text_(absl::StripAsciiWhitespace(text)) {}

  bool is_object() const { return text_[0] == '{'; }
  bool is_array() const { return text_[0] == '['; }

  // Splits an object or a list.
  void Open(kube::PatchBudget& budget);
  // Returns the member of an object, or nullptr. REQUIRES: Open.
  Node* Find(absl::string_view name);
  Node& At(size_t index);
  size_t size() const { return children_.size(); }
  void Set(absl::string_view name, Node value);
  void Insert(size_t index, Node value);
  bool Erase(absl::string_view name);
  void EraseAt(size_t index);

  void WriteTo(std::string& out) const;

 private:
  struct Child;
  void Split(absl::string_view text);

  absl::string_view text_;
  bool is_open_ = false;
  std::vector<Child> children_;
};

struct Node::Child {
  std::string name;  // Decoded; "" in lists.
  Node value;
};

Node& Node::At(size_t index) { return children_[index].value; }

void Node::EraseAt(size_t index) {
  children_.erase(children_.begin() + static_cast<ptrdiff_t>(index));
}

// Returns the length of the string at the beginning of valid JSON text.
size_t LengthOfString(absl::string_view text) {
  size_t begin = 1;
  size_t quote = text.find('"', begin);
  while (true) {
    const size_t escape = text.substr(0, quote).find('\\', begin);
    if (escape == absl::string_view::npos) return quote + 1;
    begin = escape + 2;
    if (begin > quote) quote = text.find('"', begin);
  }
}

// Returns the length of the value there, with the white space behind it.
size_t LengthOfValue(absl::string_view text) {
  size_t end = 0;
  int depth = 0;
  while (end < text.size()) {
    const char c = text[end];
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    end += c == '"' ? LengthOfString(text.substr(end)) : 1;
  }
  return end;
}

// Takes a value, and the comma behind it, off the beginning of the text.
absl::string_view TakeValue(absl::string_view& text) {
  const size_t length = LengthOfValue(text);
  const absl::string_view value = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  text = absl::StripLeadingAsciiWhitespace(text);
  return value;
}

void Node::Open(kube::PatchBudget& budget) {
  if (is_open_) return;
  budget.Spend(text_.size() / kSplitTogether);
  is_open_ = true;
  Split(absl::StripAsciiWhitespace(text_.substr(1, text_.size() - 2)));
  budget.Spend(children_.size() * kPerChild);
}

void Node::Split(absl::string_view text) {
  while (!text.empty()) {
    if (is_array()) {
      children_.push_back({"", Node(TakeValue(text))});
      continue;
    }
    const size_t length = LengthOfString(text);
    const std::string name = json::Parse(text.substr(0, length)).value_or("").ToString();
    text.remove_prefix(text.find(':', length) + 1);
    children_.push_back({name, Node(TakeValue(text))});
  }
}

Node* Node::Find(absl::string_view name) {
  // The last one counts when a name is repeated.
  for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
    if (child->name == name) return &child->value;
  }
  return nullptr;
}

void Node::Set(absl::string_view name, Node value) {
  if (Node* held = Find(name); held != nullptr) {
    *held = std::move(value);
  } else {
    children_.push_back({std::string(name), std::move(value)});
  }
}

void Node::Insert(size_t index, Node value) {
  children_.insert(children_.begin() + static_cast<ptrdiff_t>(index), {"", std::move(value)});
}

bool Node::Erase(absl::string_view name) {
  return std::erase_if(children_, [&](const Child& child) { return child.name == name; }) > 0;
}

// Appends valid JSON text without the white space between its tokens.
void AppendCompact(absl::string_view text, std::string& out) {
  while (!text.empty()) {
    const size_t length = text[0] == '"' ? LengthOfString(text) : 1;
    const absl::string_view token = text.substr(0, length);
    if (length > 1 || !absl::ascii_isspace(token[0])) absl::StrAppend(&out, token);
    text.remove_prefix(length);
  }
}

void Node::WriteTo(std::string& out) const {
  if (!is_open_) return AppendCompact(text_, out);
  out += text_[0];
  for (size_t i = 0; i < children_.size(); ++i) {
    if (i > 0) out += ',';
    if (is_object()) absl::StrAppend(&out, json::Write(children_[i].name), ":");
    children_[i].value.WriteTo(out);
  }
  out += is_object() ? '}' : ']';
}

absl::Status Fail(absl::string_view op, absl::string_view path, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat(op, " operation does not apply to \"", path, "\": ", problem));
}

absl::Status TooMuch(absl::string_view op, absl::string_view path) {
  return absl::ResourceExhaustedError(
      Fail(op, path, "this and what was done before it is too much work").message());
}

// Returns the position for `text` in a list with `count` positions; negative ones count from the
// end; -1 when there is no such position.
int64_t IndexOf(absl::string_view text, size_t count) {
  const auto size = static_cast<int64_t>(count);
  int32_t index = 0;
  const bool is_number = !text.empty() && !absl::ascii_isspace(text[0]) &&
                         !absl::ascii_isspace(text.back()) && absl::SimpleAtoi(text, &index);
  if (!is_number || index >= size || index < -size) return -1;
  return index < 0 ? index + size : index;
}

Node* ChildOf(Node& parent, absl::string_view name, kube::PatchBudget& budget) {
  parent.Open(budget);
  budget.Spend(1 + parent.size() / kChildrenTogether);
  if (parent.is_object()) return parent.Find(name);
  const int64_t index = IndexOf(name, parent.size());
  return index < 0 ? nullptr : &parent.At(static_cast<size_t>(index));
}

bool IsContainer(const Node& node) { return node.is_object() || node.is_array(); }

// Returns the container that holds the last of the names; nullptr when it does not exist.
Node* ParentOf(Node& root, absl::Span<const std::string> names, kube::PatchBudget& budget) {
  Node* at = &root;
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    at = ChildOf(*at, names[i], budget);
    if (at == nullptr || !IsContainer(*at)) return nullptr;
  }
  at->Open(budget);
  budget.Spend(1 + at->size() / kChildrenTogether);
  return at;
}

absl::Status AddTo(Node& parent, absl::string_view name, absl::string_view path, Node value) {
  if (parent.is_object()) {
    parent.Set(name, std::move(value));
    return absl::OkStatus();
  }
  const int64_t index =
      name == "-" ? static_cast<int64_t>(parent.size()) : IndexOf(name, parent.size() + 1);
  if (index < 0) return Fail("add", path, "there is no such index");
  parent.Insert(static_cast<size_t>(index), std::move(value));
  return absl::OkStatus();
}

size_t Depth(const json::Value& value) {
  size_t deepest = 0;
  for (const json::Value& item : value.items()) deepest = std::max(deepest, Depth(item));
  for (const json::Member& m : value.members()) deepest = std::max(deepest, Depth(m.value));
  return value.is_array() || value.is_object() ? deepest + 1 : 0;
}

// `value` has the text of the operation's value.
absl::Status RunOperation(const json::Value& operation, Node value, Node& root,
                          kube::PatchBudget& budget) {
  const absl::string_view op = operation["op"].AsString();
  const absl::string_view path = operation["path"].AsString();
  if (budget.IsSpent()) return TooMuch(op, path);
  if (path.empty() && op == "replace") {
    if (!IsContainer(value)) return Fail(op, path, "a document must be an object or a list");
    root = std::move(value);
    return absl::OkStatus();
  }
  std::vector<std::string> names = absl::StrSplit(path, '/');
  if (names.size() < 2) return Fail(op, path, "it is not a path inside the document");
  names.erase(names.begin());
  if (names.size() + Depth(operation["value"]) > kMaxDepth) {
    return Fail(op, path, "the result is nested too deeply");
  }
  for (std::string& name : names) name = absl::StrReplaceAll(name, {{"~1", "/"}, {"~0", "~"}});
  Node* parent = ParentOf(root, names, budget);
  if (parent == nullptr) return Fail(op, path, "its parent does not exist");
  if (op == "add") return AddTo(*parent, names.back(), path, std::move(value));
  Node* held = ChildOf(*parent, names.back(), budget);
  if (held == nullptr) return Fail(op, path, "the path does not exist");
  if (op == "replace") {
    *held = std::move(value);
  } else if (op != "remove") {
    return absl::InvalidArgumentError(absl::StrCat("unexpected operation kind \"", op, "\""));
  } else if (parent->is_object()) {
    parent->Erase(names.back());
  } else {
    parent->EraseAt(static_cast<size_t>(IndexOf(names.back(), parent->size())));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PatchJsonText(absl::string_view text, const json::Value& operations,
                                          kube::PatchBudget& budget) {
  if (text.empty()) return std::string();
  budget.Spend(text.size());
  if (budget.IsSpent()) return absl::ResourceExhaustedError("to read the text is too much work");
  RETURN_IF_ERROR(json::Parse(text).status());
  Node root(text);
  if (!IsContainer(root)) return absl::InvalidArgumentError("it is neither an object nor a list");
  std::deque<std::string> values;  // What the operations add; the tree has views of it.
  for (const json::Value& operation : operations.items()) {
    values.push_back(json::Write(operation["value"]));
    RETURN_IF_ERROR(RunOperation(operation, Node(values.back()), root, budget));
  }
  std::string result;
  root.WriteTo(result);
  // These characters occur in strings only.
  return absl::StrReplaceAll(result, {{"<", "\\u003c"},
                                      {">", "\\u003e"},
                                      {"&", "\\u0026"},
                                      {"\xe2\x80\xa8", "\\u2028"},
                                      {"\xe2\x80\xa9", "\\u2029"}});
}

}  // namespace overrides
