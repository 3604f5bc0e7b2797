#include "cmd/agent/cluster_secrets.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/byte_budget.h"
#include "base/json.h"
#include "base/log.h"
#include "base/status.h"
#include "config/agent_options.h"

namespace cmd {
namespace {

// Base64 has four characters for three bytes.
constexpr size_t kLongestText = (kLongestKubeconfig + 2) / 3 * 4;

// Drops what is not asked for, before it is kept. A key that is too long becomes a number: how long
// it is. Among the annotations may be the whole Secret once more, that of `kubectl apply`.
void Trim(kube::Object& secret) {
  secret.Erase({"metadata", "annotations"});
  json::Value kept = json::Value::Object({});
  for (const char* key : {kKarmadaKubeconfig, kKubeconfig}) {
    const json::Value text = secret.Get({"data", key});
    if (!text.is_string()) continue;
    const bool fits = text.AsString().size() <= kLongestText;
    kept.Set(key, fits ? text : json::Value(static_cast<int64_t>(text.AsString().size() / 4 * 3)));
  }
  secret.Set({"data"}, std::move(kept));
}

absl::StatusOr<std::string> TextOf(const kube::Object& secret, const char* key) {
  const std::string what = absl::StrCat("Secret ", secret.ns(), "/", secret.name(), ", key ", key);
  const json::Value value = secret.Get({"data", key});
  if (value.is_null()) return absl::InvalidArgumentError(absl::StrCat(what, ": it is missing"));
  if (!value.is_string()) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": it has about ", value.AsInt(),
                                                   " bytes, and a kubeconfig may have ",
                                                   kLongestKubeconfig));
  }
  std::string text;
  if (!absl::Base64Unescape(value.AsString(), &text)) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": it is not Base64"));
  }
  RETURN_IF_ERROR(ValidateKubeconfigText(text, what));
  return text;
}

absl::Status Read(const kube::Object& secret, ClusterPair& pair) {
  RETURN_IF_ERROR(base::Annotate(config::ValidateClusterName(std::string(secret.name())), "Secret ",
                                 secret.ns(), "/", secret.name()));
  ASSIGN_OR_RETURN(pair.karmada_kubeconfig, TextOf(secret, kKarmadaKubeconfig));
  ASSIGN_OR_RETURN(pair.kubeconfig, TextOf(secret, kKubeconfig));
  return absl::OkStatus();
}

kube::InformerOptions SecretOptions(const std::string& ns, const std::string& selector) {
  kube::InformerOptions options;
  options.label_selector = selector;
  options.namespaces = {ns};
  options.transform = Trim;
  return options;
}

}  // namespace

ClusterPair PairOfSecret(const kube::Object& secret) {
  ClusterPair pair;
  pair.usable = Read(secret, pair);
  return pair;
}

ClusterSecrets::ClusterSecrets(kube::InformerSet& informers, const std::string& ns,
                               const std::string& selector) {
  informers.SetDefaultOptions(api::Secrets(), SecretOptions(ns, selector));
  informers.SetBudget(std::make_shared<base::ByteBudget>(kMostBytes), [] {
    base::LogWarning("there are more Secrets of clusters than fit into the memory for them",
                     {{"bytes", kMostBytes}});
  });
  secrets_ = informers.Get(api::Secrets());
}

absl::Status ClusterSecrets::WaitForSync(base::SteadyTime deadline, const base::StopToken& stop) {
  return secrets_->WaitForSync(deadline, stop);
}

ClusterPairs ClusterSecrets::Read() {
  ClusterPairs pairs;
  std::map<std::string, Known> known;
  for (const kube::ObjectPtr& secret : secrets_->store().List()) {
    const std::string name(secret->name());
    Known& now = known[name];
    const auto before = known_.find(name);
    if (before != known_.end() && before->second.secret == secret) {
      now = std::move(before->second);
    } else {
      now = {secret, PairOfSecret(*secret)};
    }
    pairs.emplace(name, now.pair);
  }
  known_ = std::move(known);
  return pairs;
}

}  // namespace cmd
