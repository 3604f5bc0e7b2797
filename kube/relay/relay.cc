// A relay has two sides: the client, whose exchange lives on a strand of the server, and the
// forwarded request, on the event loop. Each block is written to the other side, which reports when
// there is room for the next; only then it is asked for. The client's handle and the forward's are
// known by callbacks of the other side; the cycle ends with the forward, whose callbacks are then
// destroyed, and with the client's connection, which cancels the forward.
//
// A short answer of known length is collected and sent in one piece; what breaks before anything
// has been passed on becomes an answer of its own. Everything else is passed on as it arrives.
//
// A stop may come on any thread and at any time. So who answers first (Claim) is the only one who
// does, and what has begun is noted where a stop finds it (Note).

#include "kube/relay/relay.h"

#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace kube {
namespace {

// An answer up to this length is sent whole.
constexpr uint64_t kShortAnswer = 32 << 10;

// All functions but the constructor, EndOn and Stop run on the forwards' thread.
class Relayed : public std::enable_shared_from_this<Relayed> {
 public:
  Relayed(std::shared_ptr<base::HttpResponder> responder, RelayOptions options, bool upgrade)
      : responder_(std::move(responder)),
        on_error_(std::move(options.on_error)),
        on_forbidden_(std::move(options.on_forbidden)),
        own_credentials_(options.own_credentials),
        wants_upgrade_(upgrade) {}

  ForwardCallbacks Callbacks() {
    const auto self = shared_from_this();
    return {.on_head = [self](const ForwardStreamPtr& stream,
                              ForwardHead head) { self->OnHead(stream, std::move(head)); },
            .on_data = [self](const ForwardStreamPtr& stream,
                              std::string bytes) { self->OnData(stream, std::move(bytes)); },
            .on_end = [self](const absl::Status& status) { self->OnEnd(status); }};
  }
  // REQUIRES: is called once.
  void EndOn(const base::StopToken& stop, ForwardStreamPtr stream) {
    if (!stop.stop_possible()) return;
    on_stop_.emplace(stop, [weak = weak_from_this(), stream = std::move(stream)] {
      // If the forward ends meanwhile, `self` is the last reference, and this function with what it
      // has captured ends together with it.
      const ForwardStreamPtr kept = stream;
      const auto self = weak.lock();
      if (self != nullptr) self->Stop();
      kept->Cancel();
    });
  }

 private:
  // Returns true once: the caller answers, and nobody else does.
  bool Claim() { return !claimed_.exchange(true); }
  void Stop();
  // Lets Stop find the side of the client. Returns false when there has been a stop.
  bool Note(const std::shared_ptr<base::HttpStream>& body,
            const std::shared_ptr<base::HttpTunnel>& tunnel);
  // Answers in place of the server, and ends the request.
  void Refuse(const ForwardStreamPtr& stream, const absl::Status& why);
  void OnHead(const ForwardStreamPtr& stream, ForwardHead head);
  void OnData(const ForwardStreamPtr& stream, std::string bytes);
  void OnEnd(const absl::Status& status);
  void StartBody(const ForwardStreamPtr& stream, base::HttpResponse head);
  void SendShort();
  void StartTunnel(const ForwardStreamPtr& stream);
  // Asks for the next block once the client has taken enough.
  template <class Client>
  void ReadWhenRoom(const std::shared_ptr<Client>& client, const ForwardStreamPtr& stream);

  const std::shared_ptr<base::HttpResponder> responder_;
  const std::function<base::HttpResponse(const absl::Status&)> on_error_;
  std::function<bool(absl::string_view)> on_forbidden_;  // Null once it is not a 403.
  const bool own_credentials_;
  const bool wants_upgrade_;
  base::HttpResponse answer_;  // What has been read of a short answer.
  bool over_ = false;
  // At most one of them is set.
  std::shared_ptr<base::HttpStream> body_;
  std::shared_ptr<base::HttpTunnel> tunnel_;

