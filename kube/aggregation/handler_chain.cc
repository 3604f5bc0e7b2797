// Each step of the README's list is a function that takes the Passage of a request and either
// answers it or calls the next step; those that may have to wait for a review pass a continuation.
// The continuations own the passage. The record of the request (what is written about it, and its
// deadline) belongs to the guarded responder's hooks instead, because it outlives the passage when
// a stream goes on, and ends before it when the deadline is earlier.
//
// Who may answer at the same time: the steps, the handler, the deadline. GuardedResponder lets one.

#include "kube/aggregation/handler_chain.h"

#include <cxxabi.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/fair_share.h"
#include "base/go_syntax.h"
#include "base/log.h"
#include "base/repeated_errors.h"
#include "base/timers.h"
#include "kube/aggregation/guarded_responder.h"
#include "kube/aggregation/health.h"
#include "kube/aggregation/impersonation.h"
#include "kube/aggregation/impersonation_check.h"
#include "kube/aggregation/in_flight.h"
#include "kube/aggregation/refusals.h"
#include "kube/aggregation/request_record.h"
#include "kube/aggregation/sent_answers.h"
#include "kube/aggregation/sessions.h"
#include "kube/aggregation/work_pool.h"
#include "kube/server/api_errors.h"
#include "kube/server/compression.h"
#include "kube/server/negotiation.h"
#include "kube/server/requirements.h"

namespace kube::aggregation {
namespace {

// Requests that wait for a thread to block on, if there is no limit of those in flight.
constexpr size_t kMaxWaiting = 1000;
// The URLs and headers of requests that wait to know for whom they act: not yet in flight.
constexpr int64_t kMaxImpersonatingBytes = 16 << 20;

bool HasHeader(const base::HttpResponse& response, absl::string_view name) {
  for (const auto& [field, value] : response.headers) {
    if (absl::EqualsIgnoreCase(field, name)) return true;
  }
  return false;
}

absl::Status TooMany(absl::string_view message) {
  return server::TooManyRequests(message, absl::Seconds(1));
}

absl::Status UnavailableForNow(absl::string_view message) {
  return server::ServiceUnavailable(message, absl::Seconds(1));
}

absl::Status TimedOut() {
  return server::Timeout("request did not complete within the allotted timeout",
                         absl::ZeroDuration());
}

// Upstream's WithRequestDeadline: a client may ask for less than the server's limit, not for more.
absl::StatusOr<absl::Duration> TimeoutOf(const base::HttpRequest& request, absl::Duration limit) {
  const absl::string_view text = request.Query("timeout");
  if (text.empty()) return limit;
  const absl::StatusOr<absl::Duration> wanted = base::GoParseDuration(text);
  if (!wanted.ok()) {
    return server::BadRequest(
        absl::StrCat("invalid timeout specified in the request URL - ", wanted.status().message()));
  }
  return *wanted > absl::ZeroDuration() ? std::min(*wanted, limit) : limit;
}

bool IsMutating(const server::RequestInfo& info) {
  return info.verb != "get" && info.verb != "list" && info.verb != "watch";
}

metrics::Gauge* InFlightGauge(metrics::Registry* registry, const char* kind) {
  if (registry == nullptr) return nullptr;
  return &registry->GetGauge("apiserver_current_inflight_requests",
                             "Number of requests that are being executed, by kind.",
                             {{"request_kind", kind}});
}

// One request on its way to the handler.
struct Passage {
  ApiRequest api;
  RequestLength length = RequestLength::kBounded;
  std::shared_ptr<GuardedResponder> responder;
  std::shared_ptr<RequestRecord> record;
  // Whose share it counts in; is known before there is an answer.
  const std::shared_ptr<std::string> owner = std::make_shared<std::string>();

