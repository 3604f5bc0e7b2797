// A request is split into its target (from the path) and its content; the object that is there
// comes from the answer to a GET. The order of the checks is kube-apiserver's: the object has to
// exist (or not), then the preconditions of uid and resourceVersion hold, then the patch applies.

#include "kube/shadow/internal/shadow_write.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/cut_text.h"
#include "base/digest.h"
#include "kube/client/api_error.h"
#include "kube/client/url.h"
#include "kube/meta/object.h"
#include "kube/meta/patch.h"
#include "kube/meta/patch_paths.h"
#include "kube/schema/strategic_merge_patch.h"

namespace kube::internal {
namespace {

// What a record of a write keeps of its content: many records are held at once.
constexpr size_t kMostFields = 20;
constexpr size_t kMostFieldBytes = 1000;
constexpr size_t kMostPatchBytes = 8000;
constexpr char kHidden[] = "***";
constexpr char kScale[] = "scale";

// What a path is about.
struct Address {
  std::string group, version;
  std::string collection;  // The path up to the plural.
  std::string plural, ns, name, subresource;
};

Address AddressOf(absl::string_view path) {
  path = path.substr(0, path.find('?'));
  const std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  Address out;
  size_t at = 0;
  const auto next = [&] { return at < parts.size() ? parts[at++] : std::string(); };
  if (next() == "apis") out.group = next();
  out.version = next();
  // "namespaces/NAME" alone is a Namespace, and its sub-resources are these two.
  const bool in_namespace = parts.size() >= at + 3 && parts[at] == "namespaces" &&
                            parts[at + 2] != "status" && parts[at + 2] != "finalize";
  if (in_namespace) {
    ++at;
    out.ns = next();
  }
  out.plural = next();
  for (size_t i = 0; i < at && i < parts.size(); ++i)
    absl::StrAppend(&out.collection, "/", parts[i]);
  out.name = next();
  out.subresource = next();
  return out;
}

// A body that is not JSON counts as an empty object: a shadow reports writes, it does not judge
// them.
json::Value Parsed(const std::string& body) {
  absl::StatusOr<json::Value> value = json::Parse(body);
  return value.ok() ? *std::move(value) : json::Value::Object();
}

// Returns a Status with an error about the object.
HttpResponse Refusal(int code, const char* reason, const Address& at, absl::string_view why) {
  json::Value details = json::Value::Object({{"name", at.name}, {"kind", at.plural}});
  if (!at.group.empty()) details.Set("group", at.group);
  const std::string resource =
      at.group.empty() ? at.plural : absl::StrCat(at.plural, ".", at.group);
  const json::Value status =
      json::Value::Object({{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"metadata", json::Value::Object()},
                           {"status", "Failure"},
                           {"message", absl::StrCat(resource, " \"", at.name, "\" ", why)},
                           {"reason", reason},
                           {"details", std::move(details)},
                           {"code", code}});
  return {.code = code, .body = json::Write(status)};
}

// Returns the answer with an object that the server does not have.
HttpResponse WouldBe(int code, json::Value object) {
  // A version that the server has not given must not reach a cache, which would compare by it.
  for (const char* field : {"resourceVersion", "generation"}) object.Erase({"metadata", field});
  return {.code = code, .body = json::Write(object)};
}

// Returns "" unless the text looks like a time or a UUID, else what stands for all of these.
const char* PlaceholderOf(absl::string_view text) {
  const auto dashes_at = [&](std::initializer_list<size_t> places) {
    for (const size_t place : places) {
      if (text[place] != '-') return false;
    }
    return true;
  };
  if (text.size() >= 20 && text[10] == 'T' && text.back() == 'Z' && dashes_at({4, 7})) {
    return "<time>";
  }
  if (text.size() == 36 && dashes_at({8, 13, 18, 23})) return "<uuid>";
  return "";
}

json::Value Normal(const json::Value& value) {
  if (value.is_string()) {
    const char* placeholder = PlaceholderOf(value.AsString());
    return *placeholder == '\0' ? value : json::Value(placeholder);
  }
  if (value.is_array()) {
    json::Value out = json::Value::Array();
    for (const json::Value& item : value.items()) out.Append(Normal(item));
    return out;
  }
  if (!value.is_object()) return value;
  json::Value out = json::Value::Object();
  for (const json::Member& member : value.members()) out.Set(member.name(), Normal(member.value));
  return out;
}

// A controller repeats a write that was not made, and each time with a new time: that is one write.
std::string FingerprintOf(json::Value content) {
  if (content.is_object()) content.Erase({"metadata", "resourceVersion"});
  return base::Sha256(json::Write(Normal(content)));
}

// Returns the JSON patch without its tests, by which a writer guards what it replaces.
json::Value WithoutTests(const json::Value& operations) {
  json::Value out = json::Value::Array();
  for (const json::Value& operation : operations.items()) {
    const bool guards =
        operation["op"].AsString() == "test" && operation["path"].AsString() != "/metadata/uid";
    if (!guards) out.Append(operation);
  }
  return out;
}

// A Lease says who is alive; another program renews it.
bool IsRenewal(const Object& before, const json::Value& patch) {
  if (before.kind() != "Lease" || patch.size() != 1 || !patch["spec"].is_object()) return false;
  for (const json::Member& member : patch["spec"].members()) {
    const absl::string_view name = member.name();
    if (name != "renewTime" && name != "acquireTime" && name != "holderIdentity" &&
        name != "leaseTransitions") {
      return false;
    }
  }
  return true;
}

bool IsJson(absl::string_view text) {
  text = absl::StripLeadingAsciiWhitespace(text);
  return text.size() > 1 && (text[0] == '{' || text[0] == '[');
}

// Returns the value without secrets; `secret` says whether it is part of a Secret.
json::Value Shown(const json::Value& value, bool secret) {
  if (value.is_array()) {
    json::Value out = json::Value::Array();
    for (const json::Value& item : value.items()) out.Append(Shown(item, secret));
    return out;
  }
  if (value.is_object()) {
    // A Secret may lie inside another object, as a manifest of a Work: each depth may begin one.
    const bool is_secret = secret || value["kind"].AsString() == "Secret";
    json::Value out = json::Value::Object();
    for (const json::Member& member : value.members()) {
      const bool names_it = member.name() == "kind" || member.name() == "apiVersion" ||
                            member.name() == "name" || member.name() == "namespace";
      const bool keep = names_it && !secret && member.value.is_string();
      out.Set(member.name(), keep ? member.value : Shown(member.value, is_secret));
    }
    return out;
  }
  if (value.is_null()) return value;  // A field that would be removed.
  // Text that is JSON may be a whole Secret, as in the annotation of kubectl's last apply.
  return secret || IsJson(value.AsString()) ? json::Value(kHidden) : value;
}

HttpRequest ReadOf(const HttpRequest& write, std::string path) {
  return {.method = "GET",
          .path = std::move(path),
          .timeout = write.timeout,
          .user_agent = write.user_agent,
          .max_answer_bytes = write.max_answer_bytes};
}

std::string PatchText(const Gvk& gvk, const json::Value& patch) {
  const bool is_secret = gvk.group.empty() && gvk.kind == "Secret";
  return base::CutText(json::Write(Shown(patch, is_secret)), kMostPatchBytes);
}

class Answerer {
 public:
  Answerer(const HttpRequest& request, const HttpResponse* live, bool without_precondition)
      : request_(request),
        at_(AddressOf(request.path)),
        body_(Parsed(request.body)),
        without_precondition_(without_precondition) {
    if (at_.name.empty()) at_.name = body_["metadata"]["name"].ToString();
    if (live == nullptr) return;
    live_ = live;
    if (live->code == 200) before_ = Object(Parsed(live->body));
  }

