#include "controllers/cluster_status/member_probe.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/http/transport.h"

namespace controllers {
namespace {

// A short limit, because a member that does not answer must not keep a worker from the other
// members.
constexpr absl::Duration kProbeTimeout = absl::Seconds(5);
constexpr size_t kMaxCause = 300;

// Returns whether the text can be nothing but an address with a port: "10.0.0.1:443",
// "[fd00::1]:443".
bool IsAddress(absl::string_view text) {
  return absl::StrContains(text, ':') && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isxdigit(c) || c == '.' || c == ':' || c == '[' || c == ']';
         });
}

std::string WithoutAddresses(absl::string_view text) {
  std::string out;
  for (;;) {
    const size_t open = text.find(" (");
    const size_t close = open == text.npos ? text.npos : text.find(')', open);
    if (close == text.npos) return absl::StrCat(out, text);
    const bool drop = IsAddress(text.substr(open + 2, close - open - 2));
    absl::StrAppend(&out, text.substr(0, drop ? open : close + 1));
    text.remove_prefix(close + 1);
  }
}

std::string CauseOfAnswer(int code, absl::string_view path, const kube::ObjectKey& secret) {
  if (code == 401) {
    return absl::StrCat("the member does not accept the token of secret ", secret.ToString(),
                        " (401 Unauthorized)");
  }
  if (code == 403) {
    return absl::StrCat("the member does not allow the token of secret ", secret.ToString(),
                        " to read ", path, " (403 Forbidden)");
  }
  return absl::StrCat(path, " was answered with code ", code);
}

}  // namespace

ProbeResult ProbeMember(kube::Client& client, const kube::ObjectKey& secret,
                        const base::StopToken& stop) {
  std::string path = "/readyz";
  absl::StatusOr<kube::HttpResponse> answer = client.GetRaw(path, kProbeTimeout, stop);
  if (answer.ok() && answer->code == 404) {
    path = "/healthz";
    answer = client.GetRaw(path, kProbeTimeout, stop);
  }
  if (!answer.ok()) {
    const absl::string_view why = answer.status().message();
    return {ProbeResult::Health::kNotReachable, answer.status(),
            StableCause(absl::StripPrefix(why, absl::StrCat("get ", path, ": ")))};
  }
  if (answer->code >= 400) {
    return {ProbeResult::Health::kNotReachable,
            absl::UnavailableError(absl::StrCat("the probe was answered ", answer->code)),
            CauseOfAnswer(answer->code, path, secret)};
  }
  if (answer->code != 200) return {ProbeResult::Health::kNotHealthy, {}, ""};
  return {};
}

std::string StableCause(absl::string_view message) {
  std::vector<std::string> parts;
  for (const absl::string_view part : absl::StrSplit(message, "; ")) {
    std::string text = WithoutAddresses(part);
    if (std::find(parts.begin(), parts.end(), text) == parts.end()) {
      parts.push_back(std::move(text));
    }
  }
  std::string cause = absl::StrJoin(parts, "; ");
  if (cause.size() <= kMaxCause) return cause;
  size_t end = kMaxCause;
  while (end > 0 && (static_cast<unsigned char>(cause[end]) & 0xC0) == 0x80) --end;  // UTF-8.
  return absl::StrCat(cause.substr(0, end), "...");
}

std::string ConfigurationOf(const api::ClusterView& cluster, const kube::Object* secret) {
  const json::Value& spec = cluster.object().spec();
  const json::Value ways =
      json::Value::Object({{"apiEndpoint", spec["apiEndpoint"]},
                           {"insecureSkipTLSVerification", spec["insecureSkipTLSVerification"]},
                           {"proxyURL", spec["proxyURL"]},
                           {"proxyHeader", spec["proxyHeader"]},
                           {"secretRef", spec["secretRef"]}});
  if (secret == nullptr) return json::Write(ways);
  const json::Value& data = secret->Get({"data"});
  return absl::StrCat(
      json::Write(ways), " ",
      absl::HashOf(data[api::kSecretToken].AsString(), data[api::kSecretCaBundle].AsString()));
}

}  // namespace controllers
