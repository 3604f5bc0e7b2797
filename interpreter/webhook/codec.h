// The messages of a dialect: a question as a request body, a response body as an answer.
//
//   const Codec& codec = CodecOf(hook.dialect);
//   const std::string body = codec.Encode(question);
//   ASSIGN_OR_RETURN(const Answer answer, codec.Decode(question, response_body));
#ifndef INTERPRETER_WEBHOOK_CODEC_H_
#define INTERPRETER_WEBHOOK_CODEC_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "interpreter/webhook/hook.h"
#include "kube/meta/object.h"

namespace interpreter::webhook {

// What is asked. Objects are cheap to copy.
struct Question {
  Operation operation;
  std::string uid;        // Identifies this call; the answer must carry it.
  kube::Object object;    // The template, or the member's object: interpreter.h.
  kube::Object observed;  // Retain.
  int64_t replicas = 0;   // ReviseReplica.
  AggregatedItems items;  // AggregateStatus.
};

// What was answered; only the members of the question's operation mean anything.
struct Answer {
  Replicas replicas;         // InterpretReplica.
  json::Value components;    // InterpretComponent: an array.
  json::Value dependencies;  // InterpretDependency: an array, validated.
  json::Value status;        // InterpretStatus; null when there is none.
  bool healthy = false;      // InterpretHealth.
  // ReviseReplica, Retain, AggregateStatus, Prune: RFC 6902 operations for the question's object;
  // null leaves it as it is.
  json::Value patch;
  // AggregateStatus: the whole new status, instead of a patch; null when not given. (Only
  // kExploreReview.)
  json::Value new_status;
};

// Stateless, thread-safe.
class Codec {
 public:
  virtual ~Codec() = default;
  // REQUIRES: the dialect has the operation.
  virtual std::string Encode(const Question& question) const = 0;
  // Errors carry a FailureReason: kUnreadable (kInternal) for what is no message of the dialect,
  // kInvalidResponse (kInternal) for what is no answer to the question, kRejected
  // (kFailedPrecondition) when the hook says that it failed. Texts are upstream's, from after
  // `failed calling webhook "<uid>": `.
  virtual absl::StatusOr<Answer> Decode(const Question& question, absl::string_view body) const = 0;
};

const Codec& CodecOf(Dialect dialect);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_CODEC_H_
