// The manifests that a plan is made from, with the places where they are written.
#ifndef LENS_PLAN_INPUT_H_
#define LENS_PLAN_INPUT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "base/yaml_position.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "tool/documents.h"

namespace lens::plan {

// A line of a file. Both are empty for an object that comes from no file.
struct Place {
  std::string file;
  int line = 0;

  bool empty() const { return file.empty(); }
  // Returns "web.yaml:14".
  std::string ToString() const;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// An object and the document that it was read from.
struct InputObject {
  kube::Object object;
  tool::Document document;
  // The places in the document's text.
  std::shared_ptr<const yaml::PlaceIndex> places;

  // Returns the place of the value at the path, or of the nearest value around it that is written
  // in the file. The path has the form of error messages: "spec.overrideRules[0].targetCluster".
  Place PlaceOf(absl::string_view path) const;
  // Returns the place of the object itself.
  Place place() const { return PlaceOf(""); }
};

// Identifies an object whatever its API version is.
struct ObjectId {
  std::string group, kind, ns, name;

  static ObjectId Of(const kube::Object& object);
  // Returns "Deployment shop/web".
  std::string ToString() const;
  friend auto operator<=>(const ObjectId&, const ObjectId&) = default;
};

// Returns "spec", "overrideRules", "0", "targetCluster" for the form of error messages.
std::vector<std::string> SplitPath(absl::string_view path);

// Returns the documents as objects. kInvalidArgument has one line for each document that is not an
// object, for each object that is there twice, and for each name that a map has twice, beginning
// with its place.
absl::StatusOr<std::vector<InputObject>> ObjectsOf(std::vector<tool::Document> documents);

// Collects errors of which each is reported once, in a line of its own.
class Problems {
 public:
  void Add(const Place& place, absl::string_view message);
  bool empty() const { return lines_.empty(); }
  // OK without problems, else kInvalidArgument.
  absl::Status ToStatus() const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace lens::plan

#endif  // LENS_PLAN_INPUT_H_
