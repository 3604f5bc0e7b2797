#include "cmd/search/control_plane_check.h"

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/status.h"

namespace cmd {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(3);

}  // namespace

absl::Status CheckControlPlane(kube::Transport& transport, const std::string& server,
                               const base::StopToken& stop) {
  const kube::Gvk& gvk = api::Clusters().gvk;
  kube::HttpRequest request;
  request.method = "GET";
  request.path = absl::StrCat("/apis/", gvk.ApiVersion());
  request.timeout = kPatience;
  const absl::StatusOr<kube::HttpResponse> answer = transport.Send(request, stop);
  if (!answer.ok()) {
    return base::Annotate(answer.status(), absl::StrCat("the server of --kubeconfig, ", server,
                                                        ", does not answer; it is tried again"));
  }
  if (answer->code == 404) {
    return absl::NotFoundError(absl::StrCat("the server of --kubeconfig, ", server, ", serves no ",
                                            gvk.ApiVersion(),
                                            ": it is a member cluster, or Karmada's "
                                            "CustomResourceDefinitions are not installed there"));
  }
  if (answer->code == 401 || answer->code == 403) {
    return absl::PermissionDeniedError(absl::StrCat("the server of --kubeconfig, ", server,
                                                    ", refuses its user with ", answer->code));
  }
  return absl::OkStatus();
}

}  // namespace cmd
