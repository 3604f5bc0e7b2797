#include "sandbox/sim/event_records.h"

#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

// With the 17 characters that follow it is still a legal name.
constexpr size_t kMaxNamePrefix = 200;

std::string NameOf(const EventRecord& r) {
  const std::string object = r.about["name"].ToString();
  const size_t hash = absl::HashOf(r.about["uid"].AsString(), r.about["kind"].AsString(), object,
                                   r.type, r.reason, r.message, r.component);
  return absl::StrCat(object.substr(0, kMaxNamePrefix), ".", absl::Hex(hash, absl::kZeroPad16));
}

kube::Object NewEvent(const EventRecord& r, const kube::ObjectKey& key, const std::string& now) {
  kube::Object event = kube::Object::Make(kinds::Events().gvk, key);
  event.Set({"involvedObject"}, r.about);
  event.Set({"type"}, r.type);
  event.Set({"reason"}, r.reason);
  event.Set({"message"}, r.message);
  event.Set({"source", "component"}, r.component);
  event.Set({"reportingComponent"}, r.component);
  event.Set({"firstTimestamp"}, now);
  event.Set({"lastTimestamp"}, now);
  event.Set({"count"}, 1);
  return event;
}

absl::Status Write(Backend& backend, const EventRecord& record, absl::Time now) {
  const std::string ns = record.about["namespace"].ToString();
  const kube::ObjectKey key{ns.empty() ? "default" : ns, NameOf(record)};
  const kube::Gvr gvr = kinds::Events().gvr();
  ASSIGN_OR_RETURN(const kube::ObjectPtr seen, FindObject(backend, gvr, key));
  const std::string stamp = kube::FormatTime(now);
  if (seen == nullptr) return EnsureObject(backend, gvr, NewEvent(record, key, stamp));
  return PatchAsRead(
      backend, gvr, *seen,
      json::Value::Object({{"count", seen->Get({"count"}).AsInt() + 1}, {"lastTimestamp", stamp}}));
}

}  // namespace

void RecordEvent(Backend& backend, const EventRecord& record, absl::Time now) {
  base::IgnoreError(Write(backend, record, now), "nothing depends on events");
}

json::Value ReferenceTo(const kube::Object& object) {
  json::Value reference = json::Value::Object({{"apiVersion", object.api_version()},
                                               {"kind", object.kind()},
                                               {"name", object.name()},
                                               {"uid", object.uid()}});
  if (!object.ns().empty()) reference.Set("namespace", object.ns());
  return reference;
}

}  // namespace sandbox
