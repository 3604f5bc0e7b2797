// Cluster (cluster.karmada.io/v1alpha1): a member cluster as the control plane knows it.
#ifndef API_CLUSTER_H_
#define API_CLUSTER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// An item of spec.taints.
struct Taint {
  std::string key, value, effect;
  std::string time_added;  // RFC 3339; "" when unknown.

  static Taint FromJson(const json::Value& item);
  json::Value ToJson() const;
  // Taints are distinguished by key and effect.
  bool IsSame(const Taint& other) const { return key == other.key && effect == other.effect; }
};
inline constexpr char kNoSchedule[] = "NoSchedule";
inline constexpr char kNoExecute[] = "NoExecute";

// Reads one Cluster. The object must outlive the view and stay unchanged.
class ClusterView {
 public:
  explicit ClusterView(const kube::Object& object) : object_(object) {}
  explicit ClusterView(kube::Object&&) = delete;

  const kube::Object& object() const { return object_; }
  absl::string_view name() const { return object_.name(); }

  // Returns whether this process talks to the member itself; otherwise an agent in the member does.
  bool IsPush() const { return spec()["syncMode"].AsString() == "Push"; }
  bool IsPull() const { return spec()["syncMode"].AsString() == "Pull"; }
  absl::string_view ApiEndpoint() const { return spec()["apiEndpoint"].AsString(); }
  // Returns the secret with the member's token and caBundle; its name is "" when there is none.
  kube::ObjectKey SecretRef() const;
  // Returns the secret with the token of the member's ServiceAccount karmada-impersonator, by which
  // the aggregated API server passes on requests of users; its name is "" when there is none.
  kube::ObjectKey ImpersonatorSecretRef() const;
  bool InsecureSkipTlsVerification() const {
    return spec()["insecureSkipTLSVerification"].AsBool();
  }
  absl::string_view ProxyUrl() const { return spec()["proxyURL"].AsString(); }
  // Maps header names to their comma-separated values.
  std::map<std::string, std::string> ProxyHeader() const;
  absl::string_view Provider() const { return spec()["provider"].AsString(); }
  absl::string_view Region() const { return spec()["region"].AsString(); }
  // Returns spec.zones, or the older spec.zone when there are none.
  std::vector<std::string> Zones() const;
  std::vector<Taint> Taints() const;

  const json::Value& Conditions() const { return object_.status()["conditions"]; }
  bool IsReady() const;
  // Returns "True", "False", "Unknown", or "" when there is no Ready condition.
  absl::string_view ReadyStatus() const;
  // Returns whether status.apiEnablements lists the kind.
  bool HasApi(const kube::Gvk& gvk) const;

 private:
  const json::Value& spec() const { return object_.spec(); }

  const kube::Object& object_;
};

// Sets spec.taints.
void SetTaints(kube::Object& cluster, absl::Span<const Taint> taints);

// Keys of the data of a Cluster's secret.
inline constexpr char kSecretToken[] = "token";
inline constexpr char kSecretCaBundle[] = "caBundle";

}  // namespace api

#endif  // API_CLUSTER_H_
