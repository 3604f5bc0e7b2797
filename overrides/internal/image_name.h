// The parts of a container image's name.
#ifndef OVERRIDES_INTERNAL_IMAGE_NAME_H_
#define OVERRIDES_INTERNAL_IMAGE_NAME_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace overrides {

// A name such as "registry.example.com:5000/team/app:v1". Of a name with tag and digest only the
// tag is known.
struct ImageName {
  std::string registry;    // "" when the name has none.
  std::string repository;  // What follows the registry, without tag and digest.
  std::string tag;
  std::string digest;

  // kInvalidArgument with the message of github.com/distribution/reference. The first part of a
  // path is the registry if it contains "." or ":" or is "localhost" (upstream's
  // imageparser.Parse).
  static absl::StatusOr<ImageName> Parse(absl::string_view name);

  absl::string_view TagOrDigest() const { return tag.empty() ? digest : tag; }
  // Takes the value as the tag or, when it cannot be one, as the digest; the other one is dropped.
  // A value that can be neither changes nothing.
  void SetTagOrDigest(absl::string_view value);
  void RemoveTagOrDigest();
  std::string ToString() const;
};

}  // namespace overrides

#endif  // OVERRIDES_INTERNAL_IMAGE_NAME_H_
