#include "tests/support/metrics_server.h"

#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "base/tls.h"
#include "sandbox/delegation.h"

namespace tests {
namespace {

const kube::Gvk kApiService{"apiregistration.k8s.io", "v1", "APIService"};

struct Api {
  const char* group;
  const char* version;
};
constexpr Api kApis[] = {{"metrics.k8s.io", "v1beta1"},
                         {"custom.metrics.k8s.io", "v1beta2"},
                         {"external.metrics.k8s.io", "v1beta1"}};

kube::ObjectKey NameOf(const Api& api) { return {"", absl::StrCat(api.version, ".", api.group)}; }

std::string Now() { return kube::FormatTime(absl::Now()); }

base::HttpResponse AnswerOf(int code, const json::Value& body) {
  base::HttpResponse response;
  response.code = code;
  response.body = json::Write(body);
  return response;
}

base::HttpResponse NotFound(const std::vector<std::string>& path) {
  return AnswerOf(
      404,
      json::Value::Object({{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"status", "Failure"},
                           {"code", 404},
                           {"reason", "NotFound"},
                           {"message", absl::StrCat("no metrics at ", absl::StrJoin(path, "/"))}}));
}

json::Value ListOf(json::Value items) {
  return json::Value::Object({{"kind", "List"},
                              {"apiVersion", "v1"},
                              {"metadata", json::Value::Object()},
                              {"items", std::move(items)}});
}

json::Value ValueOf(const std::string& object, const std::string& value) {
  json::Value item = json::Value::Object({{"value", value}, {"timestamp", Now()}});
  item.Set({"describedObject", "name"}, object);
  return item;
}

}  // namespace

MetricsServer::MetricsServer(ControlPlane& plane) : plane_(plane) {
  const base::HttpHandler handler = [this](base::HttpRequest request,
                                           std::shared_ptr<base::HttpResponder> responder) {
    Handle(request, *responder);
  };
  if (plane_.fleet() != nullptr) {
    for (const Api& api : kApis) {
      sandbox::Delegate(plane_.fleet()->control_plane(), absl::StrCat("/apis/", api.group, "/"),
                        handler);
    }
    return;
  }
  auto authority = tls::CertificateAuthority::Create("metrics");
  REQUIRE(authority.ok());
  auto pair = (*authority)->Issue({.common_name = "metrics", .dns_names = {"localhost"}});
  REQUIRE(pair.ok());
  base::HttpServerOptions options;
  options.tls.emplace();
  options.tls->server = *std::move(pair);
  auto started = base::HttpServer::Start(std::move(options), handler);
  REQUIRE(started.ok());
  http_ = *std::move(started);
  Register();
}

MetricsServer::~MetricsServer() {
  if (plane_.fleet() != nullptr) {
    for (const Api& api : kApis) {
      sandbox::Delegate(plane_.fleet()->control_plane(), absl::StrCat("/apis/", api.group, "/"),
                        [](base::HttpRequest, std::shared_ptr<base::HttpResponder> responder) {
                          responder->Send(NotFound({}));
                        });
    }
    return;
  }
  for (size_t i = 0; i < before_.size(); ++i) {
    plane_.Delete("host", kApiService, NameOf(kApis[i]));
    if (!before_[i].has_value()) continue;
    kube::Object earlier = kube::Object::Make(kApiService, NameOf(kApis[i]));
    earlier.Set({"spec"}, before_[i]->spec());
    plane_.Eventually([&] { return plane_.TryApply("host", earlier).ok(); });
  }
  http_->Stop();
}

void MetricsServer::Register() {
  constexpr char kService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: test-metrics, namespace: karmada-system}
spec: {type: ExternalName, externalName: localhost}
)";
  constexpr char kRegistration[] = R"(
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: $0.$1}
spec:
  group: $1
  version: $0
  insecureSkipTLSVerify: true
  caBundle: null
  groupPriorityMinimum: 100
  versionPriority: 10
  service: {name: test-metrics, namespace: karmada-system, port: $2}
)";
  plane_.Apply("host", kService);
  for (const Api& api : kApis) {
    before_.push_back(plane_.Get("host", kApiService, NameOf(api)));
    plane_.Apply("host", absl::Substitute(kRegistration, api.version, api.group, http_->port()));
  }
  for (const Api& api : kApis) {
    const std::string path = absl::StrCat("/apis/", api.group, "/", api.version);
    REQUIRE(plane_.Eventually([&] {
      const auto answer = plane_.client("host").GetRaw(path, absl::Seconds(5), {});
      return answer.ok() && answer->code == 200;
    }));
  }
}

