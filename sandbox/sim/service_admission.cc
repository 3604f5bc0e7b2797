#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "sandbox/sim/karmada_admission.h"

namespace sandbox {
namespace {

using Messages = std::vector<std::string>;

void CheckTypes(const json::Value& types, Messages& out) {
  std::set<std::string> seen;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string type = types.At(i).ToString();
    seen.insert(type);
    if (type != "CrossCluster" && type != "LoadBalancer") {
      out.push_back(
          absl::StrCat("spec.types[", i, "]: Invalid value: \"", type, "\": ExposureType Error"));
    }
  }
  if (seen.size() > 1) {
    out.push_back(absl::StrCat("spec.types: Invalid value: ", json::Write(types),
                               ": MultiClusterService types should not contain more than one "
                               "type"));
  }
}

void CheckPorts(const json::Value& ports, Messages& out) {
  std::set<std::string> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string path = absl::StrCat("spec.ports[", i, "]");
    const std::string name = ports.At(i)["name"].ToString();
    const int64_t port = ports.At(i)["port"].AsInt();
    if (!name.empty() && !names.insert(name).second) {
      out.push_back(absl::StrCat(path, ".name: Duplicate value: \"", name, "\""));
    }
    if (port < 1 || port > 65535) {
      out.push_back(absl::StrCat(path, ".port: Invalid value: ", port,
                                 ": must be between 1 and 65535, inclusive"));
    }
  }
}

}  // namespace

absl::Status AdmitMultiClusterService(const AdmissionRequest& request, kube::Object& service) {
  EnsureId(service, api::kMultiClusterServiceIdLabel);
  Messages wrong;
  if (request.verb == Verbs::kUpdate &&
      request.old_object.spec()["types"] != service.spec()["types"]) {
    wrong.push_back(
        absl::StrCat("spec.types: Invalid value: ", json::Write(request.old_object.spec()["types"]),
                     ": MultiClusterService types are immutable"));
  }
  CheckPorts(service.spec()["ports"], wrong);
  CheckTypes(service.spec()["types"], wrong);
  return Denied(absl::StrCat("multiclusterservice", api::kGroupSuffix), wrong);
}

}  // namespace sandbox
