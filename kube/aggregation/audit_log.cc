// Write puts a line in a queue that is bounded in bytes, and wakes the writer's thread, which takes
// some lines at once and writes them with one system call. Lines that find no room are lost, and
// those of a piece that cannot be written. Before it writes to a file it looks whether the file has
// been renamed (then it opens it again) and whether it would become too large (then it renames it).
// Renamed files that are too many, or too old by the time in their names, are removed when another
// one is renamed and at the start.

#include "kube/aggregation/audit_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/cut_text.h"
#include "base/json.h"
#include "base/log.h"
#include "base/threads.h"

namespace kube::aggregation {
namespace {

constexpr size_t kMaxUserAgentBytes = 1024;
constexpr size_t kMaxUriBytes = 8 << 10;
// What is written with one system call, and the line that goes beyond it.
constexpr size_t kPieceBytes = 64 << 10;
constexpr size_t kMaxForwardedFor = 20;

std::string MicroTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

// "10.0.0.7" of "10.0.0.7:40312", "::1" of "[::1]:40312".
std::string AddressOf(absl::string_view remote) {
  const size_t colon = remote.rfind(':');
  if (colon != absl::string_view::npos) remote = remote.substr(0, colon);
  if (absl::StartsWith(remote, "[") && absl::EndsWith(remote, "]")) {
    remote = remote.substr(1, remote.size() - 2);
  }
  return std::string(remote);
}

json::Value SourcesOf(const AuditEvent& event) {
  std::vector<std::string> sources;
  for (absl::string_view part : absl::StrSplit(event.forwarded_for, ',', absl::SkipWhitespace())) {
    // The header is the client's and may be as long as a head.
    if (sources.size() == kMaxForwardedFor) break;
    sources.emplace_back(base::CutText(absl::StripAsciiWhitespace(part), 64));
  }
  const std::string remote = AddressOf(event.remote_address);
  // The address of the connection is the last: it is the only one that a client cannot invent.
  if (!remote.empty() && (sources.empty() || sources.back() != remote)) sources.push_back(remote);
  return json::Value::Strings(sources);
}

void SetUnlessEmpty(json::Value& object, absl::string_view name, const std::string& value) {
  if (!value.empty()) object.Set(name, value);
}

json::Value ObjectOf(const server::RequestInfo& info) {
  json::Value object = json::Value::Object();
  SetUnlessEmpty(object, "resource", info.gvr.resource);
  SetUnlessEmpty(object, "namespace", info.key.ns);
  SetUnlessEmpty(object, "name", info.key.name);
  SetUnlessEmpty(object, "apiGroup", info.gvr.group);
  SetUnlessEmpty(object, "apiVersion", info.gvr.version);
  SetUnlessEmpty(object, "subresource", info.subresource);
  return object;
}

std::string Error(absl::string_view what, const std::string& path) {
  return absl::StrCat("audit log ", path, ": ", what, ": ", std::strerror(errno));
}

struct Renamed {
  absl::Time when;
  std::filesystem::path path;
};

// Returns the files that Rotate has renamed, the oldest one first. Upstream's names, which have a
// shorter fraction of the second, are recognized, too; others that only begin alike are nobody's.
std::vector<Renamed> RenamedFiles(const std::filesystem::path& path) {
  constexpr char kTimeFormat[] = "%Y-%m-%dT%H-%M-%E*S";
  const std::string prefix = absl::StrCat(path.stem().string(), "-");
  const std::filesystem::path folder = path.parent_path().empty() ? "." : path.parent_path();
  std::vector<Renamed> out;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string stem = entry.path().stem().string();
    absl::Time when;
    std::string error;
    if (entry.path().extension() == path.extension() && absl::StartsWith(stem, prefix) &&
        absl::ParseTime(kTimeFormat, stem.substr(prefix.size()), &when, &error)) {
      out.push_back({when, entry.path()});
    }
  }
  std::sort(out.begin(), out.end(), [](const Renamed& a, const Renamed& b) {
    return std::tie(a.when, a.path) < std::tie(b.when, b.path);
  });
  return out;
}

class Writer : public AuditLog {
 public:
  Writer(Options options, metrics::Registry* registry) : options_(std::move(options)) {
    if (registry == nullptr) return;
    written_ = &registry->GetCounter("apiserver_audit_event_total",
                                     "Counter of audit events that were generated.");
    dropped_ = &registry->GetCounter("apiserver_audit_error_total",
                                     "Counter of audit events that could not be written.",
                                     {{"plugin", "log"}});
  }

