// Lists as clients ask for them: selectors, resourceVersion, and pages that show one moment.
#ifndef SANDBOX_STORAGE_LIST_QUERY_H_
#define SANDBOX_STORAGE_LIST_QUERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "kube/meta/selector.h"
#include "sandbox/kinds/resource_info.h"
#include "sandbox/storage/store.h"

namespace sandbox {

// Which objects a list, watch or deletecollection is about.
struct Selection {
  std::string ns;
  std::string name;  // From the path; "" is any.
  kube::LabelSelector labels;
  kube::FieldSelector fields;

  // 400 for selectors that cannot be parsed.
  static absl::StatusOr<Selection> Of(const base::HttpRequest& request, const kube::ObjectKey& key);
  // REQUIRES: the object is of the selected resource, as stored or served.
  bool Matches(const kube::Object& object) const;
  bool MatchesEverything() const;
};

struct ListPage {
  std::vector<kube::ObjectPtr> objects;  // As served.
  int64_t version = 0;
  std::string next;        // Continue token; "" on the last page.
  int64_t remaining = -1;  // Objects on later pages; -1 unknown (selectors).

  json::Value Metadata() const;
};

// 400 for bad parameters, 410 for a token or exact version that history no longer covers, 504 for a
// version of the future.
absl::StatusOr<ListPage> ListPageOf(const Store& store, const ResourceInfo& info,
                                    const Selection& selection, const base::HttpRequest& request);

}  // namespace sandbox

#endif  // SANDBOX_STORAGE_LIST_QUERY_H_
