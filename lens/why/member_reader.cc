// Each member is asked on a thread of its own, a few at the same time: first with the credentials
// of its Cluster, then through the control plane's proxy, whose answer counts only if it has
// something. What could not be asked is in the answer, so that nothing is lost. No state.

#include "lens/why/member_reader.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/threads.h"
#include "config/version.h"
#include "kube/client/client.h"
#include "kube/client/errors.h"
#include "kube/http/http_transport.h"
#include "lens/why/pods.h"

namespace lens::why {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr size_t kAtOnce = 16;

// The ways to reach a member.
struct Ways {
  absl::StatusOr<kube::ConnectionConfig> direct;
  kube::ConnectionConfig proxy;
};

Ways WaysTo(const kube::Object& cluster, const kube::ConnectionConfig& control_plane,
            const members::SecretLookup& secrets) {
  Ways ways{members::ConnectionOf(cluster, secrets), control_plane};
  absl::StrAppend(&ways.proxy.server, "/apis/", api::Clusters().gvk.ApiVersion(), "/",
                  api::Clusters().plural, "/", cluster.name(), "/proxy");
  return ways;
}

absl::StatusOr<std::unique_ptr<kube::Client>> ClientFor(const kube::ConnectionConfig& config) {
  ASSIGN_OR_RETURN(auto transport, kube::NewHttpTransport(config));
  kube::ClientOptions options;
  options.timeout = kPatience;
  options.user_agent = config::UserAgent("karmada-lens");
  return std::make_unique<kube::Client>(std::move(transport), std::move(options), base::RealClock(),
                                        nullptr);
}

MemberAnswer Ask(const kube::ConnectionConfig& config, const MemberQuestion& question,
                 const base::StopToken& stop) {
  const auto client = ClientFor(config);
  if (!client.ok()) return {client.status()};
  absl::StatusOr<kube::Object> object = (*client)->Get(question.resource, question.key, stop);
  if (object.ok()) {
    return {absl::OkStatus(), WithOwners(**client, question.resource, *std::move(object), stop)};
  }
  // The answer of a server that serves the kind, or does not.
  if (kube::IsGone(object.status()) || kube::IsNoSuchKind(object.status())) return {};
  return {object.status()};
}

MemberAnswer AskEitherWay(const Ways& ways, const MemberQuestion& question,
                          const base::StopToken& stop) {
  MemberAnswer answer =
      ways.direct.ok() ? Ask(*ways.direct, question, stop) : MemberAnswer{ways.direct.status()};
  answer.direct = answer.status;
  if (answer.status.ok()) return answer;
  MemberAnswer by_proxy = Ask(ways.proxy, question, stop);
  // A control plane without the aggregated API server knows no such path, which looks like an
  // object that is not there.
  if (!by_proxy.status.ok() || by_proxy.object == nullptr) return answer;
  by_proxy.direct = answer.direct;
  return by_proxy;
}

MemberPods ListPods(const kube::ConnectionConfig& config, const PodQuestion& question,
                    const base::StopToken& stop) {
  const auto client = ClientFor(config);
  if (!client.ok()) return {client.status()};
  kube::ListOptions options;
  options.label_selector = question.selector;
  options.limit = kMostPods;
  absl::StatusOr<kube::ListPage> page = (*client)->List(api::Pods(), question.ns, options, stop);
  if (!page.ok()) return {page.status()};
  MemberPods answer;
  for (kube::Object& pod : page->items) answer.pods.push_back(kube::Share(std::move(pod)));
  answer.has_more = !page->continue_token.empty();
  return answer;
}

// Calls `ask` for 0 to count - 1, several at the same time.
void ForEachAtOnce(size_t count, absl::FunctionRef<void(size_t)> ask) {
  for (size_t begin = 0; begin < count; begin += kAtOnce) {
    std::vector<std::thread> threads;
    for (size_t i = begin; i < std::min(count, begin + kAtOnce); ++i) {
      const auto make = [&, i] { ask(i); };
      absl::StatusOr<std::thread> thread = base::TryStartThread(make);
      if (thread.ok()) {
        threads.push_back(*std::move(thread));
      } else {
        make();  // It takes longer then.
      }
    }
    for (std::thread& thread : threads) thread.join();
  }
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
  std::vector<Ways> ways;
  for (const kube::ObjectPtr& cluster : question.clusters) {
    ways.push_back(WaysTo(*cluster, control_plane, secrets));
  }
  std::vector<MemberAnswer> said(ways.size());
  ForEachAtOnce(ways.size(), [&](size_t i) { said[i] = AskEitherWay(ways[i], question, stop); });
  std::map<std::string, MemberAnswer> answers;
  for (size_t i = 0; i < said.size(); ++i) {
    answers[std::string(question.clusters[i]->name())] = std::move(said[i]);
  }
  return answers;
}

std::map<std::string, MemberPods> AskMembersForPods(const std::vector<PodQuestion>& questions,
                                                    const kube::ConnectionConfig& control_plane,
                                                    const members::SecretLookup& secrets,
                                                    const base::StopToken& stop) {
  std::vector<Ways> ways;
  for (const PodQuestion& question : questions) {
    ways.push_back(WaysTo(*question.cluster, control_plane, secrets));
  }
  std::vector<MemberPods> said(ways.size());
  ForEachAtOnce(ways.size(), [&](size_t i) {
    said[i] = ways[i].direct.ok() ? ListPods(*ways[i].direct, questions[i], stop)
                                  : MemberPods{ways[i].direct.status()};
    if (said[i].status.ok()) return;
    MemberPods by_proxy = ListPods(ways[i].proxy, questions[i], stop);
    if (by_proxy.status.ok()) said[i] = std::move(by_proxy);
  });
  std::map<std::string, MemberPods> answers;
  for (size_t i = 0; i < said.size(); ++i) {
    answers[std::string(questions[i].cluster->name())] = std::move(said[i]);
  }
  return answers;
}

}  // namespace lens::why
