// The words in which tables of needs are written.
#ifndef CONTROLLERS_PERMISSIONS_GRANTS_H_
#define CONTROLLERS_PERMISSIONS_GRANTS_H_

#include <string>
#include <utility>
#include <vector>

#include "controllers/permissions/rights.h"
#include "kube/meta/object.h"

namespace permissions {

using Verbs = std::vector<std::string>;
using Grants = std::vector<Grant>;

// Returns the verbs of who follows a kind, and those given.
inline Verbs Read(Verbs more = {}) {
  Verbs verbs = {"get", "list", "watch"};
  verbs.insert(verbs.end(), more.begin(), more.end());
  return verbs;
}

inline Grant On(const kube::Resource& resource, Verbs verbs) {
  return {resource.gvk.group, {resource.plural}, std::move(verbs)};
}

inline Grant On(const kube::Resource& resource, const std::string& subresource, Verbs verbs) {
  return {resource.gvk.group, {resource.plural + "/" + subresource}, std::move(verbs)};
}

inline Grant Named(Grant grant, Verbs names) {
  grant.names = std::move(names);
  return grant;
}

inline Grant Templates(Verbs verbs, const std::string& subresource = "") {
  const std::string slash = subresource.empty() ? "" : "/" + subresource;
  return {"", {std::string(kTemplates) + slash}, std::move(verbs)};
}

inline Grant Urls(Verbs urls) { return {.verbs = {"get"}, .urls = std::move(urls)}; }

inline Grants Join(Grants grants, const Grants& more) {
  grants.insert(grants.end(), more.begin(), more.end());
  return grants;
}

// Needed only with a gate.
inline Need With(config::Gate gate, Need need) {
  need.gate = gate;
  return need;
}

// Needed only if the flags ask for it.
inline Need If(bool (*asked)(const config::Options&), Need need) {
  need.is_asked_for = asked;
  return need;
}

}  // namespace permissions

#endif  // CONTROLLERS_PERMISSIONS_GRANTS_H_
