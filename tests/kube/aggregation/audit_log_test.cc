#include "kube/aggregation/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/json.h"
#include "tests/kube/aggregation/aggregated_server.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

namespace kube::aggregation {
namespace {

std::string ReadAll(const std::string& path) { return base::ReadFile(path).value_or(""); }

std::vector<json::Value> EventsIn(const std::string& path) {
  std::vector<json::Value> events;
  for (absl::string_view line : absl::StrSplit(ReadAll(path), '\n', absl::SkipEmpty())) {
    const auto event = json::Parse(line);
    REQUIRE(event.ok());
    events.push_back(*event);
  }
  return events;
}

std::unique_ptr<AuditLog> OpenLog(const AuditLog::Options& options,
                                  metrics::Registry* registry = nullptr) {
  auto log = AuditLog::Open(options, registry);
  REQUIRE(log.ok());
  return *std::move(log);
}

TEST_CASE("an event is a line in upstream's format") {
  AuditEvent event;
  event.audit_id = "id";
  event.uri = "/api/v1/namespaces/a/pods/web?pretty=true";
  event.user_agent = std::string(2000, 'u');
  event.remote_address = "[::1]:40312";
  event.forwarded_for = "10.0.0.1, 10.0.0.2";
  event.info.is_resource = true;
  event.info.verb = "get";
  event.info.gvr = {"", "v1", "pods"};
  event.info.key = {"a", "web"};
  event.user = UserInfo{.name = "bob", .groups = {"devs"}};
  event.impersonated = UserInfo{.name = "alice"};
  event.code = 200;
  event.annotations["authorization.k8s.io/decision"] = "allow";
  event.received = absl::FromUnixMicros(1'700'000'000'000'001);
  event.at = event.received + absl::Milliseconds(2);
  json::Value line = *json::Parse(AuditLine(event));
  CHECK(line["userAgent"].AsString().size() == 1024);
  line.Erase("userAgent");
  CHECK(json::Write(line) ==
        R"({"annotations":{"authorization.k8s.io/decision":"allow"},)"
        R"("apiVersion":"audit.k8s.io/v1","auditID":"id","impersonatedUser":{"username":"alice"},)"
        R"("kind":"Event","level":"Metadata","objectRef":{"apiVersion":"v1","name":"web",)"
        R"("namespace":"a","resource":"pods"},)"
        R"("requestReceivedTimestamp":"2023-11-14T22:13:20.000001Z",)"
        R"("requestURI":"/api/v1/namespaces/a/pods/web?pretty=true",)"
        R"("responseStatus":{"code":200,"metadata":{}},)"
        R"("sourceIPs":["10.0.0.1","10.0.0.2","::1"],"stage":"ResponseComplete",)"
        R"("stageTimestamp":"2023-11-14T22:13:20.002001Z",)"
        R"("user":{"groups":["devs"],"username":"bob"},"verb":"get"})");
}

TEST_CASE("a long URL is cut, and says so") {
  AuditEvent event;
  event.uri = absl::StrCat("/api/v1/pods?labelSelector=", std::string(30'000, 'x'));
  const std::string uri = (*json::Parse(AuditLine(event)))["requestURI"].ToString();
  CHECK(uri.size() == 8192);
  CHECK(absl::StartsWith(uri, "/api/v1/pods?labelSelector=xxx"));
  CHECK(absl::EndsWith(uri, "x [cut]"));
}

// Reads so many lines of a pipe.
std::vector<std::string> ReadLines(int pipe, size_t count) {
  std::string text;
  std::vector<char> block(64 << 10);
  while (static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) < count) {
    const ssize_t read_bytes = read(pipe, block.data(), block.size());
    if (read_bytes <= 0) break;
    text.append(block.data(), static_cast<size_t>(read_bytes));
  }
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

TEST_CASE("what waits for a slow reader is bounded in bytes, and the rest is counted") {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int pipe = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(pipe >= 0);
  metrics::Registry registry;
  auto log = OpenLog({.path = path, .max_waiting_bytes = 1 << 20}, &registry);
  AuditEvent event;
  event.uri = std::string(4000, 'x');
  constexpr size_t kEvents = 1000;
  for (size_t i = 0; i < kEvents; ++i) {
    event.audit_id = absl::StrCat(i);
    log->Write(event);
  }
  const double dropped =
      registry.GetCounter("apiserver_audit_error_total", "", {{"plugin", "log"}}).Value();
  // A mebibyte waits; the pipe, and what is being written to it, have some of the others.
  CHECK(dropped >= kEvents - 300);
  CHECK(dropped < kEvents);
  const auto kept = kEvents - static_cast<size_t>(dropped);
  std::vector<std::string> lines;
  std::thread reader([&] { lines = ReadLines(pipe, kept); });
  log.reset();
  reader.join();
  close(pipe);
  REQUIRE(lines.size() == kept);
  for (size_t i = 0; i < kept; ++i) {
    const auto line = json::Parse(lines[i]);
    REQUIRE(line.ok());
    // Those that came first have found room.
    if (i < 200) CHECK((*line)["auditID"].AsString() == absl::StrCat(i));
  }
}

TEST_CASE("a file that has grown is renamed, and old ones are removed") {
  tests::TempDirectory directory;
  const std::string path = directory.path() + "/audit.log";
  AuditEvent event;
  event.uri = std::string(1000, 'x');
  const auto count = [&] {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
      CHECK(std::filesystem::file_size(entry.path()) <= 4000);
      ++files;
    }
    return files;
  };
  const auto log = OpenLog({.path = path, .max_bytes = 4000, .max_files = 2});
  for (size_t i = 0; i < 20; ++i) {
    const uintmax_t before = std::filesystem::file_size(path);
    log->Write(event);
    REQUIRE(tests::Eventually([&] {
      std::error_code gone;
      const uintmax_t now = std::filesystem::file_size(path, gone);
      return !gone && now > 0 && now != before;
    }));
  }
  CHECK(count() == 3);
}

TEST_CASE("renamed files are removed by the age in their names, and no others") {
  const tests::TempDirectory directory;
  const auto name_of = [&](absl::Duration age, const char* format) {
    return absl::StrCat("audit-", absl::FormatTime(format, absl::Now() - age, absl::UTCTimeZone()),
                        ".log");
  };
  constexpr char kOurs[] = "%Y-%m-%dT%H-%M-%E6S", kUpstream[] = "%Y-%m-%dT%H-%M-%E3S";
  const absl::Duration day = absl::Hours(24);
  const std::vector<std::string> kept = {name_of(day, kOurs), name_of(day, kUpstream),
                                         "audit-of-2020.log", "other-2020-01-02T03-04-05.000.log"};
  const std::vector<std::string> removed = {name_of(8 * day, kOurs), name_of(9 * day, kUpstream)};
  for (const auto* names : {&kept, &removed}) {
    for (const std::string& name : *names) directory.Write(name, "x");
  }
  const auto is_there = [&](const std::string& name) {
    return std::filesystem::exists(directory.path() + "/" + name);
  };
  const std::string path = directory.path() + "/audit.log";
  OpenLog({.path = path});
  for (const std::string& name : removed) CHECK(is_there(name));
  OpenLog({.path = path, .max_age = 7 * day});
  for (const std::string& name : kept) CHECK(is_there(name));
  for (const std::string& name : removed) CHECK_FALSE(is_there(name));
}

TEST_CASE("a file that the operator has renamed is begun again") {
  tests::TempDirectory directory;
  const std::string path = directory.path() + "/audit.log";
  auto log = OpenLog({.path = path, .max_bytes = 0});
  log->Write({});
  REQUIRE(tests::Eventually([&] { return std::filesystem::file_size(path) > 0; }));
  std::filesystem::rename(path, path + ".1");
  log->Write({});
  log.reset();
  CHECK(EventsIn(path).size() == 1);
  CHECK(EventsIn(path + ".1").size() == 1);
}

TEST_CASE("a file that cannot be opened is named") {
  const auto log = AuditLog::Open({.path = "/does/not/exist/audit.log"}, nullptr);
  CHECK(log.status().message() ==
        "audit log /does/not/exist/audit.log: open: No such file or directory");
}

TEST_CASE("requests are logged with their user and result, and without secrets") {
  tests::TempDirectory directory;
  const std::string path = directory.path() + "/audit.log";
  tests::AggregatedServer server;
  auto log = OpenLog({.path = path}, &server.registry);
  server.audit = log.get();
  server.reviews->AddToken("hush", json::Value::Object({{"username", "carol"}}));
  server.reviews->Allow("carol impersonate users/alice");
  server.reviews->Allow("alice get pods/web");
  server.Start();
  const auto client = server.Connect();
  const tests::Answer answer = tests::AggregatedServer::Ask(
      *client,
      "Authorization: Bearer hush\r\nImpersonate-User: alice\r\nAudit-ID: mine\r\n"
      "User-Agent: curl\r\n");
  CHECK(answer.code == 200);
  CHECK(answer.headers.at("audit-id") == "mine");
  CHECK(tests::AggregatedServer::Ask(*client, "Authorization: Bearer bad-hush\r\n").code == 401);
  server.Stop();
  log.reset();
  const std::vector<json::Value> events = EventsIn(path);
  REQUIRE(events.size() == 2);
  CHECK(events[0]["auditID"].AsString() == "mine");
  CHECK(events[0]["user"]["username"].AsString() == "carol");
  CHECK(events[0]["impersonatedUser"]["username"].AsString() == "alice");
  CHECK(events[0]["responseStatus"]["code"].AsInt() == 200);
  CHECK(events[0]["annotations"]["authorization.k8s.io/decision"].AsString() == "allow");
  CHECK(events[0]["sourceIPs"].At(0).AsString() == "127.0.0.1");
  CHECK(events[1]["responseStatus"]["code"].AsInt() == 401);
  CHECK(events[1]["user"].empty());
  CHECK(ReadAll(path).find("hush") == std::string::npos);
}

}  // namespace
}  // namespace kube::aggregation
