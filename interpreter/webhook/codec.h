// Encodes questions as request bodies of a dialect, and decodes response bodies to answers.
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

// A call of an operation. Objects are cheap to copy.
struct Question {
  Operation operation;
  std::string uid;        // Identifies this call; the answer must repeat it.
  kube::Object object;    // The template or the member's object, as in interpreter.h.
  kube::Object observed;  // For Retain.
  int64_t replicas = 0;   // For ReviseReplica.
  AggregatedItems items;  // For AggregateStatus.
};

// The result of an operation; only the members for the question's operation are set.
struct Answer {
  Replicas replicas;           // For InterpretReplica.
  json::Value components;      // For InterpretComponent: an array.
  json::Value dependencies;    // For InterpretDependency: an array, validated.
  json::Value status;          // For InterpretStatus; null when there is none.
  interpreter::Health health;  // For InterpretHealth.
  // For ReviseReplica, Retain, AggregateStatus and Prune: RFC 6902 operations on the question's
  // object; null means no change.
  json::Value patch;
  // For AggregateStatus: the whole new status, instead of a patch; null when not given. (Only
  // kExploreReview.)
  json::Value new_status;
};

// Stateless, thread-safe.
class Codec {
 public:
  virtual ~Codec() = default;
  // REQUIRES: the dialect has the operation.
  virtual std::string Encode(const Question& question) const = 0;
  // Errors carry a FailureReason: kUnreadable (kInternal) when the body is not a message of the
  // dialect, kInvalidResponse (kInternal) when it does not answer the question, kRejected
  // (kFailedPrecondition) when the hook reports a failure. Texts are upstream's, from after `failed
  // calling webhook "<uid>": `.
  virtual absl::StatusOr<Answer> Decode(const Question& question, absl::string_view body) const = 0;
};

const Codec& CodecOf(Dialect dialect);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_CODEC_H_
