// A request goes through these steps. Before its body is read, CheckHead refuses clients that it
// does not know. Handle then waits for the injected latency, on a timer and not on a thread of the
// server; an injected failure or the authentication may end the request; a path of a resource goes
// to ResourceHandler, and others are answered here. Each answer is counted when it is sent. What is
// below a delegated path goes to its handler instead, and is not counted.
//
// Under an interference Handle asks it first, and follows what it says: the exchange ends, goes on,
// or is parked at a Hold until somebody releases that, on whose thread it goes on then. Its
// responder is one that asks about the answer, too (interfered_responder.h). A read through a lag
// that has not reached its version is parked in the same way, until the lag has, or a timer is
// over. holds_ refers to what is parked, so that DropAll can end it.
//
// A watch is answered with a stream, which its session feeds from then on. A timer finishes it
// after the time that the client asked for. watches_, under mu_, has a weak reference to each
// session, by which DropWatches cuts them; the ones that have ended are removed when the next one
// starts.

#include "sandbox/http/front_end.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "sandbox/http/interfered_responder.h"
#include "sandbox/http/request_metrics.h"

namespace sandbox {

using kube::server::AnswerOf;
using kube::server::ErrorAnswer;
using kube::server::ListOptions;
using kube::server::Negotiate;
using kube::server::Offer;
using kube::server::ReadRequest;
using kube::server::RequestInfo;

namespace {

constexpr size_t kMaxBodyBytes = 3 << 20;
// How long kube-apiserver has a read wait until its watch cache has reached a version
// (blockTimeout in storage/cacher).
constexpr absl::Duration kMaxLagWait = absl::Seconds(3);

base::HttpResponse PlainText(int code, std::string text) {
  base::HttpResponse response;
  response.code = code;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

// The answer of a kube-apiserver for paths that are not served.
base::HttpResponse PathNotFound() { return PlainText(404, "404 page not found\n"); }

json::Value VersionDocument(const std::string& git_version) {
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(git_version).substr(git_version.empty() ? 0 : 1), '.');
  return json::Value::Object({{"major", parts[0]},
                              {"minor", parts.size() > 1 ? parts[1] : ""},
                              {"gitVersion", git_version},
                              {"gitCommit", ""},
                              {"gitTreeState", "clean"},
                              {"buildDate", "1970-01-01T00:00:00Z"},
                              {"goVersion", "go1.24"},
                              {"compiler", "gc"},
                              {"platform", "linux/amd64"}});
}

}  // namespace

struct FrontEnd::Exchange {
  base::HttpRequest request;
  std::shared_ptr<base::HttpResponder> responder;
  RequestInfo info;
  UserIdentity user;

  // The rest is set under an interference alone.
  std::shared_ptr<Interference> interference;
  RequestPtr facts;
  std::shared_ptr<Outcome> outcome;
  std::shared_ptr<Lag> lag;
  std::shared_ptr<WatchGate> gate;
  bool has_waited = false;  // For its lag.

