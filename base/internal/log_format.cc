#include "base/internal/log_format.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/json.h"

namespace base::internal {
namespace {

bool NeedsQuotes(absl::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](char c) {
           return c == ' ' || c == '"' || c == '=' || c == '\\' || absl::ascii_iscntrl(c);
         });
}

// Escapes as C does, but leaves apostrophes: they are harmless between double quotes, and frequent.
std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(absl::Utf8SafeCEscape(text), {{"\\\\", "\\\\"}, {"\\'", "'"}});
}

std::string JsonString(absl::string_view text) { return json::Write(json::Value(text)); }

// Matches * and ? as a shell does.
bool Matches(absl::string_view pattern, absl::string_view text) {
  size_t p = 0, t = 0, star = absl::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

absl::string_view BaseNameWithoutExtension(absl::string_view file) {
  if (const size_t slash = file.rfind('/'); slash != absl::string_view::npos) {
    file.remove_prefix(slash + 1);
  }
  return file.substr(0, file.find('.'));
}

}  // namespace

std::string FormatText(absl::string_view message, const LogFields& fields) {
  std::string line = Escaped(message);
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.key, "=");
    if (NeedsQuotes(field.value)) {
      absl::StrAppend(&line, "\"", Escaped(field.value), "\"");
    } else {
      line += field.value;
    }
  }
  return line;
}

std::string FormatJson(const JsonLine& line, const LogFields& fields) {
  std::string text = absl::StrFormat("{\"ts\":%.3f,\"level\":\"%s\",\"caller\":%s,\"msg\":%s",
                                     absl::ToUnixMicros(line.time) / 1e3, line.level,
                                     JsonString(line.caller), JsonString(line.message));
  for (const LogField& field : fields) {
    absl::StrAppend(&text, ",", JsonString(field.key), ":", JsonString(field.value));
  }
  return text + "}\n";
}

VerbosityRules::VerbosityRules(absl::string_view vmodule) {
  for (absl::string_view part : absl::StrSplit(vmodule, ',', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> rule = absl::StrSplit(part, '=');
    int level = 0;
    if (!absl::SimpleAtoi(rule.second, &level)) continue;
    rules_.emplace_back(absl::StripAsciiWhitespace(rule.first), level);
  }
}

int VerbosityRules::LevelFor(absl::string_view file, int otherwise, absl::string_view part) const {
  if (rules_.empty()) return otherwise;
  const absl::string_view name = BaseNameWithoutExtension(file);
  for (const auto& [pattern, level] : rules_) {
    if (Matches(pattern, name) || (!part.empty() && Matches(pattern, part))) return level;
  }
  return otherwise;
}

}  // namespace base::internal