  std::atomic<bool> claimed_ = false;
  absl::Mutex mu_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  bool has_length_ ABSL_GUARDED_BY(mu_) = false;
  std::weak_ptr<base::HttpStream> open_body_ ABSL_GUARDED_BY(mu_);
  std::weak_ptr<base::HttpTunnel> open_tunnel_ ABSL_GUARDED_BY(mu_);
  // Last, so that it is gone before anything that it needs.
  std::optional<base::StopCallback<std::function<void()>>> on_stop_;
};

base::HttpResponse ResponseOf(ForwardHead head) {
  base::HttpResponse response{.code = head.code, .content_type = ""};
  response.headers = std::move(head.headers);
  response.stream_length = head.content_length;
  return response;
}

void Relayed::OnHead(const ForwardStreamPtr& stream, ForwardHead head) {
  // It may keep the request with its body.
  if (head.code != 403) on_forbidden_ = nullptr;
  if (wants_upgrade_ && !head.upgraded && head.code < 400) {
    return Refuse(stream, absl::InternalError(
                              absl::StrCat("invalid upgrade response: status code ", head.code)));
  }
  if (own_credentials_ && head.code == 401) {
    return Refuse(stream, absl::PermissionDeniedError("it did not accept the credentials"));
  }
  const bool upgraded = head.upgraded;
  const bool is_short = head.content_length.value_or(kShortAnswer + 1) <= kShortAnswer ||
                        (head.code == 403 && on_forbidden_);
  base::HttpResponse response = ResponseOf(std::move(head));
  if (upgraded) {
    if (!Claim()) return stream->Cancel();
    tunnel_ = responder_->Upgrade(std::move(response));
    return StartTunnel(stream);
  }
  if (is_short) {
    answer_ = std::move(response);
  } else {
    StartBody(stream, std::move(response));
  }
  if (!over_) stream->Read();
}

void Relayed::Refuse(const ForwardStreamPtr& stream, const absl::Status& why) {
  over_ = true;
  if (Claim()) responder_->Send(on_error_(why));
  stream->Cancel();
}

void Relayed::Stop() {
  if (Claim()) return responder_->Send(on_error_(absl::CancelledError("the service ends")));
  std::shared_ptr<base::HttpStream> body;
  std::shared_ptr<base::HttpTunnel> tunnel;
  bool has_length = false;
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    has_length = has_length_;
    body = open_body_.lock();
    tunnel = open_tunnel_.lock();
  }
  if (tunnel != nullptr) tunnel->EndWriting();
  if (body != nullptr) has_length ? body->Abort() : body->Close();
}

bool Relayed::Note(const std::shared_ptr<base::HttpStream>& body,
                   const std::shared_ptr<base::HttpTunnel>& tunnel) {
  absl::MutexLock lock(&mu_);
  open_body_ = body;
  open_tunnel_ = tunnel;
  return !stopped_;
}

void Relayed::StartBody(const ForwardStreamPtr& stream, base::HttpResponse head) {
  over_ = !Claim();
  if (over_) return stream->Cancel();
  {
    absl::MutexLock lock(&mu_);
    has_length_ = head.stream_length.has_value();
  }
  body_ = responder_->StartStream(std::move(head));
  body_->OnClosed([stream] { stream->Cancel(); });
  // The forward has been cancelled; without a handle the body ends.
  if (!Note(body_, nullptr)) body_->Abort();
}

// The callbacks do not keep the tunnel, whose last handle closes it.
void Relayed::StartTunnel(const ForwardStreamPtr& stream) {
  if (tunnel_ == nullptr) return stream->Cancel();
  if (!Note(nullptr, tunnel_)) return tunnel_->Abort();
  const std::weak_ptr<base::HttpTunnel> weak = tunnel_;
  const auto read = [weak] {
    if (const auto tunnel = weak.lock()) tunnel->Read();
  };
  tunnel_->Start({.on_data =
                      [weak, read, stream](std::string bytes) {
                        if (stream->Write(std::move(bytes))) return stream->OnRoom(read);
                        if (const auto tunnel = weak.lock()) tunnel->Abort();
                      },
                  .on_end = [stream] { stream->EndWriting(); },
                  .on_closed = [stream] { stream->Cancel(); }});
  tunnel_->Read();
  stream->Read();
}

template <class Client>
void Relayed::ReadWhenRoom(const std::shared_ptr<Client>& client, const ForwardStreamPtr& stream) {
  if (client->HasRoom()) return stream->Read();
  client->OnRoom([stream] { stream->Read(); });
}

void Relayed::OnData(const ForwardStreamPtr& stream, std::string bytes) {
  if (over_) return;
  if (body_ == nullptr && tunnel_ == nullptr) {
    answer_.body += bytes;
    if (answer_.body.size() > kShortAnswer) StartBody(stream, std::move(answer_));
    if (over_) return;
    return stream->Read();
  }
  const bool written =
      tunnel_ != nullptr ? tunnel_->Write(std::move(bytes)) : body_->Write(std::move(bytes));
  if (!written) return stream->Cancel();
  tunnel_ != nullptr ? ReadWhenRoom(tunnel_, stream) : ReadWhenRoom(body_, stream);
}

