// Header fields, one a line ("Name: value"), as a request may have them. Whatever they are: nothing
// that carries an identity is left once it has been removed, and every part of an impersonated user
// is a right that is asked for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/aggregation/impersonation.h"
#include "kube/aggregation/request_fields.h"

namespace {

base::HttpRequest RequestOf(absl::string_view text) {
  base::HttpRequest request;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    request.fields.emplace_back(field.first, field.second);
    std::string& joined = request.headers[absl::AsciiStrToLower(field.first)];
    absl::StrAppend(&joined, joined.empty() ? "" : ", ", field.second);
  }
  return request;
}

bool IsIdentity(absl::string_view name) {
  return absl::EqualsIgnoreCase(name, "authorization") ||
         absl::StartsWithIgnoreCase(name, "x-remote-") ||
         absl::StartsWithIgnoreCase(name, "impersonate-");
}

void CheckRemoved(base::HttpRequest request) {
  kube::aggregation::RemoveCredentials(request, kube::aggregation::RequestHeaderNames::Standard());
  kube::aggregation::RemoveImpersonation(request);
  for (const auto& [name, value] : request.fields) {
    if (IsIdentity(name)) std::abort();
  }
  for (const auto& [name, value] : request.headers) {
    if (IsIdentity(name)) std::abort();
  }
  const auto token = kube::aggregation::BearerTokenOf(request);
  if (!token.ok() || !token->empty()) std::abort();
}

// Returns how many rights the mode needs from whoever has none that covers others.
size_t Needed(const kube::aggregation::ImpersonationMode& mode) {
  return static_cast<size_t>(std::count_if(mode.rights.begin(), mode.rights.end(),
                                           [](const auto& right) { return right.covers == 0; }));
}

void CheckImpersonation(const base::HttpRequest& request) {
  const auto wanted = kube::aggregation::ImpersonationOf(request, {.name = "bob"}, nullptr);
  // The constrained ways neither permit nor refuse what the plain one does not.
  const kube::aggregation::Attributes attributes;
  const auto constrained =
      kube::aggregation::ImpersonationOf(request, {.name = "bob"}, &attributes);
  if (wanted.ok() != constrained.ok()) std::abort();
  if (!wanted.ok()) return;
  if (wanted->has_value() != constrained->has_value()) std::abort();
  if (!wanted->has_value()) return;
  if ((*wanted)->modes.size() != 1) std::abort();
  const kube::aggregation::ImpersonationMode& mode = (*wanted)->modes.front();
  if (mode.verb != kube::aggregation::kImpersonate) std::abort();
  if (Needed((*constrained)->modes.back()) != Needed(mode)) std::abort();
  size_t values = 0;
  for (const auto& [key, all] : mode.user.extra) values += all.size();
  const size_t groups = kube::aggregation::ValuesOf(request, "impersonate-group").size();
  const size_t rights = Needed(mode);
  if (mode.user.name.empty() || rights > kube::aggregation::kMaxRights) std::abort();
  if (rights != 1 + groups + values + (mode.user.uid.empty() ? 0 : 1)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const base::HttpRequest request =
      RequestOf(absl::string_view(reinterpret_cast<const char*>(data), size));
  kube::aggregation::UserOfFields(request, kube::aggregation::RequestHeaderNames::Standard());
  CheckRemoved(request);
  CheckImpersonation(request);
  return 0;
}
