// A request is checked (access.h), then answered: with a file of the page at once, with what is
// read from the control plane on a thread of one of three pools, by the work that it is. With
// tokens or users (aggregated_api.h), their credentials are tried first, each time. The answer
// about the whole fleet is made once for all who ask at the same time, and kept for some seconds,
// and so are the others (answer_maker.h), never for somebody with other credentials; while
// somebody follows live, a timer has it read again, and tells all who follow that viewer's
// readings. A reading that was ended before it was complete is an error, never an answer. What
// waits or is read when the server stops is dropped.

#include "lens/serve/server.h"

#include <malloc.h>

#include <atomic>
#include <exception>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/timers.h"
#include "config/version.h"
#include "kube/aggregation/work_pool.h"
#include "lens/fleet/reader.h"
#include "lens/serve/aggregated_api.h"
#include "lens/serve/answer_maker.h"
#include "lens/serve/assets.h"
#include "lens/serve/bounds.h"
#include "lens/serve/exchange.h"
#include "lens/serve/plane_access.h"
#include "lens/serve/reading_end.h"
#include "lens/serve/routes.h"
#include "lens/serve/shown.h"
#include "lens/serve/streams.h"
#include "lens/serve/viewer.h"

namespace lens::serve {
namespace {

constexpr absl::Duration kTick = absl::Seconds(1);
constexpr absl::Duration kForgetEvery = absl::Minutes(1);

const char* NameOf(Mode mode) {
  return mode == Mode::kLocal ? "local" : mode == Mode::kTokens ? "tokens" : "users";
}

// Returns the address without its port: who floods the server with tokens has one.
std::string PeerOf(const base::HttpRequest& request) {
  return request.remote_address.substr(0, request.remote_address.rfind(':'));
}

class ServerImpl : public Server {
 public:
  ServerImpl(ServeOptions options, std::unique_ptr<PlaneAccess> plane)
      : options_(std::move(options)), plane_(std::move(plane)) {}
  ~ServerImpl() override { Stop(); }

  absl::Status Listen() {
    base::HttpServerOptions http;
    http.address = options_.address;
    http.threads = 2;
    http.max_connections = kMostConnections;
    http.max_handshakes = kMostHandshakes;
    http.max_body_bytes = 0;
    http.max_header_bytes = kMostHeaderBytes;
    http.max_stream_backlog_bytes = kMostStreamBacklog;
    http.stream_window_bytes = kMostStreamBacklog / 2;
    http.max_outputs_bytes = kMostOutputBytes;
    http.stall_timeout = absl::Seconds(30);
    http.first_request_timeout = absl::Seconds(10);
    if (options_.mode != Mode::kLocal) {
      http.tls = tls::ServerOptions{options_.certificate};
      if (!options_.certificate_files.certificate.empty()) {
        http.certificate_files = options_.certificate_files;
      }
    }
    base::HttpHandler handler = [this](base::HttpRequest request, auto responder) {
      Handle(std::move(request), nullptr, std::move(responder));
    };
    if (options_.mode == Mode::kUsers) {
      http.tls->any_client_certificate = true;
      http.max_header_bytes = kMostNamedHeaderBytes;
      absl::StatusOr<std::unique_ptr<AggregatedApi>> api =
          AggregatedApi::Create(options_.plane, [this](auto request, auto& user, auto to) {
            Handle(std::move(request), &user, std::move(to));
          });
      if (!api.ok()) return base::Annotate(api.status(), "--behind-api-server");
      api_ = *std::move(api);
      handler = api_->Handler();
    }
    absl::StatusOr<std::unique_ptr<base::HttpServer>> listening =
        base::HttpServer::Start(std::move(http), std::move(handler));
    if (!listening.ok()) return base::Annotate(listening.status(), "--listen");
    http_ = *std::move(listening);
    // What is asked first is read before somebody asks.
    if (options_.mode == Mode::kLocal) ReadFleet(plane_->local());
    timers_.After(kTick, [this] { Tick(); });
    timers_.After(kHeartbeat, [this] { Beat(); });
    timers_.After(kForgetEvery, [this] { Forget(); });
    if (options_.load_plane != nullptr) LoadPlaneLater();
    return absl::OkStatus();
  }

  int port() const override { return http_->port(); }

  void Stop() override {
    if (stop_.stop_requested()) return;
    stop_.request_stop();
    timers_.Stop();
    streams_.EndAll();
    for (auto* pool : {&one_, &lists_, &what_if_}) pool->Stop();
    if (http_ != nullptr) http_->Stop();
    if (api_ != nullptr) api_->Stop();
  }

