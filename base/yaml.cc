// The only place that includes yaml-cpp.
#include "base/yaml.h"

#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"

namespace yaml {
namespace {

// More values than any manifest has; a bomb of nested aliases expands past it.
constexpr int kMaxValues = 1 << 20;
constexpr int kMaxDepth = 512;

bool IsOneOf(absl::string_view text, std::initializer_list<absl::string_view> words) {
  for (const absl::string_view word : words) {
    if (text == word) return true;
  }
  return false;
}

std::optional<bool> AsBool(absl::string_view t) {
  if (IsOneOf(t, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (IsOneOf(t, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) return false;
  return std::nullopt;
}

// YAML 1.1 integers: decimal, 0x, 0o and 0 for octal, 0b, with underscores.
std::optional<int64_t> AsInt(absl::string_view text) {
  std::string t = absl::StrReplaceAll(text, {{"_", ""}});
  if (t.empty() || text[0] == '_') return std::nullopt;
  const bool negative = t[0] == '-';
  if (t[0] == '-' || t[0] == '+') t.erase(0, 1);
  if (t.empty() || !std::isdigit(static_cast<unsigned char>(t[0]))) return std::nullopt;
  int radix = 10;
  if (absl::StartsWith(t, "0x"))
    radix = 16, t.erase(0, 2);
  else if (absl::StartsWith(t, "0b"))
    radix = 2, t.erase(0, 2);
  else if (absl::StartsWith(t, "0o"))
    radix = 8, t.erase(0, 2);
  else if (t.size() > 1 && t[0] == '0')
    radix = 8, t.erase(0, 1);
  if (t.empty()) return std::nullopt;
  errno = 0;
  char* end = nullptr;
  const std::string digits = (negative ? "-" : "") + t;
  const int64_t value = std::strtoll(digits.c_str(), &end, radix);
  if (errno != 0 || *end != '\0') return std::nullopt;
  return value;
}

std::optional<double> AsDouble(absl::string_view t) {
  const bool number_like =
      !t.empty() && (std::isdigit(static_cast<unsigned char>(t.back())) || t.back() == '.') &&
      t.find_first_not_of("0123456789+-.eE") == absl::string_view::npos &&
      t.find_first_of("0123456789") != absl::string_view::npos;
  double value = 0;
  if (!number_like || !absl::SimpleAtod(t, &value)) return std::nullopt;
  return value;
}

json::Value Scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  // "!" marks a quoted scalar, "!!str" an explicit string.
  if (node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str") return text;
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
  if (const auto b = AsBool(text)) return *b;
  if (const auto i = AsInt(text)) return *i;
  if (const auto d = AsDouble(text)) return *d;
  return text;
}

std::string Where(const YAML::Mark& mark) {
  if (mark.is_null()) return "";
  return absl::StrCat(" at line ", mark.line + 1, ", column ", mark.column + 1);
}

class Converter {
 public:
  absl::StatusOr<json::Value> Convert(const YAML::Node& node, int depth) {
    if (++count_ > kMaxValues)
      return absl::InvalidArgumentError("invalid YAML: expands to too much");
    if (depth > kMaxDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid YAML", Where(node.Mark()), ": nested deeper than ", kMaxDepth));
    }
    if (node.IsSequence()) return Sequence(node, depth);
    if (node.IsMap()) return Map(node, depth);
    if (node.IsScalar()) return Scalar(node);
    return json::Value();
  }

 private:
  absl::StatusOr<json::Value> Sequence(const YAML::Node& node, int depth) {
    json::Value list = json::Value::Array();
    for (const YAML::Node& item : node) {
      ASSIGN_OR_RETURN(json::Value value, Convert(item, depth + 1));
      list.Append(std::move(value));
    }
    return list;
  }

  absl::StatusOr<json::Value> Map(const YAML::Node& node, int depth) {
    json::Value map = json::Value::Object();
    for (const auto& entry : node) {
      const YAML::Node& name = entry.first;
      const YAML::Node& item = entry.second;
      if (!name.IsScalar()) {
        return absl::InvalidArgumentError(
            absl::StrCat("invalid YAML", Where(name.Mark()), ": a key must be a scalar"));
      }
      ASSIGN_OR_RETURN(json::Value value, Convert(item, depth + 1));
      if (name.Scalar() == "<<" && value.is_object()) {
        for (const json::Member& m : value.members()) {
          if (!map.Has(m.name())) map.Set(m.name(), m.value);
        }
        continue;
      }
      map.Set(name.Scalar(), std::move(value));
    }
    return map;
  }

  int count_ = 0;
};

// Whether a reader would take this text, unquoted, for something other than this string.
bool NeedsQuotes(const std::string& text) {
  return IsOneOf(text, {"", "~", "null", "Null", "NULL", "y", "Y", "n", "N"}) || AsBool(text) ||
         AsInt(text) || AsDouble(text) || absl::StartsWith(text, "0x") ||
         absl::StartsWith(text, ".");
}

void Emit(const json::Value& v, YAML::Emitter& out) {
  switch (v.type()) {
    case json::Value::Type::kString: {
      const std::string text = v.ToString();
      if (NeedsQuotes(text))
        out << YAML::DoubleQuoted;
      else if (absl::StrContains(text, "\n"))
        out << YAML::Literal;
      out << text;
      return;
    }
    case json::Value::Type::kArray:
      if (v.empty()) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const json::Value& item : v.items()) Emit(item, out);
      out << YAML::EndSeq;
      return;
    case json::Value::Type::kObject:
      if (v.empty()) out << YAML::Flow;
      out << YAML::BeginMap;
      for (const json::Member& m : v.members()) {
        out << YAML::Key;
        Emit(json::Value(m.name()), out);
        out << YAML::Value;
        Emit(m.value, out);
      }
      out << YAML::EndMap;
      return;
    case json::Value::Type::kNull:
      out << YAML::Null;
      return;
    default:
      out << json::Write(v);
  }
}

}  // namespace

absl::StatusOr<std::vector<json::Value>> ParseAll(absl::string_view text) {
  std::vector<json::Value> documents;
  try {
    for (const YAML::Node& node : YAML::LoadAll(std::string(text))) {
      if (!node.IsDefined() || node.IsNull()) continue;
      ASSIGN_OR_RETURN(json::Value value, Converter().Convert(node, 0));
      documents.push_back(std::move(value));
    }
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(absl::StrCat("invalid YAML", Where(e.mark), ": ", e.msg));
  }
  return documents;
}

absl::StatusOr<json::Value> Parse(absl::string_view text) {
  ASSIGN_OR_RETURN(std::vector<json::Value> documents, ParseAll(text));
  if (documents.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one YAML document, found ", documents.size()));
  }
  return std::move(documents[0]);
}

std::string Write(const json::Value& value) {
  YAML::Emitter out;
  Emit(value, out);
  return absl::StrCat(out.c_str(), "\n");
}

}  // namespace yaml
