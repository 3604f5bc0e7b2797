// A Kubernetes object as a document of OpenSearch, and back.
//
// A document has typed fields of its own at the top, so that kinds cannot disagree about them:
//
//   cluster group version kind namespace name uid resourceVersion    keywords
//   labels annotations spec status                                   flat_object
//   created deleted mirrored                                         dates
//   owners.{kind,name,uid}                                           keywords
//   summary.{phase,reason,node,images,conditions}                    keywords
//   summary.{restarts,replicas,readyReplicas}, summary.ready         numbers, boolean
//   rest                                                             stored, not searchable
//
// `rest` holds what the other fields do not, at its place in the object. Where spec, status or
// annotations contain strings that are too long for the index, the field has them shortened, and
// `rest` has it as it is. The same holds for what is nested more than 100 levels deep in them: the
// field has an empty object or array in its place.
#ifndef SEARCH_OPENSEARCH_DOCUMENT_H_
#define SEARCH_OPENSEARCH_DOCUMENT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace search {

// Raised when MakeDocument makes something else of an object: documents of an older schema are
// written again.
inline constexpr int kDocumentSchema = 1;

// Returns "<prefix>-<group or core>-<version>-<kind>" in lower case: an index for each group,
// version and kind. A prefix with a '-' at its end followed by '*' finds them all.
std::string IndexName(absl::string_view prefix, const kube::Gvk& kind);
// The id of an object's document within its index: "<cluster>/<uid>".
std::string DocumentId(absl::string_view cluster, absl::string_view uid);

// `kind` is what the cache knows the object as, because items of lists have no apiVersion. Of core
// Secrets the contents are left out. `now` becomes the field `mirrored`.
json::Value MakeDocument(absl::string_view cluster, const kube::Gvk& kind,
                         const kube::Object& object, absl::Time now);
// The object that the document was made of. kInvalidArgument when it is not such a document.
absl::StatusOr<kube::Object> ObjectOf(const json::Value& document);

// The field `summary`: what people filter and count by, of any kind that has it at the usual
// places.
json::Value SummaryOf(const kube::Gvk& kind, const kube::Object& object);

}  // namespace search

#endif  // SEARCH_OPENSEARCH_DOCUMENT_H_
