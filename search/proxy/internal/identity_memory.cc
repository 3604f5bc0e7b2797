#include "search/proxy/internal/identity_memory.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "base/digest.h"
#include "base/json.h"
#include "search/proxy/internal/protobuf_edit.h"

namespace search {

namespace {

constexpr absl::string_view kProtobufMagic("k8s\0", 4);

std::string KeyOf(absl::string_view server, const kube::aggregation::UserInfo& user) {
  json::Value key = kube::aggregation::UserJson(user, "user");
  key.Set("server", std::string(server));
  return base::Sha256(json::Write(key));
}

// What counts of a Status.
struct Refusal {
  std::string reason, message, group, kind;
};

Refusal OfJson(absl::string_view body) {
  const auto status = json::Parse(body);
  if (!status.ok()) return {};
  const json::Value& details = (*status)["details"];
  return {(*status)["reason"].ToString(), (*status)["message"].ToString(),
          details["group"].ToString(), details["kind"].ToString()};
}

// Returns a field of a protobuf message; "" if it has none.
std::string FieldOf(absl::string_view message, FieldPath path) {
  std::string found;
  const auto read = [&](absl::string_view text) -> absl::StatusOr<std::optional<std::string>> {
    found = std::string(text);
    return found;
  };
  return EditField(message, path, read).ok() ? found : "";
}

// The Status is the second field of runtime.Unknown. The numbers are those of metav1.Status and
// metav1.StatusDetails.
Refusal OfProtobuf(absl::string_view unknown) {
  return {FieldOf(unknown, {2, 4}), FieldOf(unknown, {2, 3}), FieldOf(unknown, {2, 5, 2}),
          FieldOf(unknown, {2, 5, 3})};
}

}  // namespace

bool RefusesWholeIdentity(absl::string_view body) {
  const Refusal refusal =
      absl::ConsumePrefix(&body, kProtobufMagic) ? OfProtobuf(body) : OfJson(body);
  return refusal.reason == "Forbidden" && refusal.group == "authentication.k8s.io" &&
         (refusal.kind == "uids" || refusal.kind == "userextras") &&
         absl::StrContains(refusal.message, "cannot impersonate resource");
}

Identity IdentityMemory::For(const std::string& server,
                             const kube::aggregation::UserInfo& user) const {
  const std::string key = KeyOf(server, user);
  const absl::MutexLock lock(&mu_);
  const auto found = refused_until_.find(key);
  const bool refused = found != refused_until_.end() && clock_.SteadyNow() < found->second;
  return refused ? Identity::kNameAndGroups : Identity::kWhole;
}

void IdentityMemory::NoteRefusal(const std::string& server,
                                 const kube::aggregation::UserInfo& user) {
  std::string key = KeyOf(server, user);
  const absl::MutexLock lock(&mu_);
  const base::SteadyTime now = clock_.SteadyNow();
  if (refused_until_.size() >= kMost) {
    std::erase_if(refused_until_, [now](const auto& entry) { return entry.second <= now; });
  }
  if (refused_until_.size() >= kMost) return;
  refused_until_.insert_or_assign(std::move(key), now + kTerm);
}

}  // namespace search
