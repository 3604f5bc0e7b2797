// ResponseOf takes the response out of a message: JSON, of the right kind and version, with the uid
// of the request. The readers below take one member each, as Go's decoder would, and ReadAnswer
// chooses them by operation. Every error has a reason (failure.h), because it decides what happens
// next: what is not a review at all (kUnreadable) may come from a proxy and shows nothing about the
// webhook, while a review with wrong contents is its answer. No state.

#include "interpreter/webhook/response.h"

#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/webhook_configuration.h"
#include "base/status.h"
#include "interpreter/dependency_validation.h"
#include "interpreter/typed_results.h"
#include "interpreter/webhook/failure.h"
#include "kube/meta/patch.h"

namespace interpreter::webhook {

namespace {

constexpr char kJsonPatch[] = "JSONPatch";

absl::Status WrongType(absl::string_view name, absl::string_view wanted) {
  return Undecodable(absl::StrCat("response.", name, " is not ", wanted));
}

absl::Status CheckMessage(const json::Value& message, absl::string_view kind) {
  if (!message.is_object()) return Unreadable("the body is not a JSON object");
  for (const char* member : {"apiVersion", "kind"}) {
    if (!message[member].is_null() && !message[member].is_string()) {
      return Unreadable(absl::StrCat(member, " is not a string"));
    }
  }
  // Both may be missing, as upstream's decoder allows.
  const absl::string_view version = message["apiVersion"].AsString(api::kConfigApiVersion);
  const absl::string_view given = message["kind"].AsString(kind);
  if (version == api::kConfigApiVersion && given == kind) return absl::OkStatus();
  return Unreadable(absl::StrCat("expected a ", kind, " of ", api::kConfigApiVersion, ", got a ",
                                 given, " of ", version));
}

}  // namespace

absl::Status InvalidResponse(absl::string_view what) {
  return WithReason(absl::InternalError(absl::StrCat("received invalid webhook response: ", what)),
                    FailureReason::kInvalidResponse);
}

absl::Status Undecodable(absl::string_view what) {
  return WithReason(absl::InternalError(absl::StrCat("failed to call webhook: ", what)),
                    FailureReason::kInvalidResponse);
}

absl::Status Unreadable(absl::string_view what) {
  return WithReason(Undecodable(what), FailureReason::kUnreadable);
}

absl::StatusOr<json::Value> ResponseOf(absl::string_view body, absl::string_view kind,
                                       absl::string_view uid) {
  const absl::StatusOr<json::Value> message = json::Parse(body);
  if (!message.ok()) {
    return Unreadable(absl::StrCat("the body is not JSON: ", message.status().message()));
  }
  RETURN_IF_ERROR(CheckMessage(*message, kind));
  const json::Value& response = (*message)["response"];
  // JSON from another server has no response either ({"error":"no healthy upstream"}).
  if (response.is_null()) {
    return WithReason(InvalidResponse("webhook response was absent"), FailureReason::kUnreadable);
  }
  if (!response.is_object()) return Unreadable("response is not an object");
  ASSIGN_OR_RETURN(const auto given, FindText(response, "uid"));
  // The answer to another question, as of a webhook that mixes up its requests.
  if (given.value_or("") != uid) {
    return InvalidResponse(
        absl::StrCat("expected response.uid \"", uid, "\", got ", json::Write(given.value_or(""))));
  }
  return response;
}

absl::StatusOr<std::optional<int32_t>> FindInt32(const json::Value& response,
                                                 absl::string_view name) {
  const json::Value& value = response[name];
  if (value.is_null()) return std::optional<int32_t>();
  constexpr int64_t kLowest = std::numeric_limits<int32_t>::min();
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  if (!value.is_int() || value.AsInt() < kLowest || value.AsInt() > kHighest) {
    return WrongType(name, "a 32-bit number");
  }
  return std::optional<int32_t>(static_cast<int32_t>(value.AsInt()));
}

absl::StatusOr<std::optional<bool>> FindBool(const json::Value& response, absl::string_view name) {
  const json::Value& value = response[name];
  if (value.is_null()) return std::optional<bool>();
  if (!value.is_bool()) return WrongType(name, "a boolean");
  return std::optional<bool>(value.AsBool());
}

absl::StatusOr<std::optional<std::string>> FindText(const json::Value& response,
                                                    absl::string_view name) {
  const json::Value& value = response[name];
  if (value.is_null()) return std::optional<std::string>();
  if (!value.is_string()) return WrongType(name, "a string");
  return std::optional<std::string>(value.ToString());
}

absl::StatusOr<json::Value> FindObjectOrNull(const json::Value& response, absl::string_view name) {
  const json::Value& value = response[name];
  if (!value.is_null() && !value.is_object()) return WrongType(name, "an object");
  return value;
}

absl::StatusOr<json::Value> FindTyped(const json::Value& response, absl::string_view name,
                                      TypedReader read) {
  const json::Value& value = response[name];
  if (value.is_null()) return json::Value();
  absl::StatusOr<json::Value> typed = read(value);
  if (typed.ok()) return typed;
  return Undecodable(absl::StrCat("response.", name, ": ", typed.status().message()));
}

absl::StatusOr<json::Value> ReadPatch(const json::Value& response) {
  ASSIGN_OR_RETURN(const auto patch, FindText(response, "patch"));
  ASSIGN_OR_RETURN(const auto type, FindText(response, "patchType"));
  const bool has_patch = patch.has_value() && !patch->empty();
  // Nothing to change. One without the other is a mistake, as for upstream.
  if (!has_patch && !type.has_value()) return json::Value();
  if (!type.has_value()) return InvalidResponse("webhook returned nil response.patchType");
  if (!has_patch) return InvalidResponse("webhook returned empty response.patch");
  if (*type != kJsonPatch) {
    return InvalidResponse(
        absl::StrCat("webhook returned invalid response.patchType of ", json::Write(*type)));
  }
  std::string text;
  if (!absl::Base64Unescape(*patch, &text)) return WrongType("patch", "base64");
  const absl::StatusOr<json::Value> operations = json::Parse(text);
  if (operations.ok() && operations->is_array()) return *operations;
  return WithReason(
      absl::InternalError(absl::StrCat(
          "response.patch is not a JSON patch: ",
          operations.ok() ? "it is not a list of operations" : operations.status().message())),
      FailureReason::kPatch);
}

absl::StatusOr<kube::Object> Patched(const kube::Object& object, const json::Value& patch) {
  if (patch.empty()) return object;
  auto root = kube::ApplyJsonPatch(object.root(), patch);
  if (!root.ok()) return WithReason(root.status(), FailureReason::kPatch);
  if (!root->is_object() || (*root)["kind"].AsString().empty()) {
    return WithReason(absl::InternalError("the patch leaves no object with a kind"),
                      FailureReason::kPatch);
  }
  // An equal value means that nothing changes.
  return *root == object.root() ? object : kube::Object(*std::move(root));
}

namespace {

// Reads `replicas` (required) and `replicaRequirements`, as those of scripts are read.
absl::StatusOr<Replicas> ReadReplicas(const json::Value& response) {
  ASSIGN_OR_RETURN(const auto replicas, FindInt32(response, "replicas"));
  if (!replicas.has_value()) return InvalidResponse("webhook returned nil response.replicas");
  ASSIGN_OR_RETURN(json::Value requirements,
                   FindTyped(response, "replicaRequirements", &interpreter::ReadRequirements));
  return Replicas{*replicas, std::move(requirements)};
}

// Reads and validates `dependencies`.
absl::StatusOr<json::Value> ReadDependencies(const json::Value& response) {
  ASSIGN_OR_RETURN(json::Value dependencies,
                   FindTyped(response, "dependencies", &interpreter::ReadDependencies));
  if (dependencies.is_null()) return json::Value::Array();
  const absl::Status valid = ValidateDependencies(dependencies);
  if (!valid.ok()) return InvalidResponse(valid.message());
  return dependencies;
}

// Reads `healthy` (required) and `healthMessage`, a text of ours that upstream does not know.
absl::StatusOr<interpreter::Health> ReadHealth(const json::Value& response) {
  ASSIGN_OR_RETURN(const auto healthy, FindBool(response, "healthy"));
  if (!healthy.has_value()) return InvalidResponse("webhook returned nil response.healthy");
  ASSIGN_OR_RETURN(auto message, FindText(response, "healthMessage"));
  return interpreter::Health(*healthy, std::move(message).value_or(""));
}

}  // namespace

absl::StatusOr<Answer> ReadAnswer(const Question& question, const json::Value& response) {
  if (ReturnsObject(question.operation)) {
    ASSIGN_OR_RETURN(const json::Value patch, ReadPatch(response));
    return Patched(question.object, patch);
  }
  switch (question.operation) {
    case Operation::kInterpretReplica:
      return ReadReplicas(response);
    case Operation::kInterpretDependency:
      return ReadDependencies(response);
    case Operation::kInterpretHealth:
      return ReadHealth(response);
    default:
      return InvalidResponse("the dialect has no such operation");
  }
}

}  // namespace interpreter::webhook
