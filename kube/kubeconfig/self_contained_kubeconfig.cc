#include "kube/kubeconfig/self_contained_kubeconfig.h"

#include <initializer_list>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "base/yaml.h"

namespace kube {
namespace {

// Checks the entries of the list "<section>s", each of which has its fields under <section>.
absl::Status Refuse(const json::Value& root, absl::string_view section,
                    std::initializer_list<absl::string_view> fields) {
  for (const json::Value& item : root[absl::StrCat(section, "s")].items()) {
    for (const absl::string_view field : fields) {
      if (item[section][field].is_null()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(section, " \"", item["name"].AsString(), "\": field ", field,
                       " is not accepted here: everything has to be in the kubeconfig itself"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConnectionConfig> ParseSelfContainedKubeconfig(absl::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<json::Value> documents, yaml::ParseAll(text));
  if (documents.empty()) return absl::InvalidArgumentError("not a kubeconfig: it is empty");
  const json::Value& root = documents.front();  // ParseKubeconfig reads this one alone, too.
  RETURN_IF_ERROR(Refuse(root, "cluster", {"certificate-authority"}));
  RETURN_IF_ERROR(Refuse(
      root, "user", {"client-certificate", "client-key", "tokenFile", "exec", "auth-provider"}));
  return ParseKubeconfig(text, /*directory=*/"", /*context=*/"");
}

}  // namespace kube