  ShadowedAnswer Answer() {
    // Neither present nor known to be missing.
    if (live_ != nullptr && live_->code != 200 && !IsMissing()) {
      return {*live_, std::nullopt, false};
    }
    if (request_.method == "POST") return Create();
    if (request_.method == "DELETE") return Delete();
    const bool is_apply = absl::StartsWith(request_.content_type, "application/apply-patch");
    if (before_.empty() && is_apply && body_["metadata"]["uid"].is_null()) return Create();
    if (before_.empty()) return {Missing(), std::nullopt};
    return Change();
  }

 private:
  bool IsMissing() const { return live_->code == 404 && NamesObject(ErrorOfResponse(*live_, "")); }
  HttpResponse Missing() const {
    return live_ != nullptr ? *live_ : Refusal(404, "NotFound", at_, "not found");
  }

  ShadowedWrite Write(const char* verb) const {
    const Object& known = before_.empty() ? Object(body_) : before_;
    ShadowedWrite write;
    write.verb = verb;
    write.gvk = {at_.group, at_.version, std::string(known.kind())};
    if (known.kind().empty()) write.gvk.kind = at_.plural;
    write.key = {at_.ns, at_.name};
    if (write.key.name.empty()) write.key.name = body_["metadata"]["generateName"].ToString();
    write.subresource = at_.subresource;
    return write;
  }

