// Writes objects and lists in the form that a client has asked for.
#ifndef SANDBOX_HTTP_RESOURCE_ANSWERS_H_
#define SANDBOX_HTTP_RESOURCE_ANSWERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/http/resource_handler.h"
#include "sandbox/storage/list_query.h"

namespace sandbox {

base::HttpResponse ObjectAnswer(const ResourceCall& call, int code, const kube::ObjectPtr& object,
                                const std::vector<std::string>& warnings = {});
base::HttpResponse ListAnswer(const ResourceCall& call, const ListPage& page);
// Returns the Status that answers a deletion.
base::HttpResponse DeletedAnswer(const ResourceCall& call, const kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_RESOURCE_ANSWERS_H_
