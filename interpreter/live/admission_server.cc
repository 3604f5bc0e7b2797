#include "interpreter/live/admission_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "interpreter/check/admission_review.h"

namespace interpreter::live {
namespace {

constexpr char kPath[] = "/validate";
// A review of a script that takes as long as it may keeps one thread from answering others.
constexpr int kThreads = 2;
// Clients are not authenticated, so this times the size of a body is what they can make the process
// hold. Beyond it the connection that has waited longest is closed for a new one.
constexpr size_t kMaxConnections = 16;
// A review has the object twice, and API servers accept requests of up to 3 MiB.
constexpr size_t kMaxBodyBytes = 6 << 20;
// API servers wait no longer for an answer, unless a webhook configuration says so.
constexpr absl::Duration kRequestTimeout = absl::Seconds(10);

base::HttpResponse Text(int code, absl::string_view text) {
  return {code, "text/plain", {}, absl::StrCat(text, "\n")};
}

}  // namespace

absl::StatusOr<std::unique_ptr<AdmissionServer>> AdmissionServer::Start(
    const AdmissionOptions& options, Lister lister, metrics::Registry* registry) {
  base::HttpServerOptions http;
  http.address = options.address;
  http.tls = tls::ServerOptions{};
  http.certificate_files =
      base::HttpCertificateFiles{options.certificate_file, options.key_file, options.reload};
  http.threads = kThreads;
  http.max_connections = kMaxConnections;
  http.max_body_bytes = kMaxBodyBytes;
  http.request_timeout = kRequestTimeout;
  std::unique_ptr<AdmissionServer> admission(
      new AdmissionServer(std::move(lister), options.merge, registry));
  auto server = base::HttpServer::Start(
      std::move(http),
      [self = admission.get()](const base::HttpRequest& request,
                               const std::shared_ptr<base::HttpResponder>& responder) {
        responder->Send(self->Answer(request));
      });
  if (!server.ok()) {
    return base::Annotate(server.status(), "serving admission of interpreter configurations");
  }
  admission->server_ = *std::move(server);
  return admission;
}

base::HttpResponse AdmissionServer::Answer(const base::HttpRequest& request) const {
  if (request.path != kPath) return Text(404, absl::StrCat("only ", kPath, " is served"));
  if (request.method != "POST") return Text(405, "only POST is answered");
  const absl::StatusOr<json::Value> review = json::Parse(request.body);
  const absl::StatusOr<json::Value> answer =
      review.ok() ? check::ReviewAdmission(*review, lister_(), merge_)
                  : absl::StatusOr<json::Value>(review.status());
  if (!answer.ok()) {
    Count("invalid");
    return Text(400, answer.status().message());
  }
  Count((*answer)["response"]["allowed"].AsBool() ? "allowed" : "refused");
  return {200, "application/json", {}, json::Write(*answer)};
}

void AdmissionServer::Count(const char* result) const {
  if (registry_ == nullptr) return;
  registry_
      ->GetCounter("karmada_interpreter_admission_reviews_total",
                   "Reviews of interpreter configurations for admission, by result.",
                   {{"result", result}})
      .Increment();
}

}  // namespace interpreter::live