  // An answer without a write (nullopt) is a refusal, as the server's would be, or nothing would
  // change.
  ShadowedAnswer Create() {
    if (at_.subresource.empty() && !before_.empty()) {
      return {Refusal(409, "AlreadyExists", at_, "already exists"), std::nullopt};
    }
    ShadowedWrite write = Write("create");
    write.fingerprint = FingerprintOf(body_);
    return {WouldBe(201, body_), std::move(write)};
  }

  ShadowedAnswer Delete() {
    if (at_.name.empty()) {
      ShadowedWrite write = Write("deletecollection");
      write.fingerprint = FingerprintOf(json::Value(request_.path));
      return {{.code = 200, .body = R"({"kind":"Status","apiVersion":"v1","status":"Success"})"},
              std::move(write)};
    }
    if (before_.empty()) return {Missing(), std::nullopt};
    const json::Value& wanted = body_["preconditions"];
    if (!Holds(wanted["uid"], before_.uid()) || !HoldsVersion(wanted)) return Conflict();
    if (before_.IsDeleting()) return {*live_, std::nullopt};
    ShadowedWrite write = Write("delete");
    write.fingerprint = FingerprintOf(json::Value(before_.uid()));
    // The answer shows an object that finalizers keep, so that no cache forgets it.
    json::Value leaving = before_.root();
    leaving.Set({"metadata", "deletionTimestamp"}, "1970-01-01T00:00:00Z");
    return {WouldBe(200, std::move(leaving)), std::move(write)};
  }

  ShadowedAnswer Change() {
    const json::Value& wanted = body_["metadata"];
    if (!Holds(wanted["uid"], before_.uid()) || !HoldsVersion(wanted)) return Conflict();
    absl::StatusOr<json::Value> after = After();
    if (!after.ok()) return {Refusal(422, "Invalid", at_, after.status().message()), std::nullopt};
    // Both sides get the same version, so that it is not shown as a change.
    after->Set({"metadata", "resourceVersion"}, before_.resource_version());
    ShadowedWrite write = Write(request_.method == "PUT" ? "update" : "patch");
    const json::Value patch = DiffMergePatch(before_.root(), *after);
    if (patch.is_null() || patch.empty()) return {*live_, std::nullopt};
    HttpResponse response = WouldBe(200, *after);
    if (IsRenewal(before_, patch)) return {std::move(response), std::nullopt};
    write.changes = ChangesOf(before_.root(), *after);
    write.fields = base::CutText(PathsOf(patch, kMostFields), kMostFieldBytes);
    write.patch = PatchText(write.gvk, patch);
    write.fingerprint = FingerprintOf(patch);
    return {std::move(response), std::move(write)};
  }