  void Refuse(const absl::Status& error) { responder->Send(server::ErrorAnswer(error)); }
};
using PassagePtr = std::shared_ptr<Passage>;

}  // namespace

class HandlerChain::Impl {
 public:
  Impl(Options options, Parts parts)
      : options_(std::move(options)),
        parts_(std::move(parts)),
        reads_(options_.max_in_flight, InFlightGauge(parts_.registry, "readOnly")),
        writes_(options_.max_mutating_in_flight, InFlightGauge(parts_.registry, "mutating")),
        long_running_(options_.max_long_running),
        refused_reads_(parts_.registry, "reads",
                       "As many reads are in flight as may be (--max-requests-inflight); one user "
                       "gets half of them at most."),
        refused_writes_(parts_.registry, "writes",
                        "As many writes are in flight as may be "
                        "(--max-mutating-requests-inflight); one user gets half of them at most."),
        refused_watches_(parts_.registry, "watches",
                         "As many watches and sessions are open as may be (four fifths of "
                         "--max-connections); one user gets half of them at most."),
        refused_by_handlers_(parts_.registry, "handlers",
                             "As many requests wait for a thread as may; one user gets half of "
                             "these places at most."),
        refused_impersonations_(parts_.registry, "impersonations",
                                "As many impersonated requests wait until the control plane has "
                                "answered for them as may; one user gets half of these places at "
                                "most."),
        deadlines_(std::make_shared<base::Timers>(parts_.clock)),
        pool_(std::make_shared<WorkPool>("handlers", options_.handler_threads,
                                         WaitingLimit(options_))) {}

  ~Impl() {
    pool_->Stop();
    deadlines_->Stop();
  }

  void Serve(base::HttpRequest request, const std::shared_ptr<base::HttpResponder>& raw) {
    auto passage = std::make_shared<Passage>();
    passage->api.info = server::ReadRequest(request);
    passage->api.audit_id = AuditIdOf(request);
    passage->length = LengthOfRequest(passage->api.info, request);
    passage->api.http = std::move(request);
    Register(passage, raw);
    // From here on each step is guarded by itself, since a continuation runs on another thread.
    Guard(passage, [this, passage] { Begin(passage); });
  }

  void BeginDrain() {
    {
      absl::MutexLock lock(&mu_);
      draining_ = true;
    }
    for (base::StopSource& stop : sessions_->All()) stop.request_stop();
  }

  bool AwaitIdle(absl::Duration patience, const base::StopToken& stop) {
    return active_.AwaitNone(parts_.clock, parts_.clock.SteadyNow() + patience, stop);
  }

 private:
  static size_t WaitingLimit(const Options& options) {
    if (options.max_in_flight == 0 || options.max_mutating_in_flight == 0) return kMaxWaiting;
    return static_cast<size_t>(options.max_in_flight) +
           static_cast<size_t>(options.max_mutating_in_flight) + kMaxWaiting;
  }

  RequestLength LengthOfRequest(const server::RequestInfo& info,
                                const base::HttpRequest& request) const {
    return options_.length ? options_.length(info, request) : LengthOf(info);
  }

