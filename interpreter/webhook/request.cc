#include "interpreter/webhook/request.h"

#include <utility>

#include "api/webhook_configuration.h"
#include "kube/meta/object.h"

namespace interpreter::webhook {

json::Value RequestOf(const Call& call, Dialect dialect) {
  const Question& question = call.question;
  const kube::Gvk gvk = question.object.gvk();
  json::Value request = json::Value::Object(
      {{"uid", call.uid},
       {"kind",
        json::Value::Object({{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}})},
       {"name", question.object.name()},
       {"operation", OperationNameIn(dialect, question.operation)},
       {"object", question.object.root()}});
  if (!question.object.ns().empty()) request.Set("namespace", question.object.ns());
  if (question.operation == Operation::kRetain) {
    request.Set("observedObject", question.observed.root());
  }
  if (question.operation == Operation::kAggregateStatus && !question.items.empty()) {
    request.Set("aggregatedStatus", question.items);
  }
  return request;
}

std::string MessageOf(absl::string_view kind, json::Value request) {
  return json::Write(json::Value::Object(
      {{"apiVersion", api::kConfigApiVersion}, {"kind", kind}, {"request", std::move(request)}}));
}

}  // namespace interpreter::webhook
