// Writes JSON text byte for byte as Go's encoder does, because texts are compared and hashed:
// numbers in Go's shortest form, line separators escaped where HTML is, bytes that are not UTF-8 as
// \ufffd. Members are written in the order in which they are kept, sorted by name.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/utf8.h"

namespace json {
namespace {

constexpr absl::string_view kLineSeparator = "\xe2\x80\xa8";
constexpr absl::string_view kParagraphSeparator = "\xe2\x80\xa9";

// Marks the bytes that are written into a string as they are, whatever the options and the bytes
// beside them.
constexpr std::array<bool, 256> MakePlainBytes() {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) {
    plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
  }
  return plain;
}
constexpr std::array<bool, 256> kPlainBytes = MakePlainBytes();

// Returns the position of the first byte from `at` on that is not plain; the size when there is
// none.
size_t PlainUntil(absl::string_view s, size_t at) {
  while (at < s.size() && kPlainBytes[static_cast<unsigned char>(s[at])]) ++at;
  return at;
}

class Writer {
 public:
  explicit Writer(const WriteOptions& options) : options_(options) {}

  void Write(const Value& v) {
    switch (v.type()) {
      case Value::Type::kNull:
        out_ += "null";
        break;
      case Value::Type::kBool:
        out_ += v.AsBool() ? "true" : "false";
        break;
      case Value::Type::kInt:
        absl::StrAppend(&out_, v.AsInt());
        break;
      case Value::Type::kDouble:
        WriteDouble(v.AsDouble());
        break;
      case Value::Type::kString:
        WriteString(v.AsString());
        break;
      case Value::Type::kArray:
        WriteArray(v);
        break;
      case Value::Type::kObject:
        WriteObject(v);
        break;
    }
  }
  std::string Take() { return std::move(out_); }

 private:
  void NewLine() {
    if (options_.indent == 0) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(options_.indent * depth_), ' ');
  }

  void WriteArray(const Value& v) {
    out_ += '[';
    ++depth_;
    bool first = true;
    for (const Value& item : v.items()) {
      if (!first) out_ += ',';
      first = false;
      NewLine();
      Write(item);
    }
    --depth_;
    if (!first) NewLine();
    out_ += ']';
  }

  void WriteObject(const Value& v) {
    out_ += '{';
    ++depth_;
    bool first = true;
    for (const Member& m : v.members()) {
      if (!first) out_ += ',';
      first = false;
      NewLine();
      WriteString(m.name());
      out_ += options_.indent == 0 ? ":" : ": ";
      Write(m.value);
    }
    --depth_;
    if (!first) NewLine();
    out_ += '}';
  }

  // Writes the shortest digits that read back as the same double; exponents only below 1e-6 and
  // from 1e21 on.
  void WriteDouble(double d) {
    if (!std::isfinite(d)) {
      out_ += "null";
      return;
    }
    const double size = std::fabs(d);
    const bool exponent = size != 0 && (size < 1e-6 || size >= 1e21);
    // From 2^53 on, fixed notation would print digits beyond the shortest ones.
    if (!exponent && size >= 9007199254740992.0) {
      WritePaddedDouble(d);
      return;
    }
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof(buffer), d,
                      exponent ? std::chars_format::scientific : std::chars_format::fixed);
    absl::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
    const size_t n = text.size();
    // Go writes e-9, not e-09.
    if (exponent && n >= 4 && text.substr(n - 4, 3) == "e-0") {
      absl::StrAppend(&out_, text.substr(0, n - 2), text.substr(n - 1));
      return;
    }
    absl::StrAppend(&out_, text);
  }

  // Writes the shortest digits, filled up with zeros to the decimal point.
  void WritePaddedDouble(double d) {
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof(buffer), std::fabs(d), std::chars_format::scientific);
    const absl::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
    const size_t e = text.find('e');
    std::string digits(text.substr(0, e));
    digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
    int exponent = 0;
    // The exponent has a sign, "e+16", which from_chars does not take.
    std::from_chars(text.data() + e + 2, text.data() + text.size(), exponent);
    digits.resize(static_cast<size_t>(exponent) + 1, '0');
    absl::StrAppend(&out_, d < 0 ? "-" : "", digits);
  }

  void WriteString(absl::string_view s) {
    out_ += '"';
    size_t plain = 0;  // Start of the bytes not yet copied.
    for (size_t i = 0; i < s.size();) {
      i = PlainUntil(s, i);
      if (i == s.size()) break;
      const auto c = static_cast<unsigned char>(s[i]);
      const size_t length = c < 0x80 ? 1 : base::Utf8Length(s.substr(i));
      if (!IsSpecial(s.substr(i, length))) {
        i += length;
        continue;
      }
      out_.append(s.data() + plain, i - plain);
      WriteEscape(s.substr(i, length));
      i += std::max<size_t>(length, 1);
      plain = i;
    }
    out_.append(s.data() + plain, s.size() - plain);
    out_ += '"';
  }

  // Returns whether the character is escaped; `character` is empty for a byte that is not UTF-8.
  bool IsSpecial(absl::string_view character) const {
    if (character.empty()) return true;
    const auto c = static_cast<unsigned char>(character[0]);
    if (c < 0x20 || c == '"' || c == '\\') return true;
    if (!options_.html_escape) return false;
    return c == '<' || c == '>' || c == '&' || character == kLineSeparator ||
           character == kParagraphSeparator;
  }

  void WriteEscape(absl::string_view character) {
    if (character.empty()) {
      out_ += "\\ufffd";
    } else if (character.size() == 1) {
      WriteEscape(character[0]);
    } else {
      out_ += character == kLineSeparator ? "\\u2028" : "\\u2029";
    }
  }

  void WriteEscape(char c) {
    switch (c) {
      case '"':
        out_ += "\\\"";
        return;
      case '\\':
        out_ += "\\\\";
        return;
      case '\n':
        out_ += "\\n";
        return;
      case '\r':
        out_ += "\\r";
        return;
      case '\t':
        out_ += "\\t";
        return;
      case '\b':
        out_ += "\\b";
        return;
      case '\f':
        out_ += "\\f";
        return;
      default:
        absl::StrAppend(&out_, "\\u00", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }

  const WriteOptions options_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string Write(const Value& value, const WriteOptions& options) {
  Writer writer(options);
  writer.Write(value);
  return writer.Take();
}

}  // namespace json
