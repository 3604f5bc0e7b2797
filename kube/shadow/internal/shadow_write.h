// What a server would make of a request that changes something, by the request and the present
// state of its object.
#ifndef KUBE_SHADOW_INTERNAL_SHADOW_WRITE_H_
#define KUBE_SHADOW_INTERNAL_SHADOW_WRITE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/http/transport.h"
#include "kube/meta/names.h"
#include "kube/shadow/internal/shadow_changes.h"

namespace kube::internal {

// Returns whether the request stores nothing: GET, HEAD, OPTIONS, or the creation of a review.
bool IsReadRequest(const HttpRequest& request);

// Returns the path of the object that the request is about, or of its sub-resource "scale"; ""
// where there is none to read: the name is generated, or the request is about a collection.
std::string PathToRead(const HttpRequest& request);

// Returns what names the target of a request among those of one method at one server: the path
// without its query, and, for creations, the name or generateName.
std::string TargetPath(const HttpRequest& request);

// A change that a request would make.
struct ShadowedWrite {
  std::string verb;  // "create", "update", "patch", "delete" or "deletecollection".
  Gvk gvk;           // For a collection, the plural stands for the kind.
  ObjectKey key;
  std::string subresource;
  // The merge patch from the present state to what would be there, as text of at most 8000 bytes
  // without anything secret: every value in a Secret, at any depth, and every text that is JSON
  // itself (an annotation may contain a Secret) is replaced by "***". "" for creations, deletions
  // and sub-resources that only a POST knows.
  std::string patch;
  ShadowedChanges changes;  // What the patch changes.
  // The same as text, at most 20 of them and 1000 bytes: "spec.replicas, metadata.labels.app".
  std::string fields;
  // Equal for writes of the same content: times, UUIDs and resourceVersions do not count.
  std::string fingerprint;
};

struct ShadowedAnswer {
  HttpResponse response;
  std::optional<ShadowedWrite> write;  // nullopt when nothing would change, or it is not known.
  // Whether the answer decides it: a 200 shows the object, a 404 that names it shows its absence.
  bool is_known = true;
};

// `live` is the answer to the GET of PathToRead; nullptr when that is "". With
// `without_precondition` the resourceVersion in the request counts for nothing, nor do the tests of
// a JSON patch but that of the uid.
ShadowedAnswer AnswerWrite(const HttpRequest& request, const HttpResponse* live,
                           bool without_precondition = false);

// Reads the object of the request from the server and returns what AnswerWrite does; an error if
// there is no answer.
absl::StatusOr<ShadowedAnswer> AskShadowed(Transport& server, const HttpRequest& request,
                                           bool without_precondition, const base::StopToken& stop);

}  // namespace kube::internal

#endif  // KUBE_SHADOW_INTERNAL_SHADOW_WRITE_H_