void MetricsServer::SetCpu(const std::string& ns, const std::vector<PodUse>& pods) {
  absl::MutexLock lock(&mu_);
  cpu_[ns] = pods;
}

void MetricsServer::SetCustom(const std::string& ns, const std::string& object,
                              const std::string& metric, const std::string& value) {
  absl::MutexLock lock(&mu_);
  custom_[absl::StrCat(ns, "/", object, "/", metric)] = value;
}

void MetricsServer::SetExternal(const std::string& ns, const std::string& metric,
                                const std::string& value) {
  absl::MutexLock lock(&mu_);
  external_[absl::StrCat(ns, "/", metric)] = value;
}

void MetricsServer::Handle(const base::HttpRequest& request, base::HttpResponder& responder) {
  // {"apis", group, version, "namespaces", ns, ...}
  const std::vector<std::string> path = absl::StrSplit(request.path, '/', absl::SkipEmpty());
  responder.Send(AnswerTo(path));
}

base::HttpResponse MetricsServer::AnswerTo(const std::vector<std::string>& path) {
  if (path.size() == 3) {
    return AnswerOf(200, json::Value::Object({{"kind", "APIResourceList"},
                                              {"apiVersion", "v1"},
                                              {"groupVersion", absl::StrCat(path[1], "/", path[2])},
                                              {"resources", json::Value::Array()}}));
  }
  if (path.size() < 6) return NotFound(path);
  absl::MutexLock lock(&mu_);
  if (path[1] == "metrics.k8s.io") return AnswerOf(200, PodMetrics(path[4]));
  if (path[1] == "external.metrics.k8s.io") {
    const auto found = external_.find(absl::StrCat(path[4], "/", path[5]));
    if (found == external_.end()) return NotFound(path);
    return AnswerOf(200, ListOf(json::Value::Array({ValueOf("", found->second)})));
  }
  const std::optional<json::Value> custom = CustomMetrics(path);
  return custom.has_value() ? AnswerOf(200, *custom) : NotFound(path);
}

json::Value MetricsServer::PodMetrics(const std::string& ns) {
  json::Value items = json::Value::Array();
  for (const PodUse& use : cpu_[ns]) {
    kube::Object pod =
        kube::Object::Make({"metrics.k8s.io", "v1beta1", "PodMetrics"}, {ns, use.pod});
    pod.SetAnnotation("resource.karmada.io/query-from-cluster", use.cluster);
    pod.Set({"timestamp"}, Now());
    pod.Set({"window"}, "1s");
    json::Value container = json::Value::Object({{"name", "main"}});
    container.Set({"usage", "cpu"}, absl::StrCat(use.cpu_milli, "m"));
    pod.Set({"containers"}, json::Value::Array({container}));
    items.Append(pod.root());
  }
  return ListOf(std::move(items));
}

std::optional<json::Value> MetricsServer::CustomMetrics(const std::vector<std::string>& path) {
  if (path.size() != 8) return std::nullopt;
  const auto found = custom_.find(absl::StrCat(path[4], "/", path[5], "/", path[6], "/", path[7]));
  if (found == custom_.end()) return std::nullopt;
  json::Value items = json::Value::Array();
  if (path[6] != "*") {
    items.Append(ValueOf(path[6], found->second));
  } else {
    for (const PodUse& use : cpu_[path[4]]) items.Append(ValueOf(use.pod, found->second));
  }
  return ListOf(std::move(items));
}

}  // namespace tests