 private:
  // `user` is who asks as the API server says, nullptr unless the mode is kUsers.
  void Handle(base::HttpRequest request, const kube::aggregation::UserInfo* user,
              std::shared_ptr<base::HttpResponder> responder) {
    const auto exchange = std::make_shared<Exchange>(std::move(request), std::move(responder),
                                                     timers_, stop_.get_token());
    const absl::Status allowed = CheckRequest(options_.mode, exchange->request());
    if (!allowed.ok()) return exchange->Send(ErrorAnswer(allowed));
    const std::string& path = exchange->request().path;
    if (path == "/healthz") return exchange->Send(Answer(200, "text/plain", "ok\n"));
    if (path == "/api" || path == "/api/") return exchange->Send(RoutesAsJson());
    if (absl::StartsWith(path, "/api/")) return Admit(user, exchange);
    SendAsset(*exchange);
  }

  static void SendAsset(Exchange& exchange) {
    const Asset* asset = FindAsset(exchange.request().path);
    if (asset == nullptr) {
      return exchange.Send(ErrorAnswer(absl::NotFoundError("there is no such page")));
    }
    const bool is_known = exchange.request().Header("if-none-match") == asset->etag;
    base::HttpResponse response =
        Answer(is_known ? 304 : 200, asset->content_type, is_known ? "" : std::string(asset->text));
    response.headers.emplace_back("ETag", asset->etag);
    response.headers.emplace_back("Cache-Control", "no-cache");
    exchange.Send(std::move(response));
  }

  // Finds out who asks.
  void Admit(const kube::aggregation::UserInfo* user, const ExchangePtr& exchange) {
    if (options_.mode == Mode::kLocal) return AnswerFor(plane_->local(), exchange);
    if (user != nullptr) {
      const std::string owner = OwnerOf(*user);
      return Try(owner, ForUser(plane_->connection(), *user), owner, exchange);
    }
    const absl::StatusOr<std::string> token = TokenOf(exchange->request());
    if (!token.ok()) return exchange->Send(ErrorAnswer(token.status()));
    Try(OwnerOf(*token), WithToken(plane_->connection(), *token), PeerOf(exchange->request()),
        exchange);
  }

  // Finds out whether the credentials count; `waits_as` is whose share of the queue that takes.
  void Try(const std::string& owner, const kube::ConnectionConfig& credentials,
           const std::string& waits_as, const ExchangePtr& exchange) {
    Run(one_, waits_as, exchange, [this, owner, credentials, exchange] {
      const auto viewer = viewers_.Find(owner, credentials, exchange->stop());
      if (!viewer.ok()) {
        return exchange->Send(ErrorAnswer(plane_->About(viewer.status(), absl::Now())));
      }
      AnswerFor(*viewer, exchange);
    });
  }

  void AnswerFor(const ViewerPtr& viewer, const ExchangePtr& exchange) {
    const base::HttpRequest& request = exchange->request();
    if (request.path == "/api/about") return exchange->Send(About(*viewer));
    if (request.path == "/api/updates") return Follow(viewer, *exchange);
    const Route* route = FindRoute(request.path);
    if (route == nullptr) {
      return exchange->Send(ErrorAnswer(absl::NotFoundError(
          absl::StrCat("there is no ", request.path, "; /api/ says what can be asked"))));
    }
    auto parameters = Parameters::Of(request, route->parameters);
    if (!parameters.ok()) return exchange->Send(ErrorAnswer(parameters.status()));
    exchange->EndAfter(route->patience);
    if (request.path == "/api/fleet" && request.query.empty()) return SendFleet(viewer, exchange);
    answers_.Answer({viewer, *route, *std::move(parameters)}, exchange);
  }

  // Says in one sentence, and soon, that the control plane does not answer, or lets nobody in.
  absl::Status CheckPlane(Viewer& viewer, const base::StopToken& stop) const {
    return plane_->About(viewer.CheckCredentials(stop), absl::Now());
  }

  kube::aggregation::WorkPool* PoolOf(Work work) {
    return work == Work::kOne ? &one_ : work == Work::kLists ? &lists_ : &what_if_;
  }

  AnswerMaker::Parts PartsOfAnswers() {
    return {
        timers_,
        stop_.get_token(),
        [this](Work work) { return PoolOf(work); },
        [this](Viewer& viewer, const base::StopToken& stop) { return CheckPlane(viewer, stop); },
        options_.flags,
        options_.daemon};
  }

  // Runs `work` in the pool. When there is no room, the exchange is dropped, which answers so.
  static void Run(kube::aggregation::WorkPool& pool, const std::string& owner,
                  const ExchangePtr& exchange, std::function<void()> work) {
    pool.Run(owner, [exchange, work = std::move(work)] {
      try {
        work();
      } catch (const std::exception& error) {
        base::LogError("a question could not be answered", {{"error", error.what()}});
        exchange->Send(ErrorAnswer(absl::InternalError("the answer could not be made")));
      }
    });
  }

