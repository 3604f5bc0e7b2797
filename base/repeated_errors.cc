#include "base/repeated_errors.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace base {

std::string RepeatedErrors::Verdict::More() const {
  if (more == 0) return "";
  const absl::Duration whole = absl::Trunc(since, absl::Seconds(1));
  return absl::StrCat(more, " more like it in ", absl::FormatDuration(whole));
}

RepeatedErrors::Verdict RepeatedErrors::Note(absl::string_view kind, SteadyTime now) {
  absl::MutexLock lock(&mu_);
  auto it = kinds_.find(kind);
  if (it == kinds_.end()) {
    std::erase_if(kinds_, [&](const auto& entry) {
      return now - entry.second.logged_at >= kPeriod && entry.second.more == 0;
    });
    const bool has_room = kinds_.size() < kKindsPerPeriod;
    const auto [at, is_new] = kinds_.try_emplace(std::string(has_room ? kind : ""), Kind{now});
    if (is_new) return {.log = true};
    it = at;
  }
  Kind& known = it->second;
  const absl::Duration since = now - known.logged_at;
  if (since < kPeriod) {
    ++known.more;
    return {};
  }
  known.logged_at = now;
  return {.log = true, .more = std::exchange(known.more, 0), .since = since};
}

std::string KindOfMessage(absl::string_view message, absl::string_view name) {
  const std::string nameless =
      name.empty() ? std::string(message) : absl::StrReplaceAll(message, {{name, "*"}});
  std::string out;
  for (const char c : nameless) {
    const bool digit = absl::ascii_isdigit(static_cast<unsigned char>(c));
    if (!digit) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

}  // namespace base
