// Encodes questions as request bodies of a dialect, and decodes response bodies to answers.
//
//   const Codec& codec = CodecOf(hook.dialect);
//   const Call call{question, base::NewUuid()};
//   const std::string body = codec.Encode(call);
//   ASSIGN_OR_RETURN(const Answer answer, codec.Decode(call, response_body));
#ifndef INTERPRETER_WEBHOOK_CODEC_H_
#define INTERPRETER_WEBHOOK_CODEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "interpreter/interpreter.h"
#include "interpreter/webhook/hook.h"

namespace interpreter::webhook {

// A question to a hook.
struct Call {
  const Question& question;
  std::string uid;  // Identifies this call; the response must repeat it.
};

// Stateless, thread-safe.
class Codec {
 public:
  virtual ~Codec() = default;
  // REQUIRES: the dialect has the operation.
  virtual std::string Encode(const Call& call) const = 0;
  // Returns the answer, whose object is the question's with the response's patch.
  // Errors carry a FailureReason: kUnreadable (kInternal) when the body is not a message of the
  // dialect, kInvalidResponse (kInternal) when it does not answer the question, kRejected
  // (kFailedPrecondition) when the hook reports a failure, kPatch when the patch does not apply.
  // Texts are upstream's, from after `failed calling webhook "<uid>": `.
  virtual absl::StatusOr<Answer> Decode(const Call& call, absl::string_view body) const = 0;
};

const Codec& CodecOf(Dialect dialect);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_CODEC_H_