  ~Writer() override {
    {
      absl::MutexLock lock(&mu_);
      stopping_ = true;
    }
    if (thread_.joinable()) thread_.join();
    Close();
  }

  absl::Status Start() {
    if (to_stdout()) fd_ = STDOUT_FILENO;
    if (!to_stdout() && !Reopen()) return absl::InvalidArgumentError(Error("open", options_.path));
    if (!to_stdout()) RemoveOldFiles(options_.path);
    thread_ = base::StartThread("the audit log", [this] { Run(); });
    return absl::OkStatus();
  }

  void Write(const AuditEvent& event) override {
    std::string line = absl::StrCat(AuditLine(event), "\n");
    bool taken = false;
    {
      absl::MutexLock lock(&mu_);
      // A disk that is slow must not make requests wait: what finds no room is dropped and counted.
      taken = waiting_bytes_ + BytesOf(line) <= options_.max_waiting_bytes;
      if (taken) {
        waiting_bytes_ += BytesOf(line);
        lines_.push_back(std::move(line));
      }
    }
    if (written_ != nullptr) written_->Increment();
    if (!taken) Drop(1);
  }

 private:
  struct Piece {
    std::string text;
    size_t lines = 0;
  };

  // What a line that waits takes.
  static size_t BytesOf(const std::string& line) { return sizeof line + line.capacity(); }

  bool to_stdout() const { return options_.path == "-"; }

  void Drop(size_t lines) {
    if (dropped_ != nullptr) dropped_->Increment(static_cast<double>(lines));
  }

  void Run() {
    pthread_setname_np(pthread_self(), "audit-log");
    const auto has_news = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return stopping_ || !lines_.empty();
    };
    for (;;) {
      Piece piece;
      {
        absl::MutexLock lock(&mu_);
        mu_.Await(absl::Condition(&has_news));
        // It stops only when everything has been written.
        if (lines_.empty()) return;
        piece = TakePiece();
      }
      WritePiece(piece);
    }
  }

