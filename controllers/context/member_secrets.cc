#include "controllers/context/member_secrets.h"

#include <memory>
#include <string>
#include <vector>

#include "api/cluster.h"
#include "api/resources.h"

namespace controllers {
namespace {

constexpr char kBySecret[] = "spec.secretRef";

std::vector<std::string> SecretOf(const kube::Object& cluster) {
  const kube::ObjectKey secret = api::ClusterView(cluster).SecretRef();
  return secret.name.empty() ? std::vector<std::string>()
                             : std::vector<std::string>{secret.ToString()};
}

}  // namespace

kube::ControllerBuilder& WatchesMemberSecrets(kube::ControllerBuilder& builder,
                                              const Context& context) {
  const kube::MapFn clusters_of =
      [clusters = context.InformerOf(api::Clusters())](const kube::Object& secret) {
        std::vector<kube::Request> requests;
        for (const kube::ObjectPtr& cluster :
             clusters->store().ByIndex(kBySecret, secret.key().ToString())) {
          requests.push_back({.key = cluster->key()});
        }
        return requests;
      };
  return builder.Reads(api::Clusters(), kBySecret, SecretOf)
      .Watches(api::Secrets(),
               {.when = {.update = kube::ResourceVersionChanged}, .map = clusters_of});
}

}  // namespace controllers
