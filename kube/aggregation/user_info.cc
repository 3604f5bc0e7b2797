#include "kube/aggregation/user_info.h"

#include <algorithm>
#include <utility>

#include "base/fair_share.h"

namespace kube::aggregation {
namespace {

std::vector<std::string> StringsOf(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value& item : list.items()) {
    if (item.is_string()) out.push_back(item.ToString());
  }
  return out;
}

}  // namespace

bool UserInfo::IsIn(absl::string_view group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

std::string ShareOwner(const UserInfo& user) {
  return user.IsIn(kMasters) ? base::kNoOwner : user.name;
}

UserInfo AnonymousUser() { return {.name = kAnonymous, .groups = {kUnauthenticated}}; }

void AddAuthenticatedGroup(UserInfo& user) {
  if (user.name == kAnonymous || user.IsIn(kAuthenticated) || user.IsIn(kUnauthenticated)) return;
  user.groups.emplace_back(kAuthenticated);
}

json::Value UserJson(const UserInfo& user, absl::string_view name_member) {
  json::Value out = json::Value::Object();
  out.Set(name_member, user.name);
  if (!user.uid.empty()) out.Set("uid", user.uid);
  if (!user.groups.empty()) out.Set("groups", json::Value::Strings(user.groups));
  if (!user.extra.empty()) {
    json::Value extra = json::Value::Object();
    for (const auto& [key, values] : user.extra) extra.Set(key, json::Value::Strings(values));
    out.Set("extra", std::move(extra));
  }
  return out;
}

UserInfo UserOfJson(const json::Value& user) {
  UserInfo out{.name = user["username"].ToString(),
               .uid = user["uid"].ToString(),
               .groups = StringsOf(user["groups"])};
  for (const json::Member& member : user["extra"].members()) {
    out.extra[std::string(member.name())] = StringsOf(member.value);
  }
  return out;
}

}  // namespace kube::aggregation