  Piece TakePiece() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    Piece piece;
    while (!lines_.empty() && piece.text.size() < kPieceBytes) {
      waiting_bytes_ -= BytesOf(lines_.front());
      piece.text += lines_.front();
      ++piece.lines;
      lines_.pop_front();
    }
    return piece;
  }

  void WritePiece(const Piece& piece) {
    // If the file cannot be opened, writing fails, the lines are counted as lost, and the next
    // piece tries to open it again.
    if (!to_stdout()) PrepareFile(static_cast<int64_t>(piece.text.size()));
    if (WriteText(piece.text)) return;
    Drop(piece.lines);
    base::LogError("audit events are lost", {{"error", Error("write", options_.path)}});
  }

  bool WriteText(absl::string_view text) {
    while (!text.empty()) {
      // Standard output may be a pipe, which may take only a part of the text.
      const ssize_t count = write(fd_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      // A part of the text may have been written; its lines count as lost all the same.
      if (count < 0) return false;
      text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }

  void PrepareFile(int64_t bytes) {
    struct stat open_file = {}, named = {};
    const bool is_open = fd_ >= 0 && fstat(fd_, &open_file) == 0;
    const bool is_there = is_open && stat(options_.path.c_str(), &named) == 0;
    // logrotate renames the file and expects that a new one is opened under the old name.
    const bool same =
        is_there && open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
    if (!same) {
      Reopen();
      return;
    }
    // An empty file takes a piece of any size: a renamed one would be as large.
    if (options_.max_bytes <= 0 || open_file.st_size == 0) return;
    if (open_file.st_size + bytes > options_.max_bytes) Rotate();
  }

  // Renames in the way of upstream's library, with a finer time, so that no renamed file is
  // replaced by the next one: audit-2026-01-02T03-04-05.678901.log.
  void Rotate() {
    const std::filesystem::path path(options_.path);
    const std::string time =
        absl::FormatTime("%Y-%m-%dT%H-%M-%E6S", base::RealClock().Now(), absl::UTCTimeZone());
    const std::filesystem::path renamed =
        path.parent_path() /
        absl::StrCat(path.stem().string(), "-", time, path.extension().string());
    std::error_code failed;
    std::filesystem::rename(path, renamed, failed);
    if (failed) return;  // The file goes on growing, which is better than losing events.
    Reopen();
    RemoveOldFiles(path);
  }

  void RemoveOldFiles(const std::filesystem::path& path) const {
    const std::vector<Renamed> renamed = RenamedFiles(path);
    const size_t kept = options_.max_files <= 0
                            ? renamed.size()
                            : std::min(renamed.size(), static_cast<size_t>(options_.max_files));
    const absl::Time oldest = options_.max_age <= absl::ZeroDuration()
                                  ? absl::InfinitePast()
                                  : base::RealClock().Now() - options_.max_age;
    std::error_code failed;
    for (size_t i = 0; i < renamed.size(); ++i) {
      const bool too_many = i + kept < renamed.size();
      if (too_many || renamed[i].when < oldest) std::filesystem::remove(renamed[i].path, failed);
    }
  }

  bool Reopen() {
    Close();
    fd_ = open(options_.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    return fd_ >= 0;
  }

  void Close() {
    if (!to_stdout() && fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  const Options options_;
  metrics::Counter* written_ = nullptr;
  metrics::Counter* dropped_ = nullptr;
  int fd_ = -1;  // Used by Start and then by the thread.
  absl::Mutex mu_;
  std::deque<std::string> lines_ ABSL_GUARDED_BY(mu_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // BytesOf all lines.
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace

std::string AuditLine(const AuditEvent& event) {
  const bool started = event.stage == AuditEvent::Stage::kResponseStarted;
  json::Value line = json::Value::Object(
      {{"kind", "Event"},
       {"apiVersion", "audit.k8s.io/v1"},
       {"level", "Metadata"},
       {"auditID", event.audit_id},
       {"stage", started ? "ResponseStarted" : "ResponseComplete"},
       {"requestURI", base::CutText(event.uri, kMaxUriBytes)},
       {"verb", event.info.verb},
       {"user", event.user ? UserJson(*event.user, "username") : json::Value::Object()},
       {"sourceIPs", SourcesOf(event)},
       {"responseStatus",
        json::Value::Object({{"metadata", json::Value::Object()}, {"code", event.code}})},
       {"requestReceivedTimestamp", MicroTime(event.received)},
       {"stageTimestamp", MicroTime(event.at)}});
  if (event.impersonated) {
    line.Set("impersonatedUser", UserJson(*event.impersonated, "username"));
  }
  if (!event.impersonation_constraint.empty()) {
    line.Set({"authenticationMetadata", "impersonationConstraint"}, event.impersonation_constraint);
  }
  SetUnlessEmpty(line, "userAgent",
                 std::string(base::CutText(event.user_agent, kMaxUserAgentBytes)));
  if (event.info.is_resource) line.Set("objectRef", ObjectOf(event.info));
  if (!event.annotations.empty()) {
    json::Value annotations = json::Value::Object();
    for (const auto& [key, value] : event.annotations) annotations.Set(key, value);
    line.Set("annotations", std::move(annotations));
  }
  return json::Write(line);
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(Options options,
                                                         metrics::Registry* registry) {
  auto writer = std::make_unique<Writer>(std::move(options), registry);
  const absl::Status status = writer->Start();
  if (!status.ok()) return status;
  return writer;
}

}  // namespace kube::aggregation