  json::Value About(Viewer& viewer) const {
    return json::Value::Object({{"version", config::Version()},
                                {"server", viewer.client().name()},
                                {"mode", NameOf(options_.mode)},
                                {"readsOnly", true},
                                {"now", kube::FormatTime(absl::Now())}});
  }

  // ---- The whole fleet.

  void SendFleet(const ViewerPtr& viewer, const ExchangePtr& exchange) {
    const FleetAnswerPtr last = viewer->fleet().Last();
    const absl::Duration took = last == nullptr ? absl::ZeroDuration() : last->took;
    const auto send = [exchange](const FleetAnswerPtr& answer) {
      if (!answer->status.ok()) return exchange->Send(ErrorAnswer(answer->status));
      const std::string etag = absl::StrCat("\"", answer->fingerprint, "\"");
      const bool is_known = exchange->request().Header("if-none-match") == etag;
      base::HttpResponse head = JsonHead(is_known ? 304 : 200);
      head.headers.emplace_back("ETag", etag);
      if (is_known) return exchange->Send(std::move(head));
      exchange->SendShared(answer->json, std::move(head));
    };
    const absl::Duration max_age = std::max(kPause, kPausePerReading * took);
    const auto place = viewer->fleet().Want(max_age, base::RealClock().SteadyNow(), send);
    if (!place.ok()) return exchange->Send(ErrorAnswer(place.status()));
    if (place->ticket == 0) return;
    exchange->OnEnd([viewer, ticket = place->ticket, weak = std::weak_ptr(exchange)] {
      const ExchangePtr waits = weak.lock();
      if (waits == nullptr || !viewer->fleet().GiveUp(ticket)) return;
      waits->Send(absl::CancelledError("the fleet is still being read"));
    });
    if (place->has_to_read) StartReading(viewer);
  }

  // Has the fleet be read, unless it is being read.
  void ReadFleet(const ViewerPtr& viewer) {
    if (viewer->fleet().Begin()) StartReading(viewer);
  }

  void StartReading(const ViewerPtr& viewer) {
    ++readings_;
    // It has a turn of its own beside the viewer's other lists, which may be many.
    const bool runs = lists_.Run(absl::StrCat(viewer->owner(), "/fleet"), [this, viewer] {
      try {
        Read(viewer);
      } catch (const std::exception& error) {
        FinishReading(*viewer, absl::InternalError(error.what()), absl::ZeroDuration());
      }
      --readings_;
      malloc_trim(0);
    });
    if (!runs) {
      --readings_;
      FinishReading(*viewer, absl::ResourceExhaustedError("too much is being read at the moment"),
                    absl::ZeroDuration());
    }
  }

  // Ends a reading when the control plane has gone, for each of its many questions would wait for
  // its own time to be over.
  void Probe(const ViewerPtr& viewer, const std::shared_ptr<ReadingEnd>& end) {
    timers_.After(kProbe, [this, viewer, end] {
      one_.Run(viewer->owner(), [this, viewer, end] {
        if (end->stop().stop_requested()) return;
        const absl::Status answers = viewer->CheckAnswers(end->stop());
        if (absl::IsUnavailable(answers)) return end->Because(answers);
        Probe(viewer, end);
      });
    });
  }

  void Read(const ViewerPtr& viewer_ptr) {
    Viewer& viewer = *viewer_ptr;
    const auto end = std::make_shared<ReadingEnd>();
    Probe(viewer_ptr, end);
    const base::StopCallback on_stop(
        stop_.get_token(), [&] { end->Because(absl::CancelledError("the server stops")); });
    const auto timer = timers_.After(kPatienceForLists, [end] {
      end->Because(absl::DeadlineExceededError(absl::StrCat(
          "the fleet could not be read within ", absl::FormatDuration(kPatienceForLists),
          ": ask for a namespace, a cluster or a policy, or run karmada-lens why -A")));
    });
    const base::SteadyTime start = base::RealClock().SteadyNow();
    const base::StopToken stop = end->stop();
    auto read = [&]() -> absl::StatusOr<fleet::Fleet> {
      RETURN_IF_ERROR(CheckPlane(viewer, stop));
      ASSIGN_OR_RETURN(const auto served, viewer.Served(stop));
      auto fleet = fleet::ReadFleet(viewer.client(), *served, {}, options_.flags, stop);
      // What it says then is about one list, and the whole control plane may have gone.
      if (!fleet.ok()) RETURN_IF_ERROR(CheckPlane(viewer, stop));
      return fleet;
    }();
    timers_.Cancel(timer);
    // What was read until then would be shown as what there is.
    if (const absl::Status why = end->why(); !why.ok()) read = why;
    end->Because(absl::OkStatus());  // Ends the probes.
    FinishReading(viewer, read, base::RealClock().SteadyNow() - start);
  }

