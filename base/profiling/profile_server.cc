// A CPU profile takes as long as the client asks for, so it is taken in a thread of its own while
// the server goes on answering. There is one such thread: a second profile at the same time is
// refused anyway, and so is one for which the system has no thread. Everything else is answered on
// the server's thread.

#include "base/profiling/profile_server.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/debugging/symbolize.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "base/files.h"
#include "base/http_server.h"
#include "base/profiling/cpu_profile.h"
#include "base/profiling/heap_profile.h"
#include "base/threads.h"

namespace profiling {
namespace {

constexpr char kRoot[] = "/debug/pprof/";
constexpr int kDefaultSeconds = 30;  // As in Go.
constexpr int kMaxSeconds = 300;
// A question for the names of all addresses of a large profile.
constexpr size_t kMaxQuestion = 1 << 20;
constexpr char kText[] = "text/plain; charset=utf-8";

constexpr char kIndex[] =
    "profiles of this process, for go tool pprof:\n"
    "  profile?seconds=30  where CPU time is spent\n"
    "  heap                who holds memory\n"
    "  cmdline, symbol     used by go tool pprof\n";

base::HttpResponse Text(int code, std::string body) {
  return {.code = code, .content_type = kText, .body = std::move(body)};
}

base::HttpResponse Profile(const char* name, absl::StatusOr<std::string> profile) {
  if (!profile.ok()) {
    const int code = absl::IsUnimplemented(profile.status()) ? 501 : 503;
    return Text(code, absl::StrCat(profile.status().message(), "\n"));
  }
  return {.code = 200,
          .content_type = "application/octet-stream",
          .headers = {{"Content-Disposition", absl::StrCat("attachment; filename=\"", name, "\"")}},
          .body = *std::move(profile)};
}

// The arguments with NULs between them, as Go's server sends them.
std::string CommandLine() {
  std::string text = base::ReadFile("/proc/self/cmdline").value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

// Answers "0x12ab+0x34cd" with a line "0x12ab name" for each address that has a name.
std::string NamesOf(absl::string_view question) {
  std::string answer = "num_symbols: 1\n";  // "Ask me": how many there are does not matter.
  for (const absl::string_view text : absl::StrSplit(question, '+', absl::SkipEmpty())) {
    uint64_t address = 0;
    char name[1024];
    if (!absl::SimpleHexAtoi(text, &address) ||
        !absl::Symbolize(reinterpret_cast<const void*>(address), name, sizeof name)) {
      continue;
    }
    absl::StrAppend(&answer, "0x", absl::Hex(address), " ", name, "\n");
  }
  return answer;
}

// Returns 0 for what is not a number of seconds that can be asked for.
int SecondsOf(const base::HttpRequest& request) {
  const absl::string_view text = request.Query("seconds");
  int seconds = kDefaultSeconds;
  if (!text.empty() && !absl::SimpleAtoi(text, &seconds)) return 0;
  return seconds <= kMaxSeconds ? std::max(seconds, 0) : 0;
}

class Server : public ProfileServer {
 public:
  explicit Server(const base::Clock& clock) : clock_(clock) {}
  ~Server() override {
    stop_.request_stop();
    JoinProfiler();
    http_.reset();
    JoinProfiler();  // A request that came between the two.
  }

  absl::Status Listen(const std::string& address) {
    base::HttpServerOptions options;
    options.address = address;
    options.max_body_bytes = kMaxQuestion;
    auto server = base::HttpServer::Start(
        options, [this](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
          Answer(std::move(request), std::move(responder));
        });
    if (!server.ok()) return server.status();
    http_ = *std::move(server);
    return absl::OkStatus();
  }
  int port() const override { return http_->port(); }

 private:
  void Answer(base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    const absl::string_view path = request.path;
    if (path == absl::StrCat(kRoot, "profile")) {
      return TakeProfile(SecondsOf(request), std::move(responder));
    }
    responder->Send(AnswerAtOnce(request));
  }
  static base::HttpResponse AnswerAtOnce(const base::HttpRequest& request);
  void TakeProfile(int seconds, std::shared_ptr<base::HttpResponder> responder);
  void JoinProfiler() {
    absl::MutexLock lock(&mu_);
    if (profiler_.joinable()) profiler_.join();
  }

  const base::Clock& clock_;
  base::StopSource stop_;
  std::unique_ptr<base::HttpServer> http_;
  std::atomic<bool> busy_ = false;  // True until the profiler has nothing but its answer to send.
  absl::Mutex mu_;
  std::thread profiler_ ABSL_GUARDED_BY(mu_);
};

base::HttpResponse Server::AnswerAtOnce(const base::HttpRequest& request) {
  const absl::string_view path = request.path;
  if (path == kRoot || path == "/debug/pprof") return Text(200, kIndex);
  if (path == absl::StrCat(kRoot, "heap")) return Profile("heap", TakeHeapProfile());
  if (path == absl::StrCat(kRoot, "cmdline")) return Text(200, CommandLine());
  if (path == absl::StrCat(kRoot, "symbol")) {
    const size_t mark = request.target.find('?');
    // go tool pprof posts the addresses; a GET has them behind the question mark.
    const bool in_query = request.method == "GET" && mark != std::string::npos;
    return Text(200, NamesOf(in_query ? absl::string_view(request.target).substr(mark + 1)
                                      : absl::string_view(request.body)));
  }
  if (absl::StartsWith(path, kRoot)) {
    return Text(404, "there is no such profile: it would be about Go's runtime\n");
  }
  return Text(404, "404 page not found\n");
}

void Server::TakeProfile(int seconds, std::shared_ptr<base::HttpResponder> responder) {
  if (seconds == 0) {
    return responder->Send(
        Text(400, absl::StrCat("seconds: must be a number from 1 to ", kMaxSeconds, "\n")));
  }
  // busy_ is asked and set in one step: of two requests at once only one takes the profile.
  if (busy_.exchange(true)) {
    return responder->Send(Text(503, "another CPU profile is being taken\n"));
  }
  JoinProfiler();
  absl::MutexLock lock(&mu_);
  absl::StatusOr<std::thread> profiler = base::TryStartThread([this, seconds, responder] {
    base::HttpResponse answer =
        Profile("profile", TakeCpuProfile(absl::Seconds(seconds), clock_, stop_.get_token()));
    // Whoever has the answer may ask for the next profile.
    busy_ = false;
    responder->Send(std::move(answer));
  });
  if (profiler.ok()) {
    profiler_ = *std::move(profiler);
    return;
  }
  busy_ = false;
  responder->Send(Text(503, absl::StrCat(profiler.status().message(), "\n")));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProfileServer>> ProfileServer::Start(const std::string& address,
                                                                    const base::Clock& clock) {
  auto server = std::make_unique<Server>(clock);
  if (absl::Status listening = server->Listen(address); !listening.ok()) return listening;
  return server;
}

}  // namespace profiling
