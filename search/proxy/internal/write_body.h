// The body of a write that came through the proxy, translated for the member that gets it.
//
// Objects read through the proxy differ from the member's in two places: their resourceVersion is a
// composite one, with an entry for each member, and an annotation names the member. Both come back
// in PUT, PATCH and DELETE. The member must get its own version, since it takes the composite one
// for malformed, and no annotation. Nothing else of the body changes by a byte.
//
//   ASSIGN_OR_RETURN(const WriteBody body, WriteBody::Of(inner, decode));
//   ASSIGN_OR_RETURN(request.body, body.For("member1"));
#ifndef SEARCH_PROXY_INTERNAL_WRITE_BODY_H_
#define SEARCH_PROXY_INTERNAL_WRITE_BODY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/server/api_errors.h"
#include "search/proxy/internal/inner_request.h"
#include "search/proxy/versions.h"

namespace search {

class WriteBody {
 public:
  // 415 for a content type in which a composite version could not be found (CBOR); 400 when a
  // member to translate occurs twice in one JSON object, or the request has two content types,
  // because readers differ on which one counts. A body that cannot be parsed stays as it is: the
  // member refuses it with its own words.
  static absl::StatusOr<WriteBody> Of(const InnerRequest& inner, DecodeVersions decode);

  // Returns the member that the object in the body was read from; "" when the body does not say it.
  const std::string& origin() const { return origin_; }
  // Returns the body for a member. 409 when the object has a composite version without an entry for
  // the member, which came to have an object of this name later: without a version the write would
  // be unconditional.
  absl::StatusOr<std::string> For(absl::string_view member) const;

 private:
  // A composite version in JSON.
  struct VersionPlace {
    size_t begin = 0, end = 0;
    MemberVersions versions;
  };
  struct Cut {
    size_t begin = 0, end = 0;
  };
  // Names of nested members of a JSON document.
  using Names = std::vector<absl::string_view>;

  explicit WriteBody(DecodeVersions decode) : decode_(std::move(decode)) {}

  absl::Status ReadJson(const InnerRequest& inner);
  absl::Status ReadJsonPatch(const InnerRequest& inner);
  absl::Status NoteOperation(absl::string_view operation, const std::string& path);
  // Returns whether the operation concerns only the annotation that names the member, so that the
  // member must not get it; then its value is the origin.
  bool TakesOrigin(absl::string_view operation, const std::string& chosen_cluster);
  void ReadProtobuf(const InnerRequest& inner);
  // Notes what is to be translated in `text`, a part of text_.
  absl::Status NoteVersion(absl::string_view text, const Names& path);
  absl::Status NoteAnnotation(absl::string_view text, const Names& path);
  absl::Status NoteMetadata(absl::string_view text, const Names& path);
  absl::StatusOr<std::string> Version(const MemberVersions& versions,
                                      absl::string_view member) const;
  absl::StatusOr<std::string> ProtobufFor(absl::string_view member) const;

  DecodeVersions decode_;
  kube::server::GroupName resource_;
  std::string name_;
  std::string text_;
  std::vector<VersionPlace> versions_;
  std::vector<Cut> cuts_;
  // Of a protobuf body: where versions are, and whether it has metadata.
  std::vector<std::vector<uint32_t>> version_fields_;
  bool has_proto_metadata_ = false;
  std::string origin_;
};

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_WRITE_BODY_H_
