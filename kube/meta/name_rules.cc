// Kubernetes' rules for names, label keys and label values (declared in selector.h).

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kube/meta/selector.h"

namespace kube {
namespace {

using Messages = std::vector<std::string>;

constexpr size_t kMaxLabelLength = 63;
constexpr size_t kMaxSubdomainLength = 253;

constexpr absl::string_view kDns1123LabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr absl::string_view kDns1123SubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr absl::string_view kLabelKeyRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation "
    "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr absl::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsLowerAlnum(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); }

bool IsDnsLabel(absl::string_view text) {
  return !text.empty() && IsLowerAlnum(text.front()) && IsLowerAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

bool IsDnsSubdomain(absl::string_view text) {
  const std::vector<absl::string_view> labels = absl::StrSplit(text, '.');
  return std::all_of(labels.begin(), labels.end(), IsDnsLabel);
}

bool IsLabelWord(absl::string_view text) {
  return !text.empty() && absl::ascii_isalnum(text.front()) && absl::ascii_isalnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

// apimachinery's message has "bytes" for labels and "characters" for names; both are bytes.
std::string TooLong(size_t limit, absl::string_view unit) {
  return absl::StrCat("must be no more than ", limit, " ", unit);
}

Messages CheckDns1123Subdomain(absl::string_view name, absl::string_view unit) {
  Messages messages;
  if (name.size() > kMaxSubdomainLength) messages.push_back(TooLong(kMaxSubdomainLength, unit));
  if (!IsDnsSubdomain(name)) messages.emplace_back(kDns1123SubdomainRule);
  return messages;
}

Messages CheckLabelKeyPrefix(absl::string_view prefix) {
  if (prefix.empty()) return {"prefix part must be non-empty"};
  Messages messages = CheckDns1123Subdomain(prefix, "bytes");
  for (std::string& m : messages) m = absl::StrCat("prefix part ", m);
  return messages;
}

Messages CheckLabelKey(absl::string_view key) {
  const std::vector<absl::string_view> parts = absl::StrSplit(key, '/');
  if (parts.size() > 2) {
    return {absl::StrCat("a valid label key ", kLabelKeyRule,
                         " with an optional DNS subdomain prefix and '/' (e.g. "
                         "'example.com/MyName')")};
  }
  const absl::string_view name = parts.back();
  Messages messages;
  if (parts.size() == 2) messages = CheckLabelKeyPrefix(parts.front());
  if (name.empty()) messages.emplace_back("name part must be non-empty");
  if (name.size() > kMaxLabelLength) {
    messages.push_back(absl::StrCat("name part ", TooLong(kMaxLabelLength, "bytes")));
  }
  if (!IsLabelWord(name)) messages.push_back(absl::StrCat("name part ", kLabelKeyRule));
  return messages;
}

absl::Status ToStatus(const Messages& messages) {
  // All broken rules are reported at once, as apimachinery does.
  if (messages.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(messages, "; "));
}

}  // namespace

absl::Status ValidateQualifiedName(absl::string_view name) { return ToStatus(CheckLabelKey(name)); }

absl::Status ValidateLabelValue(absl::string_view value) {
  Messages messages;
  if (value.size() > kMaxLabelLength) messages.push_back(TooLong(kMaxLabelLength, "bytes"));
  if (!value.empty() && !IsLabelWord(value)) messages.emplace_back(kLabelValueRule);
  return ToStatus(messages);
}

absl::Status ValidateDns1123Subdomain(absl::string_view name) {
  return ToStatus(CheckDns1123Subdomain(name, "characters"));
}

absl::Status ValidateDns1123Label(absl::string_view name) {
  Messages messages;
  if (name.size() > kMaxLabelLength) messages.push_back(TooLong(kMaxLabelLength, "characters"));
  if (!IsDnsLabel(name)) {
    messages.emplace_back(IsDnsSubdomain(name) ? "must not contain dots" : kDns1123LabelRule);
  }
  return ToStatus(messages);
}

absl::Status ValidatePathSegmentName(absl::string_view name) {
  if (name == "." || name == "..") return ToStatus({absl::StrCat("may not be '", name, "'")});
  Messages messages;
  for (const absl::string_view refused : {"/", "%"}) {
    if (name.find(refused) != absl::string_view::npos) {
      messages.push_back(absl::StrCat("may not contain '", refused, "'"));
    }
  }
  return ToStatus(messages);
}

}  // namespace kube