  // Puts the guard in front of the responder, and the request in the list of those at work.
  void Register(const PassagePtr& passage, const std::shared_ptr<base::HttpResponder>& raw) {
    const bool long_running = passage->length == RequestLength::kLongRunning;
    auto record = std::make_shared<RequestRecord>(
        passage->api, long_running,
        RequestRecord::Sinks{parts_.audit, parts_.registry, deadlines_, &parts_.clock,
                             &options_.subject});
    passage->record = record;
    passage->api.stop = record->stop().get_token();
    const bool gzip = options_.gzip_min_bytes > 0 && server::AcceptsGzip(passage->api.http);
    // The hook needs the responder that it is a part of, without keeping it alive.
    const auto answerer = std::make_shared<std::weak_ptr<GuardedResponder>>();
    passage->responder = std::make_shared<GuardedResponder>(
        raw, GuardedResponder::Hooks{
                 .complete =
                     [id = passage->api.audit_id](base::HttpResponse& head) { Complete(id, head); },
                 .started =
                     [record, answerer, owner = passage->owner,
                      sending = long_running ? nullptr : sending_](int code) {
                       record->Started(code);
                       const auto responder = answerer->lock();
                       if (sending == nullptr || responder == nullptr) return;
                       responder->Hold(sending->Add(*owner, responder->Expirer()));
                     },
                 .finished = [record](int code) { record->Finished(code); },
                 .deliver =
                     [pool = gzip ? pool_ : nullptr, min_bytes = options_.gzip_min_bytes](
                         base::HttpResponse answer, const GuardedResponder::SendFn& send) {
                       if (pool == nullptr) return send(std::move(answer));
                       Deliver(*pool, min_bytes, std::move(answer), send);
                     },
                 .closed = [record] { record->RequestStop(); }});
    *answerer = passage->responder;
    // It is held until the answer has ended, so that AwaitIdle waits for streams as well.
    passage->responder->Hold(active_.Enter(base::kNoOwner));
    if (long_running) passage->responder->Hold(sessions_->Add(record->stop()));
  }

  // Compressing takes long enough for a thread of its own, wherever the handler has answered.
  static void Deliver(WorkPool& pool, size_t min_bytes, base::HttpResponse answer,
                      const GuardedResponder::SendFn& send) {
    if (!server::IsWorthCompressing(answer, min_bytes)) return send(std::move(answer));
    const auto kept = std::make_shared<base::HttpResponse>(std::move(answer));
    const bool taken = pool.Run([kept, send] {
      server::Compress(*kept);
      send(std::move(*kept));
    });
    if (!taken) send(std::move(*kept));
  }

  static void Complete(const std::string& audit_id, base::HttpResponse& head) {
    head.headers.emplace_back("Audit-Id", audit_id);
    if (!HasHeader(head, "Cache-Control")) {
      head.headers.emplace_back("Cache-Control", "no-cache, private");
    }
  }

  // Runs a step; an exception becomes a 500.
  template <class Step>
  static void Guard(const PassagePtr& passage, const Step& step) {
    try {
      step();
    } catch (const abi::__forced_unwind&) {
      throw;  // The thread ends.
    } catch (const std::exception& e) {
      RefuseBecause(passage, e.what());
    } catch (...) {
      RefuseBecause(passage, "exception of an unknown type");
    }
  }

  static void RefuseBecause(const PassagePtr& passage, const char* error) {
    base::LogError("an exception while a request was handled",
                   {{"uri", passage->record->uri()},
                    {"auditID", passage->record->audit_id()},
                    {"error", error}});
    passage->Refuse(server::InternalError("the request could not be handled"));
  }

  bool draining() const {
    absl::MutexLock lock(&mu_);
    return draining_;
  }

  void Begin(const PassagePtr& passage) {
    const base::HttpRequest& http = passage->api.http;
    // While the server ends, others still have to see that it does.
    if (draining() && !HealthEndpoints::Serves(http.path) && http.path != "/metrics") {
      base::HttpResponse answer =
          server::ErrorAnswer(UnavailableForNow("apiserver is shutting down"));
      answer.close_connection = true;
      return passage->responder->Send(std::move(answer));
    }
    if (!SetDeadline(passage)) return;
    // From here on questions about the request keep its selectors.
    const absl::Status too_long = server::CheckRequirements(passage->api.info, http);
    if (!too_long.ok()) return passage->Refuse(too_long);
    parts_.authenticator.Authenticate(http, [this, passage](absl::StatusOr<UserInfo> user) {
      Guard(passage, [&] { Authenticated(passage, std::move(user)); });
    });
  }

