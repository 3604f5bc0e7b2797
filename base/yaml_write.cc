// Writes YAML as kubectl prints it: block style, lists not indented under their name. There are two
// forms. The one for people and files prefers readable text (blocks under "|", few quotes); the
// other one (as_go) is what go-yaml writes, byte for byte (internal/yaml_go.h). A text longer than
// its limit is given up.

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/internal/yaml_go.h"
#include "base/internal/yaml_scalar.h"
#include "base/yaml.h"

namespace yaml {
namespace {

// Longer keys need YAML's explicit form "? key".
constexpr size_t kMaxSimpleKey = 1000;

std::string EscapeOf(absl::string_view special) {
  if (special == "\xc2\x85") return "\\u0085";  // yaml-cpp reads \N as a byte that is not UTF-8.
  if (special == "\xe2\x80\xa8") return "\\L";
  if (special == "\xe2\x80\xa9") return "\\P";
  return "\\uFEFF";
}

std::string EscapeOf(char c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    default:
      return absl::ascii_iscntrl(c) ? absl::StrFormat("\\x%02X", c) : std::string(1, c);
  }
}

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const bool was_special = [&] {
      for (const absl::string_view special :
           {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf"}) {
        if (!absl::ConsumePrefix(&text, special)) continue;
        quoted += EscapeOf(special);
        return true;
      }
      return false;
    }();
    if (was_special) continue;
    quoted += EscapeOf(text[0]);
    text.remove_prefix(1);
  }
  return quoted + "\"";
}

// Returns whether `text` is readable, and can be read back exactly, as lines under a "|".
bool IsBlockText(absl::string_view text) {
  if (!absl::StrContains(text, "\n") || absl::ascii_isspace(text[0])) return false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty()) continue;
    if (absl::ascii_isspace(line.back())) return false;
    for (const char c : line) {
      if (absl::ascii_iscntrl(c) && c != '\t') return false;
    }
    for (const absl::string_view special :
         {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf"}) {
      if (absl::StrContains(line, special)) return false;
    }
  }
  return true;
}

class Writer {
 public:
  // When the text is longer than `max_bytes`, the rest is left out. `as_go`: names are sorted, and
  // scalars written, as go-yaml does it.
  Writer(size_t max_bytes, bool as_go) : max_bytes_(max_bytes), as_go_(as_go) {}

  // Writes a value that stands alone or after "key:" or "-": scalars on the same line, containers
  // below.
  void Document(const json::Value& value) {
    if (value.empty() || !IsContainer(value)) {
      Scalar(value, 0);
    } else if (value.is_array()) {
      Items(value, 0, false);
    } else {
      Members(value, 0, false);
    }
  }

  bool IsFull() const { return out_.size() > max_bytes_; }
  std::string Take() { return std::move(out_); }

 private:
  static bool IsContainer(const json::Value& value) {
    return value.is_array() || value.is_object();
  }

  void Indent(size_t indent) { out_.append(indent, ' '); }

  // `inline_first`: the first member continues the line (after "- ").
  void Members(const json::Value& object, size_t indent, bool inline_first) {
    std::vector<const json::Member*> members;
    for (const json::Member& member : object.members()) members.push_back(&member);
    if (as_go_) {
      std::stable_sort(members.begin(), members.end(),
                       [](const json::Member* a, const json::Member* b) {
                         return internal::IsBeforeInGo(a->name(), b->name());
                       });
    }
    for (const json::Member* member : members) {
      if (IsFull()) return;
      if (!std::exchange(inline_first, false)) Indent(indent);
      Key(member->name(), indent);
      MemberValue(member->value, indent);
    }
  }

  void GoKey(absl::string_view name, size_t indent) {
    const bool simple = internal::IsSimpleGoName(name);
    if (!simple) out_ += "? ";
    internal::AppendGoString(name, indent + 2, simple, out_);
    if (!simple) {
      if (!absl::EndsWith(out_, "\n")) out_ += "\n";
      Indent(indent);
    }
    out_ += ":";
  }

  void Key(absl::string_view name, size_t indent) {
    if (as_go_) return GoKey(name, indent);
    const std::string key = internal::IsPlainString(name) ? std::string(name) : Quoted(name);
    if (key.size() <= kMaxSimpleKey) {
      absl::StrAppend(&out_, key, ":");
      return;
    }
    absl::StrAppend(&out_, "? ", key, "\n");
    Indent(indent);
    out_ += ":";
  }

  void MemberValue(const json::Value& value, size_t indent) {
    if (value.empty() || !IsContainer(value)) {
      out_ += " ";
      Scalar(value, indent);
      return;
    }
    out_ += "\n";
    if (value.is_array()) return Items(value, indent, false);
    Members(value, indent + 2, false);
  }

  void Items(const json::Value& array, size_t indent, bool inline_first) {
    for (const json::Value& item : array.items()) {
      if (IsFull()) return;
      if (!std::exchange(inline_first, false)) Indent(indent);
      out_ += "- ";
      if (item.empty() || !IsContainer(item)) {
        Scalar(item, indent);
      } else if (item.is_array()) {
        Items(item, indent + 2, true);
      } else {
        Members(item, indent + 2, true);
      }
    }
  }

  // Writes a scalar or an empty container, and ends the line.
  void Scalar(const json::Value& value, size_t indent) {
    if (as_go_ && value.is_string()) {
      internal::AppendGoString(value.AsString(), indent + 2, /*is_name=*/false, out_);
      if (!absl::EndsWith(out_, "\n")) out_ += "\n";
      return;
    }
    if (as_go_ && value.is_number() && !value.is_int()) {
      absl::StrAppend(&out_, internal::GoFloat(value.AsDouble()), "\n");
      return;
    }
    if (!value.is_string()) {
      absl::StrAppend(&out_, json::Write(value), "\n");
      return;
    }
    const absl::string_view text = value.AsString();
    if (IsBlockText(text)) return Block(text, indent + 2);
    absl::StrAppend(&out_, internal::IsPlainString(text) ? std::string(text) : Quoted(text), "\n");
  }

  void Block(absl::string_view text, size_t indent) {
    const bool ended = absl::ConsumeSuffix(&text, "\n");
    // The marker determines the final line breaks: none, one, or as many as there are.
    out_ += !ended ? "|-\n" : absl::EndsWith(text, "\n") ? "|+\n" : "|\n";
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      if (IsFull()) return;
      // Blanks on an empty line would become a part of the text.
      if (!line.empty()) Indent(indent);
      absl::StrAppend(&out_, line, "\n");
    }
  }

  const size_t max_bytes_;
  const bool as_go_;
  std::string out_;
};

}  // namespace

std::string Write(const json::Value& value) {
  Writer writer(std::numeric_limits<size_t>::max(), /*as_go=*/false);
  writer.Document(value);
  return writer.Take();
}

absl::StatusOr<std::string> WriteAsGo(const json::Value& value, size_t max_bytes) {
  Writer writer(max_bytes, /*as_go=*/true);
  writer.Document(value);
  if (!writer.IsFull()) return writer.Take();
  return absl::ResourceExhaustedError(
      absl::StrCat("the YAML text would have more than ", max_bytes, " bytes"));
}

}  // namespace yaml