  // An apply of an object that exists is merged by the rules of a strategic patch: who owns which
  // fields is only known to the server.
  absl::StatusOr<json::Value> After() const {
    const absl::string_view type = request_.content_type;
    if (request_.method == "PUT") return Replaced();
    if (absl::StartsWith(type, "application/json-patch")) {
      return ApplyJsonPatch(before_.root(), without_precondition_ ? WithoutTests(body_) : body_);
    }
    if (absl::StartsWith(type, "application/merge-patch")) {
      return ApplyMergePatch(before_.root(), body_);
    }
    return ApplyStrategicMergePatch(before_.root(), body_);
  }

  // Returns what replaces the object: the server keeps what it owns, and a status that is not
  // given.
  json::Value Replaced() const {
    if (at_.subresource == "status") {
      json::Value after = before_.root();
      after.Set("status", body_["status"]);
      return after;
    }
    json::Value after = body_;
    if (after["status"].is_null() && !before_.status().is_null()) {
      after.Set("status", before_.status());
    }
    for (const json::Member& member : before_.metadata().members()) {
      const absl::string_view name = member.name();
      if (name == "uid" || name == "creationTimestamp" || name == "managedFields" ||
          name == "generation" || name == "selfLink") {
        after.Set({"metadata", name}, member.value);
      }
    }
    return after;
  }

  static bool Holds(const json::Value& wanted, absl::string_view present) {
    return wanted.AsString().empty() || wanted.AsString() == present;
  }
  bool HoldsVersion(const json::Value& wanted) const {
    return without_precondition_ || Holds(wanted["resourceVersion"], before_.resource_version());
  }
  ShadowedAnswer Conflict() const {
    return {Refusal(409, "Conflict", at_, "has been modified"), std::nullopt};
  }

  const HttpRequest& request_;
  Address at_;
  const json::Value body_;
  const bool without_precondition_;
  const HttpResponse* live_ = nullptr;
  Object before_;  // Empty if it is not there.
};

}  // namespace

bool IsReadRequest(const HttpRequest& request) {
  if (request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS") {
    return true;
  }
  if (request.method != "POST") return false;
  const Address at = AddressOf(request.path);
  if (!at.name.empty()) return false;
  if (at.group == "authentication.k8s.io") {
    return at.plural == "tokenreviews" || at.plural == "selfsubjectreviews";
  }
  return at.group == "authorization.k8s.io" &&
         (at.plural == "subjectaccessreviews" || at.plural == "localsubjectaccessreviews" ||
          at.plural == "selfsubjectaccessreviews" || at.plural == "selfsubjectrulesreviews");
}

std::string PathToRead(const HttpRequest& request) {
  const Address at = AddressOf(request.path);
  std::string name = at.name;
  if (name.empty() && request.method == "POST") {
    const std::string given = Parsed(request.body)["metadata"]["name"].ToString();
    if (IsPathSegment(given)) name = EscapeSegment(given);
  }
  if (name.empty() || (request.method == "POST" && !at.subresource.empty())) return "";
  std::string path = absl::StrCat(at.collection, "/", name);
  if (at.subresource == kScale) absl::StrAppend(&path, "/", kScale);
  return path;
}

std::string TargetPath(const HttpRequest& request) {
  const std::string path = request.path.substr(0, request.path.find('?'));
  if (request.method != "POST" || !AddressOf(path).name.empty()) return path;
  const json::Value body = Parsed(request.body);
  const json::Value& metadata = body["metadata"];
  const bool is_named = !metadata["name"].AsString().empty();
  return absl::StrCat(path, "/", metadata[is_named ? "name" : "generateName"].AsString());
}

ShadowedAnswer AnswerWrite(const HttpRequest& request, const HttpResponse* live,
                           bool without_precondition) {
  return Answerer(request, live, without_precondition).Answer();
}

absl::StatusOr<ShadowedAnswer> AskShadowed(Transport& server, const HttpRequest& request,
                                           bool without_precondition, const base::StopToken& stop) {
  const std::string path = PathToRead(request);
  if (path.empty()) return AnswerWrite(request, nullptr, without_precondition);
  absl::StatusOr<HttpResponse> live = server.Send(ReadOf(request, path), stop);
  if (!live.ok()) return live.status();
  return AnswerWrite(request, &*live, without_precondition);
}

}  // namespace kube::internal
