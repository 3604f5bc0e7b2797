#include "lens/why/member_reader.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/threads.h"
#include "config/version.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"
#include "kube/http/http_transport.h"

namespace lens::why {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr size_t kAtOnce = 16;

// One member, and the ways to reach it.
struct Visit {
  std::string cluster;
  absl::StatusOr<kube::ConnectionConfig> direct;
  kube::ConnectionConfig proxy;
  MemberAnswer answer;
};

kube::ConnectionConfig ProxyTo(const kube::ConnectionConfig& control_plane,
                               const std::string& cluster) {
  kube::ConnectionConfig config = control_plane;
  absl::StrAppend(&config.server, "/apis/", api::Clusters().gvk.ApiVersion(), "/",
                  api::Clusters().plural, "/", cluster, "/proxy");
  return config;
}

MemberAnswer Ask(const kube::ConnectionConfig& config, const MemberQuestion& question,
                 const base::StopToken& stop) {
  auto transport = kube::NewHttpTransport(config);
  if (!transport.ok()) return {transport.status()};
  kube::ClientOptions options;
  options.timeout = kPatience;
  options.user_agent = config::UserAgent("karmada-lens");
  kube::Client client(*std::move(transport), std::move(options), base::RealClock(), nullptr);
  absl::StatusOr<kube::Object> object = client.Get(question.resource, question.key, stop);
  if (object.ok()) {
    return {absl::OkStatus(), WithOwners(client, question.resource, *std::move(object), stop)};
  }
  // The answer of a server that serves the kind, or does not.
  if (kube::IsGone(object.status()) || kube::IsNoSuchKind(object.status())) return {};
  return {object.status()};
}

void Make(Visit& visit, const MemberQuestion& question, const base::StopToken& stop) {
  visit.answer =
      visit.direct.ok() ? Ask(*visit.direct, question, stop) : MemberAnswer{visit.direct.status()};
  visit.answer.direct = visit.answer.status;
  if (visit.answer.status.ok()) return;
  MemberAnswer by_proxy = Ask(visit.proxy, question, stop);
  // A control plane without the aggregated API server knows no such path, which looks like an
  // object that is not there.
  if (!by_proxy.status.ok() || by_proxy.object == nullptr) return;
  by_proxy.direct = visit.answer.direct;
  visit.answer = std::move(by_proxy);
}

}  // namespace

kube::ObjectPtr WithOwners(kube::Client& client, const kube::Resource& resource,
                           kube::Object object, const base::StopToken& stop) {
  absl::StatusOr<json::Value> owners = client.GetManagedFields(resource, object.key(), stop);
  if (owners.ok() && !owners->is_null()) {
    object.Set({"metadata", "managedFields"}, *std::move(owners));
  }
  return kube::Share(std::move(object));
}

std::map<std::string, MemberAnswer> AskMembers(const MemberQuestion& question,
                                               const kube::ConnectionConfig& control_plane,
                                               const members::SecretLookup& secrets,
                                               const base::StopToken& stop) {
  std::vector<Visit> visits;
  for (const kube::ObjectPtr& cluster : question.clusters) {
    const std::string name(cluster->name());
    visits.push_back(
        {name, members::ConnectionOf(*cluster, secrets), ProxyTo(control_plane, name), {}});
  }
  for (size_t begin = 0; begin < visits.size(); begin += kAtOnce) {
    std::vector<std::thread> threads;
    for (size_t i = begin; i < std::min(visits.size(), begin + kAtOnce); ++i) {
      const auto make = [&, i] { Make(visits[i], question, stop); };
      absl::StatusOr<std::thread> thread = base::TryStartThread(make);
      if (thread.ok()) {
        threads.push_back(*std::move(thread));
      } else {
        make();  // It takes longer then.
      }
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::map<std::string, MemberAnswer> answers;
  for (Visit& visit : visits) answers[visit.cluster] = std::move(visit.answer);
  return answers;
}

}  // namespace lens::why
