// Reads both forms of messages that Karmada sends, ResourceInterpreterContext and the older
// ExploreReview, and answers in the form of the question. They differ in the names of operations
// and in how an error is told: a context has a response that says "successful: false", a review has
// none, so its error is the HTTP code.

#include "examples/webhook/messages.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "examples/webhook/workload.h"

namespace example {

namespace {

constexpr int kOk = 200, kBadRequest = 400, kInternal = 500;

using Function = absl::StatusOr<json::Value> (*)(const json::Value& request);

struct KnownOperation {
  absl::string_view context_name;  // Its name in a ResourceInterpreterContext.
  absl::string_view review_name;   // Its name in an ExploreReview; "" when it has none.
  Function answer;
};
constexpr KnownOperation kOperations[] = {
    {"InterpretReplica", "ExploreReplica", &Replicas},
    {"InterpretComponent", "", &Components},
    {"ReviseReplica", "ExploreReplicaRevising", &ReviseReplica},
    {"Retain", "ExploreRetaining", &Retain},
    {"AggregateStatus", "ExploreStatusAggregating", &AggregateStatus},
    {"InterpretDependency", "ExploreDependencies", &Dependencies},
    {"InterpretStatus", "ExploreStatus", &Status},
    {"InterpretHealth", "ExploreHealthy", &Health},
    {"Prune", "ExplorePacking", &Prune},
};

bool IsReview(const json::Value& message) { return message["kind"].AsString() == "ExploreReview"; }

absl::StatusOr<json::Value> Answer(const json::Value& request, bool review) {
  if (request.Get({"kind", "kind"}).AsString() != "Workload") {
    return absl::InvalidArgumentError("this webhook knows Workloads only");
  }
  const absl::string_view wanted = request["operation"].AsString();
  for (const KnownOperation& known : kOperations) {
    const absl::string_view name = review ? known.review_name : known.context_name;
    if (!name.empty() && name == wanted) return known.answer(request);
  }
  return absl::InvalidArgumentError(absl::StrCat("no such operation: ", wanted));
}

base::HttpResponse Send(const json::Value& message, json::Value response) {
  // Karmada refuses an answer with another uid.
  response.Set("uid", message.Get({"request", "uid"}));
  return {.code = kOk,
          .body = json::Write(json::Value::Object({{"apiVersion", message["apiVersion"]},
                                                   {"kind", message["kind"]},
                                                   {"response", std::move(response)}}))};
}

base::HttpResponse Refuse(int code, absl::string_view why) {
  return {.code = code, .content_type = "text/plain", .body = std::string(why)};
}

base::HttpResponse AnswerReview(const json::Value& message) {
  absl::StatusOr<json::Value> response = Answer(message["request"], /*review=*/true);
  if (!response.ok()) return Refuse(kInternal, response.status().message());
  if (response->Has("rawStatus")) {  // An ExploreReview calls this member "status".
    response->Set("status", (*response)["rawStatus"]);
    response->Erase("rawStatus");
  }
  return Send(message, *std::move(response));
}

base::HttpResponse AnswerContext(const json::Value& message) {
  absl::StatusOr<json::Value> response = Answer(message["request"], /*review=*/false);
  if (!response.ok()) {
    const json::Value status =
        json::Value::Object({{"code", kBadRequest}, {"message", response.status().message()}});
    return Send(message, json::Value::Object({{"successful", false}, {"status", status}}));
  }
  response->Set("successful", true);
  return Send(message, *std::move(response));
}

}  // namespace

base::HttpResponse AnswerTo(const base::HttpRequest& request) {
  if (request.method != "POST") return Refuse(kBadRequest, "only POST is understood");
  const absl::StatusOr<json::Value> message = json::Parse(request.body);
  if (!message.ok()) return Refuse(kBadRequest, message.status().message());
  if (!(*message)["request"].is_object()) return Refuse(kBadRequest, "there is no request");
  return IsReview(*message) ? AnswerReview(*message) : AnswerContext(*message);
}

}  // namespace example
