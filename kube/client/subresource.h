// Reads a sub-resource of an object.
#ifndef KUBE_CLIENT_SUBRESOURCE_H_
#define KUBE_CLIENT_SUBRESOURCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace kube {

struct SubresourceOf {
  const Resource& resource;
  const ObjectKey& key;
  const std::string& name;  // "scale"
  // Limits the call with its retries; a longer time than the client's own has no effect.
  absl::Duration timeout = absl::InfiniteDuration();
};
// Returns the sub-resource; its kind may differ from the object's ("scale": a Scale). Errors as
// those of Client::Get.
absl::StatusOr<Object> GetSubresource(Client& client, const SubresourceOf& what,
                                      const base::StopToken& stop);

}  // namespace kube

#endif  // KUBE_CLIENT_SUBRESOURCE_H_