  // What it reads.
  ReadView View() const {
    constexpr int64_t kEverything = std::numeric_limits<int64_t>::max();
    const int64_t version = lag == nullptr ? kEverything : lag->version();
    if (version == kEverything) return {};
    return {std::max<int64_t>(version, 1), lag->reads() == Lag::Reads::kAll};
  }
  // The version that it needs and that its lag has not reached; 0: there is none.
  int64_t AwaitedVersion() const;
};

int64_t FrontEnd::Exchange::AwaitedVersion() const {
  int64_t wanted = 0;
  const absl::string_view text = request.Query("resourceVersion");
  if (lag == nullptr || !absl::SimpleAtoi(text, &wanted) || wanted <= lag->version()) return 0;
  if (info.verb == "get") return View().OfGet(text).ok() ? 0 : wanted;
  const bool watch = info.verb == "watch";
  if (!watch && info.verb != "list") return 0;
  const auto options = ListOptions::Read(request, {.watch = watch});
  if (!options.ok()) return 0;
  if (watch) return options->send_initial_events.value_or(false) ? wanted : 0;
  return View().OfList(*options).ok() ? 0 : wanted;
}

struct FrontEnd::Door {
  const std::shared_ptr<Interference> interference;
  // Held while OnRequest is called, so that the calls come in the order of the numbers.
  absl::Mutex mu;
  int64_t arrivals ABSL_GUARDED_BY(mu) = 0;
};

void FrontEnd::LimitBodies(base::HttpServerOptions& server) {
  server.max_body_bytes = kMaxBodyBytes;
  server.body_too_long =
      ErrorAnswer(ToStatus({413,
                            "RequestEntityTooLarge",
                            absl::StrCat("Request entity too large: limit is ", kMaxBodyBytes),
                            {}}));
  server.check_head = [this](const base::HttpRequest& head) { return CheckHead(head); };
}

std::optional<base::HttpResponse> FrontEnd::CheckHead(const base::HttpRequest& head) {
  const auto user = parts_.authentication.UserOf(head);
  // Open paths accept requests of unknown clients, but not with a body.
  if (user.ok() && Authentication::IsOpenPath(head.path)) {
    return ErrorAnswer(ToStatus(
        {405, "MethodNotAllowed", "the server does not allow a body on the requested path", {}}));
  }
  // Refused before the body is read, so that strangers cannot make the server hold bodies.
  if (user.ok()) return std::nullopt;
  base::HttpResponse refusal = ErrorAnswer(user.status());
  const RequestInfo info = ReadRequest(head);
  Count(head, info, refusal.code);
  return refusal;
}

void FrontEnd::Handle(base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
  auto exchange = std::make_shared<Exchange>();
  exchange->info = ReadRequest(request);
  exchange->request = std::move(request);
  exchange->responder = std::move(responder);
  if (const auto door = CurrentDoor()) {
    Follow(exchange, Ask(*door, *exchange));
  } else {
    Begin(exchange);
  }
}

void FrontEnd::SetInterference(std::shared_ptr<Interference> interference) {
  std::shared_ptr<Door> door;
  if (interference != nullptr) door = std::make_shared<Door>(std::move(interference));
  absl::MutexLock lock(&mu_);
  door_.swap(door);
}

std::shared_ptr<FrontEnd::Door> FrontEnd::CurrentDoor() const {
  absl::MutexLock lock(&mu_);
  return door_;
}

RequestVerdict FrontEnd::Ask(Door& door, Exchange& exchange) const {
  RequestFacts facts = FactsOf(parts_.name, exchange.info, exchange.request);
  absl::MutexLock lock(&door.mu);
  facts.number = ++door.arrivals;
  exchange.facts = std::make_shared<const RequestFacts>(std::move(facts));
  exchange.interference = door.interference;
  return door.interference->OnRequest(exchange.facts);
}

void FrontEnd::Follow(const ExchangePtr& exchange, RequestVerdict verdict) {
  if (verdict.kind == RequestVerdict::Kind::kClose) return exchange->responder->Abort();
  if (verdict.kind == RequestVerdict::Kind::kRefuse) {
    return Answer(*exchange, ErrorAnswer(ToStatus(verdict.error)));
  }
  exchange->lag = std::move(verdict.lag);
  exchange->gate = std::move(verdict.gate);
  exchange->outcome = std::make_shared<Outcome>();
  exchange->responder = std::make_shared<InterferedResponder>(
      InterferedResponder::Parts{exchange->responder, exchange->interference, exchange->facts,
                                 exchange->outcome, [this](const auto& hold) { Note(hold); }});
  if (verdict.kind == RequestVerdict::Kind::kPass) return Begin(exchange);
  Park(exchange, verdict.hold, [this, exchange] { Begin(exchange); });
}

void FrontEnd::Park(const ExchangePtr& exchange, const std::shared_ptr<Hold>& hold,
                    std::function<void()> go_on) {
  Note(hold);
  hold->Arrive([exchange, go_on = std::move(go_on)](bool released) {
    released ? go_on() : exchange->responder->Abort();
  });
}

void FrontEnd::Begin(const ExchangePtr& exchange) {
  const absl::Duration latency = parts_.faults.latency();
  if (latency <= absl::ZeroDuration()) {
    Serve(exchange);
  } else {
    parts_.timers.After(latency, [this, exchange] { Serve(exchange); });
  }
}

absl::Status FrontEnd::Admit(Exchange& exchange) const {
  // Faults first: a test that wants a failure gets it, whoever asks.
  RETURN_IF_ERROR(parts_.faults.Take(exchange.request));
  ASSIGN_OR_RETURN(exchange.user, parts_.authentication.UserOf(exchange.request));
  return absl::OkStatus();
}

void FrontEnd::Serve(const ExchangePtr& exchange) {
  if (const absl::Status admitted = Admit(*exchange); !admitted.ok()) {
    Answer(*exchange, ErrorAnswer(admitted));
    return;
  }
  if (const base::HttpHandler delegate = DelegateFor(exchange->request.path)) {
    delegate(exchange->request, exchange->responder);
    return;
  }
  if (exchange->info.is_resource) {
    ServeResource(exchange);
    return;
  }
  auto response = ServeOther(*exchange);
  Answer(*exchange, response.ok() ? *std::move(response) : ErrorAnswer(response.status()));
}

void FrontEnd::Delegate(std::string path, base::HttpHandler handler) {
  absl::MutexLock lock(&mu_);
  delegates_[std::move(path)] = std::move(handler);
}

base::HttpHandler FrontEnd::DelegateFor(const std::string& path) const {
  absl::MutexLock lock(&mu_);
  for (const auto& [prefix, handler] : delegates_) {
    if (absl::StartsWith(path, prefix)) return handler;
  }
  return nullptr;
}

void FrontEnd::ServeResource(const ExchangePtr& exchange) {
  const RequestInfo& info = exchange->info;
  ResourceInfoPtr resource = parts_.backend.registry().Find(info.gvr);
  const bool misplaced =
      resource != nullptr && !resource->resource.namespaced && !info.key.ns.empty();
  const bool too_long = !info.sub_path.empty() && info.subresource != "proxy";
  if (resource == nullptr || misplaced || too_long) {
    Answer(*exchange, PathNotFound());
    return;
  }
  const bool watch = info.verb == "watch";
  auto form = Negotiate(exchange->request, watch ? Offer::kStream : Offer::kObjects);
  if (!form.ok()) {
    Answer(*exchange, ErrorAnswer(form.status()));
    return;
  }
  auto include = kube::server::IncludeOf(exchange->request, *form);
  if (!include.ok()) {
    Answer(*exchange, ErrorAnswer(include.status()));
    return;
  }
  if (AwaitLag(exchange)) return;
  const ResourceCall call{
      exchange->request, info,           std::move(resource), *form,
      *include,          exchange->user, exchange->View(),    exchange->outcome.get()};
  if (watch) {
    ServeWatch(exchange, call);
    return;
  }
  auto response = resources_.Handle(call);
  Answer(*exchange, response.ok() ? *std::move(response) : ErrorAnswer(response.status()));
}

bool FrontEnd::AwaitLag(const ExchangePtr& exchange) {
  const int64_t version = exchange->AwaitedVersion();
  if (version == 0 || std::exchange(exchange->has_waited, true)) return false;
  const auto hold = std::make_shared<Hold>();
  Park(exchange, hold, [this, exchange] { ServeResource(exchange); });
  parts_.timers.After(kMaxLagWait, [hold] { hold->Release(); });
  exchange->lag->ReleaseAt(version, hold);
  return true;
}

void FrontEnd::ServeWatch(const ExchangePtr& exchange, const ResourceCall& call) {
  auto watch = resources_.Open(call);
  if (!watch.ok()) {
    Answer(*exchange, ErrorAnswer(watch.status()));
    return;
  }
  parts_.counts.Add(exchange->request.Header("user-agent"), "watch", call.info.ResourceText(), 200);
  base::HttpResponse head;
  head.content_type = "application/json";
  if (exchange->interference != nullptr) {
    watch->session->Interpose(
        {exchange->interference, exchange->facts, exchange->lag, exchange->gate});
  }
  watch->session->Connect(exchange->responder->StartStream(std::move(head)));
  // Before it starts, so that a fault that drops all watches finds it.
  Track(watch->session);
  watch->session->Start(watch->start);
  parts_.timers.After(watch->timeout, [weak = std::weak_ptr<WatchSession>(watch->session)] {
    if (const auto session = weak.lock()) session->Finish();
  });
}

absl::StatusOr<base::HttpResponse> FrontEnd::ServeOther(const Exchange& exchange) {
  const std::string& path = exchange.request.path;
  if (Authentication::IsOpenPath(path)) return PlainText(200, "ok");
  if (path == "/version" || path == "/version/") {
    return AnswerOf(200, VersionDocument(parts_.git_version), {});
  }
  if (path == "/metrics") return PlainText(200, RequestMetrics(parts_.counts.All()));
  auto document = documents_.Find(exchange.request, parts_.backend.registry().All());
  return document.has_value() ? *std::move(document) : PathNotFound();
}

void FrontEnd::Answer(const Exchange& exchange, base::HttpResponse response) {
  Count(exchange.request, exchange.info, response.code);
  exchange.responder->Send(std::move(response));
}

void FrontEnd::Count(const base::HttpRequest& request, const RequestInfo& info, int code) {
  parts_.counts.Add(request.Header("user-agent"), info.verb,
                    info.is_resource ? info.ResourceText() : request.path, code);
}

void FrontEnd::Track(const std::shared_ptr<WatchSession>& session) {
  absl::MutexLock lock(&mu_);
  watches_.erase(std::remove_if(watches_.begin(), watches_.end(),
                                [](const auto& weak) { return weak.expired(); }),
                 watches_.end());
  watches_.push_back(session);
}

void FrontEnd::Note(const std::shared_ptr<Hold>& hold) {
  absl::MutexLock lock(&mu_);
  holds_.erase(
      std::remove_if(holds_.begin(), holds_.end(), [](const auto& weak) { return weak.expired(); }),
      holds_.end());
  holds_.push_back(hold);
}

std::vector<std::shared_ptr<WatchSession>> FrontEnd::TakeWatches() {
  std::vector<std::weak_ptr<WatchSession>> watches;
  {
    absl::MutexLock lock(&mu_);
    watches.swap(watches_);
  }
  std::vector<std::shared_ptr<WatchSession>> out;
  for (const auto& weak : watches) {
    if (auto session = weak.lock()) out.push_back(std::move(session));
  }
  return out;
}

void FrontEnd::DropWatches() {
  for (const auto& session : TakeWatches()) session->Abort();
}

void FrontEnd::DropAll() {
  // Again, because what goes on at the moment may hold or watch something before it ends.
  while (true) {
    std::vector<std::weak_ptr<Hold>> holds;
    {
      absl::MutexLock lock(&mu_);
      holds.swap(holds_);
    }
    const auto watches = TakeWatches();
    if (holds.empty() && watches.empty()) return;
    for (const auto& weak : holds) {
      if (const auto hold = weak.lock()) hold->Drop();
    }
    for (const auto& session : watches) session->Abort();
    for (const auto& session : watches) session->AwaitQuiet();
  }
}

}  // namespace sandbox
