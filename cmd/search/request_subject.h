// What the metrics of requests say of them.
#ifndef CMD_SEARCH_REQUEST_SUBJECT_H_
#define CMD_SEARCH_REQUEST_SUBJECT_H_

#include <functional>

#include "kube/aggregation/request_record.h"
#include "kube/meta/names.h"

namespace cmd {

// Returns the request to the proxy ("proxy") or to a view ("cache", "opensearch") as what it asks
// for behind it, any other as it is. Resources that `is_registered` does not know are "other".
kube::aggregation::RequestSubject SubjectOf(
    const kube::aggregation::ApiRequest& request,
    const std::function<bool(const kube::Gvr& gvr)>& is_registered);

}  // namespace cmd

#endif  // CMD_SEARCH_REQUEST_SUBJECT_H_
