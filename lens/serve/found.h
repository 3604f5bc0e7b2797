// What a search looks for in the objects of members, and how it shows what it has found.
#ifndef LENS_SERVE_FOUND_H_
#define LENS_SERVE_FOUND_H_

#include <string>

#include "base/json.h"
#include "kube/meta/object.h"
#include "lens/serve/parameters.h"

namespace lens::serve {

struct Wanted {
  std::string ns, cluster;
  std::string name;    // A part of the name.
  std::string labels;  // A label selector: members evaluate it.
  std::string image;   // A part of a container's image.
  std::string node;    // The whole name.
  std::string owner;   // "web", "ReplicaSet/web-5d4", or a part of the name.

  static Wanted Of(const Parameters& parameters);
  // Returns whether the object is wanted, labels and cluster apart.
  bool Has(const kube::Object& object) const;
};

// Returns {cluster, apiVersion, kind, namespace, name, type, created, owner, node, images, state}.
json::Value FoundJson(const kube::Object& object, const std::string& cluster);

}  // namespace lens::serve

#endif  // LENS_SERVE_FOUND_H_
