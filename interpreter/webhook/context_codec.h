// Messages of kind ResourceInterpreterContext (config.karmada.io/v1alpha1).
#ifndef INTERPRETER_WEBHOOK_CONTEXT_CODEC_H_
#define INTERPRETER_WEBHOOK_CONTEXT_CODEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "interpreter/webhook/codec.h"

namespace interpreter::webhook {

// Writes and reads the messages as upstream's package customized/webhook/request does, including
// its quirks: `replicas` is in every request, cut to 32 bits.
class ContextCodec : public Codec {
 public:
  std::string Encode(const Call& call) const override;
  absl::StatusOr<Answer> Decode(const Call& call, absl::string_view body) const override;
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_CONTEXT_CODEC_H_
