// What the bindings that need an attached one demand of it.
#ifndef CONTROLLERS_DEPENDENCIES_DEMANDS_H_
#define CONTROLLERS_DEPENDENCIES_DEMANDS_H_

#include <string>

#include "controllers/dependencies/attached_bindings.h"
#include "kube/meta/object.h"

namespace controllers {

// How conflicts and deletion are to be handled.
struct Demands {
  bool overwrite = false, preserve = false;
  friend bool operator==(const Demands&, const Demands&) = default;
};
Demands DemandsOf(const kube::Object& binding);

// Sets on `attached` how conflicts and deletion are handled, as the bindings that need it demand;
// what overwrites or preserves may do so because of one that may be restored yet. Returns the text
// about different demands, "" for none.
std::string FollowDemands(const FindBinding& find, kube::Object& attached);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_DEMANDS_H_
