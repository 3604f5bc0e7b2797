// Messages of kind ExploreReview (config.karmada.io/v1alpha1).
#ifndef INTERPRETER_WEBHOOK_EXPLORE_CODEC_H_
#define INTERPRETER_WEBHOOK_EXPLORE_CODEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "interpreter/webhook/codec.h"

namespace interpreter::webhook {

// Writes and reads the messages as the proposal of that API describes them. Where the proposal says
// nothing, ExploreRetaining carries the member's object as `observedObject`, as
// ResourceInterpreterContext does, because nothing could be retained without it; ExploreStatus
// without `status` means that there is none; an answer to ExploreStatusAggregating is a patch of
// the template or its whole new status.
class ExploreCodec : public Codec {
 public:
  std::string Encode(const Call& call) const override;
  absl::StatusOr<Answer> Decode(const Call& call, absl::string_view body) const override;
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_EXPLORE_CODEC_H_