  bool SetDeadline(const PassagePtr& passage) {
    if (passage->length == RequestLength::kLongRunning) return true;
    const bool bounded = passage->length == RequestLength::kBounded;
    const absl::Duration limit = bounded ? options_.request_timeout : absl::InfiniteDuration();
    const absl::StatusOr<absl::Duration> timeout = TimeoutOf(passage->api.http, limit);
    if (!timeout.ok()) {
      passage->Refuse(timeout.status());
      return false;
    }
    if (*timeout == absl::InfiniteDuration()) return true;
    passage->api.deadline = parts_.clock.SteadyNow() + *timeout;
    passage->record->SetDeadline(
        passage->api.deadline, [expire = passage->responder->Expirer(), record = passage->record] {
          record->RequestStop();
          expire(server::ErrorAnswer(TimedOut()));
        });
    return true;
  }

  void Authenticated(const PassagePtr& passage, absl::StatusOr<UserInfo> user) {
    if (!user.ok()) return passage->Refuse(AuthenticationError(user.status()));
    passage->api.user = *std::move(user);
    passage->record->SetUser(passage->api.user);
    base::HttpRequest& http = passage->api.http;
    // The handler may pass the request on to another server, which must see neither token nor
    // claimed user.
    RemoveCredentials(http, HeaderNames());
    const auto bytes = static_cast<int64_t>(BytesOfHead(http));
    absl::StatusOr<std::optional<Impersonation>> wanted = WantedOf(passage->api);
    if (!wanted.ok()) return passage->Refuse(wanted.status());
    // What is wanted has been read: a server behind this one must not impersonate once more.
    RemoveImpersonation(http);
    // Most requests impersonate nobody and skip the reviews of rights.
    if (!*wanted) return Admit(passage);
    // The request is not counted yet, since it is not known for whom it counts; its bytes are.
    const auto held = impersonating_.Take(ShareOwner(passage->api.user), bytes);
    if (held == nullptr) return passage->Refuse(refused_impersonations_.Refuse());
    CheckImpersonation(*std::move(*wanted), passage->api.user.name, parts_.authorizer,
                       impersonations_,
                       [this, passage, held](const absl::StatusOr<ImpersonationMode>& mode) {
                         Guard(passage, [&] { Impersonated(passage, mode); });
                       });
  }

  absl::StatusOr<std::optional<Impersonation>> WantedOf(const ApiRequest& api) const {
    // Most requests impersonate nobody, and need no attributes for it.
    if (!options_.constrained_impersonation || api.http.Header(kImpersonateUser).empty()) {
      return ImpersonationOf(api.http, api.user, nullptr);
    }
    const Attributes request = AttributesOf(api.user, api.info, api.http);
    return ImpersonationOf(api.http, api.user, &request);
  }

  RequestHeaderNames HeaderNames() const {
    return parts_.config ? parts_.config()->header_names() : RequestHeaderNames::Standard();
  }

  absl::Status AuthenticationError(const absl::Status& status) {
    if (absl::IsUnauthenticated(status)) {
      if (base::VlogOn(2)) base::LogInfo("request not authenticated", {{"error", status}});
      return server::Unauthorized();
    }
    if (absl::IsResourceExhausted(status)) return TooMany(status.message());
    const auto verdict =
        errors_.Note(base::KindOfMessage(status.message(), ""), parts_.clock.SteadyNow());
    if (verdict.log) {
      base::LogError("requests cannot be authenticated",
                     {{"error", status}, {"more", verdict.More()}});
    }
    return UnavailableForNow("the credentials cannot be reviewed at the moment");
  }

  void Impersonated(const PassagePtr& passage, const absl::StatusOr<ImpersonationMode>& mode) {
    if (absl::IsPermissionDenied(mode.status())) return passage->Refuse(mode.status());
    if (!mode.ok()) return passage->Refuse(AuthorizationError(mode.status()));
    passage->api.user = mode->user;
    passage->record->SetImpersonated(mode->user, mode->verb == kImpersonate ? "" : mode->verb);
    Admit(passage);
  }

