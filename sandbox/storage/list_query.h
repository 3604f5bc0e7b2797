// Lists in the ways that clients ask for: with selectors, resourceVersion, and pages that show one
// version.
#ifndef SANDBOX_STORAGE_LIST_QUERY_H_
#define SANDBOX_STORAGE_LIST_QUERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/meta/selector.h"
#include "kube/server/field_labels.h"
#include "kube/server/list_options.h"
#include "sandbox/kinds/resource_info.h"
#include "sandbox/storage/store.h"

namespace sandbox {

// The objects that a list, watch or deletecollection selects.
struct Selection {
  std::string ns;
  std::string name;  // From the path; "" selects any.
  kube::LabelSelector labels;
  kube::server::FieldMatcher fields;

  // 400 for fields by which the resource cannot be selected.
  static absl::StatusOr<Selection> Of(const kube::server::ListOptions& options,
                                      const ResourceInfo& info, const kube::ObjectKey& key);
  // REQUIRES: the object is of the selected resource, as stored or served.
  bool Matches(const kube::Object& object) const;
  bool MatchesEverything() const;
};

// How far behind reads are.
struct ReadView {
  int64_t as_of = 0;  // They show the state of this version; 0: the present one.
  // True: so do those that a real API server would answer consistently from etcd, and not from its
  // watch cache, which may be behind.
  bool all = false;

  // Return the version as of which the read is answered; 0: the present one. 400 for a malformed
  // resourceVersion, 504 for one that the view has not reached.
  absl::StatusOr<int64_t> OfList(const kube::server::ListOptions& options) const;
  absl::StatusOr<int64_t> OfGet(absl::string_view resource_version) const;
};

struct ListPage {
  std::vector<kube::ObjectPtr> objects;  // In the served version.
  int64_t version = 0;
  std::string next;  // The continue token; "" on the last page.
  // The number of objects on later pages; -1 when it is unknown (selectors).
  int64_t remaining = -1;

  json::Value Metadata() const;
};

// 400 for a malformed version or token, 410 for a token or exact version that history does not
// cover any more, 504 for a version of the future.
absl::StatusOr<ListPage> ListPageOf(const Store& store, const ResourceInfo& info,
                                    const Selection& selection,
                                    const kube::server::ListOptions& options,
                                    const ReadView& view = {});

}  // namespace sandbox

#endif  // SANDBOX_STORAGE_LIST_QUERY_H_
