// Fetches the controller manager's metrics once and reads Prometheus' text format. Lines that
// cannot be read are skipped, since what is needed may be in the others. No credentials are sent:
// the page of metrics needs none. The request ends after ten seconds.

#include "cmd/interpret/metrics_text.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "config/version.h"
#include "kube/client/client.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace cmd::interpret {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(10);

// Takes a label's quoted value from the beginning of `text`; nullopt when it does not end.
std::optional<std::string> TakeQuoted(absl::string_view& text) {
  if (!absl::ConsumePrefix(&text, "\"")) return std::nullopt;
  std::string value;
  while (!text.empty() && text[0] != '"') {
    char c = text[0];
    text.remove_prefix(1);
    if (c == '\\' && !text.empty()) {
      // The format escapes quotes, backslashes and line feeds only.
      c = text[0] == 'n' ? '\n' : text[0];
      text.remove_prefix(1);
    }
    value.push_back(c);
  }
  if (!absl::ConsumePrefix(&text, "\"")) return std::nullopt;
  return value;
}

// Takes "{a="b",c="d"}" from the beginning of `text`; returns whether it is well formed. A text
// that begins with something else has no labels.
bool TakeLabels(absl::string_view& text, std::map<std::string, std::string>& labels) {
  if (!absl::ConsumePrefix(&text, "{")) return true;
  while (!absl::ConsumePrefix(&text, "}")) {
    const size_t equals = text.find('=');
    if (equals == absl::string_view::npos) return false;
    const std::string name(absl::StripAsciiWhitespace(text.substr(0, equals)));
    text.remove_prefix(equals + 1);
    std::optional<std::string> value = TakeQuoted(text);
    if (!value.has_value()) return false;
    labels[name] = *std::move(value);
    absl::ConsumePrefix(&text, ",");
  }
  return true;
}

std::optional<Sample> ParseLine(absl::string_view line) {
  if (line.empty() || line[0] == '#') return std::nullopt;
  const size_t end = line.find_first_of("{ ");
  if (end == absl::string_view::npos) return std::nullopt;
  Sample sample;
  sample.name = std::string(line.substr(0, end));
  line.remove_prefix(end);
  if (!TakeLabels(line, sample.labels)) return std::nullopt;
  // A time may follow the value.
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (words.empty() || !absl::SimpleAtod(words[0], &sample.value)) return std::nullopt;
  return sample;
}

// The parts of an URL.
struct Endpoint {
  std::string server;  // "http://host:port"
  std::string path;
};

Endpoint EndpointOf(absl::string_view url) {
  // CheckMetricsUrl has made sure that it is there.
  const size_t host = url.find("://") + 3;
  const size_t slash = std::min(url.find('/', host), url.size());
  Endpoint endpoint{std::string(url.substr(0, slash)), std::string(url.substr(slash))};
  if (endpoint.path.empty() || endpoint.path == "/") endpoint.path = "/metrics";
  return endpoint;
}

absl::StatusOr<kube::HttpResponse> Fetch(const Endpoint& endpoint) {
  kube::ConnectionConfig config;
  config.server = endpoint.server;
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> transport, kube::NewHttpTransport(config));
  kube::ClientOptions options;
  options.timeout = kPatience;
  options.user_agent = config::UserAgent("karmada-interpret");
  kube::Client client(std::move(transport), std::move(options), base::RealClock(), nullptr);
  kube::HttpRequest request;
  request.method = "GET";
  request.path = endpoint.path;
  request.accept = "text/plain";
  request.timeout = kPatience;
  return client.GetRaw(request, base::StopToken());
}

}  // namespace

std::vector<Sample> ParseMetrics(absl::string_view text) {
  std::vector<Sample> samples;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    std::optional<Sample> sample = ParseLine(absl::StripAsciiWhitespace(line));
    if (sample.has_value()) samples.push_back(*std::move(sample));
  }
  return samples;
}

absl::Status CheckMetricsUrl(absl::string_view url) {
  absl::string_view rest = url;
  const bool scheme =
      absl::ConsumePrefix(&rest, "http://") || absl::ConsumePrefix(&rest, "https://");
  const bool usable = scheme && !rest.empty() && rest[0] != '/' && rest[0] != ':' &&
                      rest.find_first_of("@?# ") == absl::string_view::npos;
  if (usable) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--metrics-url: \"", url, "\" is not http[s]://HOST[:PORT][/PATH]"));
}

absl::StatusOr<std::vector<Sample>> FetchMetrics(absl::string_view url) {
  const absl::StatusOr<kube::HttpResponse> response = Fetch(EndpointOf(url));
  if (!response.ok()) return base::Annotate(response.status(), "reading metrics of ", url);
  if (response->code != 200) {
    return absl::UnavailableError(
        absl::StrCat("reading metrics of ", url, ": the server answers ", response->code));
  }
  return ParseMetrics(response->body);
}

}  // namespace cmd::interpret
