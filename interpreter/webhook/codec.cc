#include "interpreter/webhook/codec.h"

#include "interpreter/webhook/context_codec.h"
#include "interpreter/webhook/explore_codec.h"

namespace interpreter::webhook {

const Codec& CodecOf(Dialect dialect) {
  static const auto& context = *new ContextCodec;
  static const auto& explore = *new ExploreCodec;
  if (dialect == Dialect::kExploreReview) return explore;
  return context;
}

}  // namespace interpreter::webhook
