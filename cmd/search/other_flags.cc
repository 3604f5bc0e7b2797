// The flags of upstream's karmada-search that have no meaning here, so that a Deployment made for
// upstream starts without changes. They are parsed with upstream's types and hidden from --help.
// Where ignoring a flag could be harmful (no encryption, no audit policy), a value that asks for it
// is refused; elsewhere it is warned of. A value that asks for what is done anyway is accepted
// silently (as_here).

#include "cmd/search/other_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "config/flag_types.h"

namespace cmd {
namespace {

using config::FlagType;
using enum config::FlagType;

enum class Answer { kWarning, kRefusal };
using enum Answer;

struct Flag {
  absl::string_view name;
  FlagType type;
  Answer answer;
  absl::string_view why;
  // The value that asks for what this program does anyway, if there is one.
  // By default it is a text that no value of a flag can be.
  absl::string_view as_here = "\n";
};

constexpr absl::string_view kBatches = "a thread of its own writes the audit log, line by line";
constexpr absl::string_view kSmall = "events have no bodies that could be cut";
constexpr absl::string_view kFileOnly = "audit events are written to a file only";
constexpr absl::string_view kNoHttp2 = "only HTTP/1.1 is served";
constexpr absl::string_view kOneVersion = "there is one version of this program's behaviour";
constexpr absl::string_view kProfiles = "there are no Go profiles; use perf";
constexpr absl::string_view kStderr = "every line is written to standard error at once";
constexpr absl::string_view kThreshold =
    "every line is written to standard error at once, whatever --stderrthreshold says; upstream's "
    "karmada-search does the same, because its lines do not pass the writer that this concerns";
constexpr absl::string_view kEtcdMetrics = "the size of etcd is not measured";
constexpr absl::string_view kCaches = "ResourceRegistries are always served from memory";

constexpr Flag kFlags[] = {
    {"--add-dir-header", kSwitch, kWarning, "lines name the file without its folder", "false"},
    {"--advertise-address", kText, kWarning, "the APIService names a Service, not an address", ""},
    {"--alsologtostderr", kSwitch, kWarning, kStderr, "false"},
    {"--alsologtostderrthreshold", kText, kWarning, kStderr},
    {"--audit-log-batch-buffer-size", kInteger, kWarning, kBatches},
    {"--audit-log-batch-max-size", kInteger, kWarning, kBatches},
    {"--audit-log-batch-max-wait", kDuration, kWarning, kBatches},
    {"--audit-log-batch-throttle-burst", kInteger, kWarning, kBatches},
    {"--audit-log-batch-throttle-enable", kSwitch, kWarning, kBatches, "false"},
    {"--audit-log-batch-throttle-qps", kNumber, kWarning, kBatches},
    {"--audit-log-compress", kSwitch, kRefusal, "old files of the audit log are not compressed",
     "false"},
    {"--audit-log-format", kText, kRefusal, "the only format is json", "json"},
    {"--audit-log-mode", kText, kRefusal,
     "the only mode is batch: events that come faster than they can be written are dropped",
     "batch"},
    {"--audit-log-truncate-enabled", kSwitch, kWarning, kSmall, "false"},
    {"--audit-log-truncate-max-batch-size", kInteger, kWarning, kSmall},
    {"--audit-log-truncate-max-event-size", kInteger, kWarning, kSmall},
    {"--audit-log-version", kText, kRefusal, "the only version is audit.k8s.io/v1",
     "audit.k8s.io/v1"},
    {"--audit-policy-file", kText, kRefusal,
     "policies are not evaluated; --audit-level=Metadata logs all requests", ""},
    {"--audit-webhook-batch-buffer-size", kInteger, kWarning, kFileOnly},
    {"--audit-webhook-batch-max-size", kInteger, kWarning, kFileOnly},
    {"--audit-webhook-batch-max-wait", kDuration, kWarning, kFileOnly},
    {"--audit-webhook-batch-throttle-burst", kInteger, kWarning, kFileOnly},
    {"--audit-webhook-batch-throttle-enable", kSwitch, kWarning, kFileOnly},
    {"--audit-webhook-batch-throttle-qps", kNumber, kWarning, kFileOnly},
    {"--audit-webhook-config-file", kText, kRefusal, kFileOnly, ""},
    {"--audit-webhook-initial-backoff", kDuration, kWarning, kFileOnly},
    {"--audit-webhook-mode", kText, kWarning, kFileOnly},
    {"--audit-webhook-truncate-enabled", kSwitch, kWarning, kFileOnly, "false"},
    {"--audit-webhook-truncate-max-batch-size", kInteger, kWarning, kFileOnly},
    {"--audit-webhook-truncate-max-event-size", kInteger, kWarning, kFileOnly},
    {"--audit-webhook-version", kText, kWarning, kFileOnly},
    {"--cert-dir", kText, kWarning,
     "a self-signed certificate is kept in memory; give --tls-cert-file for another one"},
    {"--contention-profiling", kSwitch, kWarning, kProfiles, "false"},
    {"--cors-allowed-origins", kText, kRefusal, "browsers get no answers from other origins", ""},
    {"--debug-socket-path", kText, kWarning, kProfiles, ""},
    {"--delete-collection-workers", kInteger, kWarning,
     "ResourceRegistries are few, and are deleted one after the other"},
    {"--disable-http2-serving", kSwitch, kWarning, kNoHttp2, "true"},
    {"--emulation-forward-compatible", kSwitch, kWarning, kOneVersion, "false"},
    {"--enable-garbage-collector", kSwitch, kWarning, "ResourceRegistries own nothing"},
    {"--enable-pprof", kSwitch, kWarning, kProfiles, "false"},
    {"--enable-priority-and-fairness", kSwitch, kWarning,
     "requests are limited by --max-requests-inflight (upstream ignores this flag, too)", "false"},
    {"--encryption-provider-config", kText, kRefusal,
     "ResourceRegistries would be stored without encryption", ""},
    {"--encryption-provider-config-automatic-reload", kSwitch, kWarning,
     "ResourceRegistries are stored without encryption", "false"},
    {"--etcd-count-metric-poll-period", kDuration, kWarning, kEtcdMetrics},
    {"--etcd-db-metric-poll-interval", kDuration, kWarning, kEtcdMetrics},
    {"--etcd-servers-overrides", kText, kRefusal, "there is only one resource in etcd", ""},
    {"--external-hostname", kText, kWarning, "no document names this server", ""},
    {"--http2-max-streams-per-connection", kInteger, kWarning, kNoHttp2, "0"},
    {"--lease-reuse-duration-seconds", kInteger, kWarning, "nothing in etcd expires"},
    {"--legacy-stderr-threshold-behavior", kSwitch, kWarning, kThreshold, "true"},
    {"--livez-grace-period", kDuration, kWarning, "/livez does not wait for anything", "0"},
    {"--log-backtrace-at", kText, kWarning, "lines carry no backtrace", ":0"},
    {"--log-dir", kText, kWarning, kStderr, ""},
    {"--log-file", kText, kWarning, kStderr, ""},
    {"--log-file-max-size", kInteger, kWarning, kStderr},
    {"--log-flush-frequency", kDuration, kWarning, kStderr},
    {"--log-json-info-buffer-size", kText, kWarning, kStderr, "0"},
    {"--log-json-split-stream", kSwitch, kWarning, kStderr, "false"},
    {"--log-text-info-buffer-size", kText, kWarning, kStderr, "0"},
    {"--log-text-split-stream", kSwitch, kWarning, kStderr, "false"},
    {"--logtostderr", kSwitch, kWarning, kStderr, "true"},
    {"--min-compatibility-version", kText, kWarning, "no gate that is here depends on it", ""},
    {"--one-output", kSwitch, kWarning, kStderr},
    {"--permit-address-sharing", kSwitch, kWarning, "addresses are always shared", "true"},
    {"--permit-port-sharing", kSwitch, kRefusal, "the port is not shared with other processes",
     "false"},
    {"--profiling", kSwitch, kWarning, kProfiles, "false"},
    {"--profiling-bind-address", kText, kWarning, kProfiles},
    {"--runtime-config-emulation-forward-compatible", kSwitch, kWarning, kOneVersion, "false"},
    {"--shutdown-send-retry-after", kSwitch, kWarning,
     "requests during the end of the service always get Retry-After", "true"},
    {"--shutdown-watch-termination-grace-period", kDuration, kWarning,
     "watches are ended properly at once"},
    {"--skip-headers", kSwitch, kWarning, "lines keep their prefix", "false"},
    {"--skip-log-headers", kSwitch, kWarning, kStderr},
    {"--stderrthreshold", kText, kWarning, kStderr},
    {"--storage-backend", kText, kRefusal, "the only backend of that kind is etcd3", "etcd3"},
    {"--storage-media-type", kText, kRefusal, "ResourceRegistries are stored as application/json",
     "application/json"},
    {"--strict-transport-security-directives", kText, kRefusal, "the header is not sent", ""},
    {"--tls-cipher-suites", kText, kRefusal,
     "the suites cannot be chosen; with --tls-min-version=VersionTLS13 all are strong", ""},
    {"--tls-sni-cert-key", kText, kRefusal, "there is one certificate (--tls-cert-file)", ""},
    {"--watch-cache", kSwitch, kWarning, kCaches, "true"},
    {"--watch-cache-sizes", kText, kWarning, kCaches, ""},
};

// Returns whether the flag was given a value that asks for something else than what is done anyway.
bool AsksForMore(const CLI::App& app, const Flag& flag) {
  if (!config::IsGiven(app, flag.name)) return false;
  const std::string value = config::GivenValue(app, flag.name);
  // "0", "0s" and "0.0" are the same value.
  double number = 1;
  const bool is_zero = flag.as_here == "0" &&
                       (flag.type == kDuration ? value.find_first_not_of("0.hmsuµn") == value.npos
                                               : absl::SimpleAtod(value, &number) && number == 0);
  return value != flag.as_here && !is_zero;
}

}  // namespace

void AddOtherFlags(CLI::App& app) {
  for (const Flag& flag : kFlags) {
    config::AddCheckedFlag(app, flag.name, flag.type, std::string(flag.why))->group("");
  }
}

absl::Status CheckOtherFlags(const CLI::App& app) {
  for (const Flag& flag : kFlags) {
    if (flag.answer == kRefusal && AsksForMore(app, flag)) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag.name, "=", config::GivenValue(app, flag.name), " is refused: ", flag.why));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> OtherFlagWarnings(const CLI::App& app) {
  std::vector<std::string> out;
  for (const Flag& flag : kFlags) {
    if (flag.answer == kWarning && AsksForMore(app, flag)) {
      out.push_back(absl::StrCat(flag.name, "=", config::GivenValue(app, flag.name),
                                 " has no effect: ", flag.why));
    }
  }
  return out;
}

}  // namespace cmd