  void FinishReading(Viewer& viewer, const absl::StatusOr<fleet::Fleet>& read,
                     absl::Duration took) {
    FleetAnswer answer = AnswerOf(read, took, base::RealClock());
    const json::Value news = NewsOf(answer);
    viewer.fleet().Finish(std::move(answer));
    if (absl::IsUnauthenticated(read.status())) return streams_.End(viewer, "token", news);
    streams_.Tell(viewer, "fleet", news);
  }

  // What those who follow are told: whether something has changed, and what a title shows.
  static json::Value NewsOf(const FleetAnswer& answer) {
    return json::Value::Object(
        {{"fingerprint", answer.fingerprint},
         {"headline", answer.headline},
         {"notFine", static_cast<int64_t>(answer.not_fine)},
         {"readAt", kube::FormatTime(answer.at)},
         {"now", kube::FormatTime(absl::Now())},
         {"error", answer.status.ok() ? "" : Shortened(answer.status.message())}});
  }

  // ---- Live updates.

  void Follow(const ViewerPtr& viewer, Exchange& exchange) {
    // A stream that answers HEAD would have no end that its client could see.
    if (exchange.request().method == "HEAD") return exchange.Send(Streams::Head());
    const auto stream = streams_.Open(viewer, exchange.responder());
    if (!stream.ok()) return exchange.Send(ErrorAnswer(stream.status()));
    exchange.Answered();
    // An older one is read again by the next tick.
    const FleetAnswerPtr last = viewer->fleet().Last();
    if (last == nullptr || !IsRecent(*last, base::RealClock().SteadyNow())) return;
    streams_.Tell(*stream, "fleet", NewsOf(*last));
  }

  void Tick() {
    // The oldest reading first, and none that would have to wait: who comes new goes before.
    std::multimap<base::SteadyTime, ViewerPtr> due;
    for (const ViewerPtr& viewer : streams_.Viewers()) {
      viewers_.Touch(*viewer);
      if (!viewer->fleet().IsDue(base::RealClock().SteadyNow())) continue;
      const FleetAnswerPtr last = viewer->fleet().Last();
      due.emplace(last == nullptr ? base::SteadyTime::InfinitePast() : last->ended, viewer);
    }
    answers_.ForgetOld();
    for (const auto& [at, viewer] : due) {
      if (readings_ < kThreadsForLists) ReadFleet(viewer);
    }
    timers_.After(kTick, [this] { Tick(); });
  }

  void Beat() {
    if (options_.mode == Mode::kUsers) streams_.EndOlderThan(kNamedFor, "again");
    streams_.Beat();
    timers_.After(kHeartbeat, [this] { Beat(); });
  }

  // Credentials that were renewed in the kubeconfig take effect: all who look begin again.
  void LoadPlaneLater() {
    timers_.After(options_.load_every, [this] {
      const bool runs = one_.Run([this] {
        if (plane_->Reload()) UsePlane();
        LoadPlaneLater();
      });
      if (!runs) LoadPlaneLater();
    });
  }

  void UsePlane() {
    viewers_.ForgetAll();
    if (api_ != nullptr) api_->Use(plane_->connection());
    if (options_.mode == Mode::kLocal) ReadFleet(plane_->local());
    streams_.EndOlderThan(absl::ZeroDuration(), "again");
  }

  void Forget() {
    viewers_.ForgetIdle();
    timers_.After(kForgetEvery, [this] { Forget(); });
  }

  const ServeOptions options_;
  const std::unique_ptr<PlaneAccess> plane_;
  std::unique_ptr<AggregatedApi> api_;  // nullptr unless it is kUsers.
  base::StopSource stop_;
  std::atomic<int> readings_ = 0;  // Of the fleet, that are made or wait for a thread.
  Viewers viewers_;
  base::Timers timers_{base::RealClock()};
  Streams streams_;
  AnswerMaker answers_{PartsOfAnswers()};
  kube::aggregation::WorkPool one_{"lens-one", kThreadsForOne, kMostWaiting};
  kube::aggregation::WorkPool lists_{"lens-lists", kThreadsForLists, kMostWaiting};
  kube::aggregation::WorkPool what_if_{"lens-what-if", kThreadsForWhatIf, kMostWaiting};
  std::unique_ptr<base::HttpServer> http_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServeOptions options) {
  ASSIGN_OR_RETURN(auto plane,
                   PlaneAccess::Create(options.mode, options.plane, options.load_plane));
  auto server = std::make_unique<ServerImpl>(std::move(options), std::move(plane));
  RETURN_IF_ERROR(server->Listen());
  return server;
}

}  // namespace lens::serve
