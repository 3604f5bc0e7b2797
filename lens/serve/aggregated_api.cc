// A request passes the chain of kube/aggregation: who asks, whether they may, and the removal of
// what says so. Then it is answered here if it asks for discovery or OpenAPI, and handed to the
// page, with the rest of its path, if it is below the page's path. What waits for the control plane
// at the end is dropped.

#include "lens/serve/aggregated_api.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/lens_keys.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/status.h"
#include "config/version.h"
#include "kube/aggregation/delegation.h"
#include "kube/aggregation/endpoints.h"
#include "kube/aggregation/handler_chain.h"
#include "kube/aggregation/health.h"
#include "kube/http/exchangeable_transport.h"
#include "kube/http/http_transport.h"
#include "kube/server/api_documents.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"
#include "lens/serve/shown.h"

namespace lens::serve {
namespace {

namespace agg = kube::aggregation;

// The page's links are relative to an address that ends with a slash. A redirection to it would be
// refused by the API server, which passes none on.
constexpr char kToTheSlash[] =
    "<!doctype html><meta charset=\"utf-8\"><title>Karmada fleet</title>"
    "<meta http-equiv=\"refresh\" content=\"0; url=proxy/\"><a href=\"proxy/\">The page</a>";

kube::server::ServedResources Resources() {
  const kube::Gvk gvk{api::kLensGroup, api::kLensVersion, "Page"};
  kube::server::ServedResource pages = kube::server::ConnectingResource(gvk, "pages", {"get"});
  pages.singular = "page";
  pages.subresources = {{"proxy", gvk, {"get"}}};
  return {std::move(pages)};
}

kube::server::OpenApiContents Contents() {
  kube::server::OpenApiContents contents;
  contents.title = "karmada-lens";
  contents.version = config::Version();
  return contents;
}

class Router : public agg::ApiHandler {
 public:
  explicit Router(AggregatedApi::PageFn page) : page_(std::move(page)) {}

  bool MayBlock(const agg::ApiRequest&) const override { return false; }

  void Handle(agg::ApiRequest request, std::shared_ptr<base::HttpResponder> responder) override {
    if (auto answer = documents_.Answer(request.http)) {
      return responder->Send(*std::move(answer));
    }
    // Both have to agree: the path, which is answered, and its meaning, which was authorized.
    absl::string_view path = request.http.path;
    const bool is_page = absl::ConsumePrefix(&path, api::kLensPagePath) &&
                         request.info.gvr.group == api::kLensGroup &&
                         request.info.gvr.resource == "pages" &&
                         request.info.subresource == "proxy" && request.info.key.name == "fleet";
    if (is_page && path.empty()) {
      return responder->Send(Answer(200, "text/html; charset=utf-8", kToTheSlash));
    }
    if (!is_page || path.front() != '/') {
      return responder->Send(kube::server::ErrorAnswer(kube::server::NoSuchResource()));
    }
    request.http.path = std::string(path);
    page_(std::move(request.http), request.user, std::move(responder));
  }

 private:
  const AggregatedApi::PageFn page_;
  const kube::server::ApiDocuments documents_{Resources(), Contents()};
};

class AggregatedApiImpl : public AggregatedApi {
 public:
  AggregatedApiImpl(std::shared_ptr<kube::ExchangeableTransport> transport,
                    std::unique_ptr<metrics::Registry> registry,
                    std::unique_ptr<agg::Delegation> delegation, PageFn page)
      : transport_(std::move(transport)),
        registry_(std::move(registry)),
        delegation_(std::move(delegation)),
        router_(std::move(page)),
        chain_({}, {.authenticator = delegation_->authenticator(),
                    .authorizer = delegation_->authorizer(),
                    .handler = endpoints_,
                    .config = delegation_->ConfigFn(),
                    .registry = registry_.get(),
                    .clock = base::RealClock()}) {}

  base::HttpHandler Handler() override { return chain_.Handler(); }
  void Use(const kube::ConnectionConfig& plane) override {
    auto next = kube::NewHttpTransport(plane);
    if (next.ok()) transport_->Use(*std::move(next));
  }
  void Stop() override { delegation_->Stop(); }

 private:
  const std::shared_ptr<kube::ExchangeableTransport> transport_;
  const std::unique_ptr<metrics::Registry> registry_;
  const std::unique_ptr<agg::Delegation> delegation_;
  Router router_;
  agg::HealthEndpoints health_;
  agg::Endpoints endpoints_{health_, *registry_,
                            json::Value::Object({{"gitVersion", config::Version()}}), router_};
  agg::HandlerChain chain_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AggregatedApi>> AggregatedApi::Create(
    const kube::ConnectionConfig& plane, PageFn page) {
  ASSIGN_OR_RETURN(std::shared_ptr<kube::Transport> first, kube::NewHttpTransport(plane));
  auto transport = std::make_shared<kube::ExchangeableTransport>(std::move(first));
  auto registry = std::make_unique<metrics::Registry>();
  agg::Delegation::Options options;
  options.lookup.name = kube::WithoutUserInfo(plane.server);
  options.lookup.user_agent = config::UserAgent("karmada-lens");
  ASSIGN_OR_RETURN(
      std::unique_ptr<agg::Delegation> delegation,
      agg::Delegation::Start(options, {transport, transport, base::RealClock(), *registry}, {}));
  return std::make_unique<AggregatedApiImpl>(std::move(transport), std::move(registry),
                                             std::move(delegation), std::move(page));
}

}  // namespace lens::serve
