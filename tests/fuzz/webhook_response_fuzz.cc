// A webhook's response is an answer or an error, in both dialects and for every operation; an
// answer's patch applies or is refused, and its result can be written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <variant>

#include "interpreter/webhook/codec.h"
#include "interpreter/webhook/failure.h"
#include "kube/meta/object.h"

namespace {

using interpreter::Answer;
using interpreter::Question;
using interpreter::webhook::CodecOf;
using interpreter::webhook::Dialect;
using interpreter::webhook::FailureReason;

constexpr FailureReason kLastOfCodecs = FailureReason::kPatch;

const kube::Object& Sample() {
  static const auto& object = *new kube::Object(
      json::Parse(R"({"apiVersion":"e.io/v1","kind":"W","metadata":{"name":"w","namespace":"n"},)"
                  R"("spec":{"replicas":1,"list":[1,2,{"a":null}]},"status":{}})")
          .value());
  return object;
}

void CheckWritable(const json::Value& part) {
  if (!json::Parse(json::Write(part)).ok()) std::abort();
}

void CheckAnswer(const Answer& answer) {
  if (const auto* value = std::get_if<json::Value>(&answer)) CheckWritable(*value);
  if (const auto* object = std::get_if<kube::Object>(&answer)) CheckWritable(object->root());
  if (const auto* replicas = std::get_if<interpreter::Replicas>(&answer)) {
    CheckWritable(replicas->requirements);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view body(reinterpret_cast<const char*>(data), size);
  for (const Dialect dialect : {Dialect::kInterpreterContext, Dialect::kExploreReview}) {
    for (const interpreter::Operation op : interpreter::kAllOperations) {
      const Question question{.operation = op, .object = Sample()};
      const auto answer = CodecOf(dialect).Decode({question, "u"}, body);
      if (answer.ok()) CheckAnswer(*answer);
      // Only the breaker and the client give the other reasons.
      if (!answer.ok() && interpreter::webhook::ReasonOf(answer.status()) > kLastOfCodecs) {
        std::abort();
      }
    }
  }
  return 0;
}
