#include "kube/client/subresource.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/client/api_error.h"
#include "kube/client/url.h"

namespace kube {

absl::StatusOr<Object> GetSubresource(Client& client, const SubresourceOf& what,
                                      const base::StopToken& stop) {
  const std::string call =
      absl::StrCat("get ", what.resource.gvk.kind, " ", what.key.ToString(), " (", what.name, ")");
  const auto path = ObjectPath(what.resource, what.key, what.name);
  if (!path.ok()) return base::Annotate(path.status(), call);
  HttpRequest request{.path = *path};
  request.timeout = std::min(request.timeout, what.timeout);
  ASSIGN_OR_RETURN(const HttpResponse answer, client.GetRaw(request, stop));
  if (answer.code != 200) return ErrorOfResponse(answer, call);
  absl::StatusOr<json::Value> body = json::Parse(answer.body);
  if (!body.ok()) return base::Annotate(body.status(), call);
  return Object(*std::move(body));
}

}  // namespace kube