void Relayed::OnEnd(const absl::Status& status) {
  if (std::exchange(over_, true)) return;
  if (tunnel_ != nullptr) {
    status.ok() ? tunnel_->EndWriting() : tunnel_->Abort();
    tunnel_ = nullptr;
  } else if (body_ != nullptr) {
    status.ok() ? body_->Close() : body_->Abort();
    body_ = nullptr;
  } else if (Claim()) {
    if (status.ok()) return SendShort();
    responder_->Send(on_error_(status));
  }
}

void Relayed::SendShort() {
  if (answer_.code == 403 && on_forbidden_ && on_forbidden_(answer_.body)) return;
  if (!answer_.body.empty()) return responder_->Send(std::move(answer_));
  // The length may be that of a body which the client did not ask for.
  responder_->StartStream(std::move(answer_))->Close();
}

// Returns "10.0.0.1" of "10.0.0.1:443", and "::1" of "[::1]:443".
absl::string_view WithoutPort(absl::string_view address) {
  address = address.substr(0, address.rfind(':'));
  if (!absl::StartsWith(address, "[")) return address;
  return address.substr(1, address.size() - 2);
}

void SetHeader(HeaderFields& fields, const std::string& name, std::string value) {
  RemoveHeader(fields, name);
  if (!value.empty()) fields.emplace_back(name, std::move(value));
}

void AddForwarded(const base::HttpRequest& request, HeaderFields& fields) {
  const absl::string_view before = request.Header("x-forwarded-for");
  SetHeader(fields, "X-Forwarded-For",
            absl::StrCat(before, before.empty() ? "" : ", ", WithoutPort(request.remote_address)));
  SetHeader(fields, "X-Forwarded-Host", std::string(request.Header("host")));
  SetHeader(fields, "X-Forwarded-Proto", request.secure ? "https" : "http");
  const absl::string_view target = request.target;
  SetHeader(fields, "X-Forwarded-Uri", std::string(target.substr(0, target.find('?'))));
}

// Returns whether a header says who the client is, or wants to be. Whoever relays a request has
// determined that already, and the server would believe it.
bool IsIdentity(absl::string_view name) {
  return absl::EqualsIgnoreCase(name, "authorization") ||
         absl::StartsWithIgnoreCase(name, "impersonate-") ||
         absl::StartsWithIgnoreCase(name, "x-remote-");
}

// What API servers change to. Behind anything else (h2c) further requests could hide.
bool IsSession(absl::string_view protocol) {
  return absl::EqualsIgnoreCase(protocol, "websocket") ||
         absl::EqualsIgnoreCase(protocol, "SPDY/3.1");
}

HeaderFields HeadersFor(const base::HttpRequest& request, const RelayOptions& options) {
  HeaderFields fields;
  for (auto& field : EndToEndHeaders(request.fields)) {
    if (!IsIdentity(field.first)) fields.push_back(std::move(field));
  }
  for (const auto& [name, value] : options.set_headers) RemoveHeader(fields, name);
  AddForwarded(request, fields);
  fields.insert(fields.end(), options.set_headers.begin(), options.set_headers.end());
  return fields;
}

}  // namespace

void Relay(const base::HttpRequest& request, std::shared_ptr<base::HttpResponder> responder,
           Forwarder& forwarder, RelayOptions options) {
  const absl::string_view protocol = request.UpgradeProtocol();
  ForwardRequest forward{.method = request.method,
                         .path = options.path,
                         .headers = HeadersFor(request, options),
                         .body = request.body,
                         .body_share = request.body_share,
                         .upgrade = std::string(IsSession(protocol) ? protocol : ""),
                         .connect_timeout = options.connect_timeout,
                         .head_timeout = options.head_timeout};
  const bool upgrade = !forward.upgrade.empty();
  const base::StopToken stop = options.stop;
  const auto relayed = std::make_shared<Relayed>(responder, std::move(options), upgrade);
  const ForwardStreamPtr stream = forwarder.Forward(std::move(forward), relayed->Callbacks());
  responder->OnClosed([stream] { stream->Cancel(); });
  relayed->EndOn(stop, stream);
}

}  // namespace kube
