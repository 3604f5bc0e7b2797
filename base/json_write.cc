// Writing JSON text as Go's encoder does.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace json {
namespace {

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

  // Shortest digits that read back as the same double; exponents only below 1e-6 and from 1e21 on.
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

  // The shortest digits, filled up with zeros to the decimal point.
  void WritePaddedDouble(double d) {
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof(buffer), std::fabs(d), std::chars_format::scientific);
    const absl::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
    const size_t e = text.find('e');
    std::string digits(text.substr(0, e));
    digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
    int exponent = 0;
    std::from_chars(text.data() + e + 2, text.data() + text.size(), exponent);
    digits.resize(static_cast<size_t>(exponent) + 1, '0');
    absl::StrAppend(&out_, d < 0 ? "-" : "", digits);
  }

  void WriteString(absl::string_view s) {
    out_ += '"';
    size_t plain = 0;  // Start of the bytes not yet copied.
    for (size_t i = 0; i < s.size(); ++i) {
      const auto c = static_cast<unsigned char>(s[i]);
      const bool special =
          c < 0x20 || c == '"' || c == '\\' ||
          (options_.html_escape && (c == '<' || c == '>' || c == '&' || c == 0xE2));
      if (!special) continue;
      if (c == 0xE2 && !IsLineSeparator(s, i)) continue;
      out_.append(s.data() + plain, i - plain);
      plain = i + 1;
      if (c == 0xE2) {
        out_ += s[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
        plain = i + 3;
        i += 2;
        continue;
      }
      WriteEscape(static_cast<char>(c));
    }
    out_.append(s.data() + plain, s.size() - plain);
    out_ += '"';
  }

  // U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
  static bool IsLineSeparator(absl::string_view s, size_t i) {
    return i + 2 < s.size() && s[i + 1] == '\x80' && (s[i + 2] == '\xA8' || s[i + 2] == '\xA9');
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