  // Upstream's WithMaxInFlightLimit, with a share for each user.
  bool Count(Passage& passage) {
    // By now the user is the impersonated one.
    *passage.owner = ShareOwner(passage.api.user);
    const bool long_running = passage.length == RequestLength::kLongRunning;
    const bool mutating = IsMutating(passage.api.info);
    InFlight& others = mutating ? writes_ : reads_;
    InFlight::Place place = long_running
                                ? long_running_.Enter(*passage.owner, WeightOf(passage.api.http))
                                : others.Enter(*passage.owner);
    // Others of the same user are being executed: the share, not the server, may be full.
    if (place == nullptr) {
      const Refusals& refused_others = mutating ? refused_writes_ : refused_reads_;
      passage.Refuse((long_running ? refused_watches_ : refused_others).Refuse());
      return false;
    }
    if (long_running) {
      passage.responder->Hold(std::move(place));
    } else {
      // A client that reads slowly keeps nobody else from being answered.
      passage.responder->HoldUntilStream(std::move(place));
    }
    return true;
  }

  void Admit(const PassagePtr& passage) {
    if (!Count(*passage)) return;
    const Attributes attributes =
        AttributesOf(passage->api.user, passage->api.info, passage->api.http);
    parts_.authorizer.Authorize(
        attributes, [this, passage, attributes](const absl::StatusOr<Decision>& decision) {
          Guard(passage, [&] { Authorized(passage, attributes, decision); });
        });
  }

  void Authorized(const PassagePtr& passage, const Attributes& attributes,
                  const absl::StatusOr<Decision>& decision) {
    if (!decision.ok()) return passage->Refuse(AuthorizationError(decision.status()));
    passage->record->SetDecision(*decision);
    if (!decision->allowed) return passage->Refuse(ForbiddenError(attributes, decision->reason));
    // Handlers that never wait run at once, on the thread of the last review or of the server.
    if (!parts_.handler.MayBlock(passage->api)) return Handle(passage);
    const bool taken =
        pool_->Run(*passage->owner, [passage, this] { Guard(passage, [&] { Handle(passage); }); });
    if (!taken) passage->Refuse(refused_by_handlers_.Refuse());
  }

  void Handle(const PassagePtr& passage) {
    // It may have waited for a thread longer than its deadline allows.
    if (passage->api.deadline <= parts_.clock.SteadyNow()) {
      return passage->responder->Expire(server::ErrorAnswer(TimedOut()));
    }
    parts_.handler.Handle(std::move(passage->api), passage->responder);
  }

  const Options options_;
  const Parts parts_;
  InFlight reads_, writes_, long_running_;
  base::FairShare impersonating_{kMaxImpersonatingBytes};  // What waits for these rights.
  ImpersonationMemory impersonations_;
  InFlight active_{0};
  const Refusals refused_reads_, refused_writes_, refused_watches_, refused_by_handlers_,
      refused_impersonations_;
  base::RepeatedErrors errors_;
  mutable absl::Mutex mu_;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  // Shared with the responders of handlers that let go of them late.
  const std::shared_ptr<Sessions> sessions_ = std::make_shared<Sessions>();
  const std::shared_ptr<SentAnswers> sending_ =
      std::make_shared<SentAnswers>(options_.max_in_flight, parts_.clock);
  const std::shared_ptr<base::Timers> deadlines_;
  const std::shared_ptr<WorkPool> pool_;
};

HandlerChain::HandlerChain(Options options, Parts parts)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(parts))) {}

HandlerChain::~HandlerChain() = default;

base::HttpHandler HandlerChain::Handler() {
  return [this](base::HttpRequest request, std::shared_ptr<base::HttpResponder> responder) {
    impl_->Serve(std::move(request), responder);
  };
}

void HandlerChain::BeginDrain() { impl_->BeginDrain(); }

bool HandlerChain::AwaitIdle(absl::Duration patience, const base::StopToken& stop) {
  return impl_->AwaitIdle(patience, stop);
}

}  // namespace kube::aggregation
