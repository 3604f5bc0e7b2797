// A webhook's response is an answer or an error, in both dialects and for every operation; an
// answer's patch applies or is refused, and its result can be written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "interpreter/webhook/codec.h"
#include "interpreter/webhook/failure.h"
#include "kube/meta/patch.h"

namespace {

using interpreter::webhook::Answer;
using interpreter::webhook::CodecOf;
using interpreter::webhook::Dialect;
using interpreter::webhook::FailureReason;
using interpreter::webhook::Question;

constexpr FailureReason kLastOfCodecs = FailureReason::kPatch;

const kube::Object& Sample() {
  static const auto& object = *new kube::Object(
      json::Parse(R"({"apiVersion":"e.io/v1","kind":"W","metadata":{"name":"w","namespace":"n"},)"
                  R"("spec":{"replicas":1,"list":[1,2,{"a":null}]},"status":{}})")
          .value());
  return object;
}

void CheckAnswer(const Question& question, const Answer& answer) {
  if (!answer.patch.is_null()) {
    const auto patched = kube::ApplyJsonPatch(question.object.root(), answer.patch);
    if (patched.ok() && !json::Parse(json::Write(*patched)).ok()) std::abort();
  }
  for (const json::Value* part : {&answer.components, &answer.dependencies, &answer.status,
                                  &answer.new_status, &answer.replicas.requirements}) {
    if (!json::Parse(json::Write(*part)).ok()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view body(reinterpret_cast<const char*>(data), size);
  for (const Dialect dialect : {Dialect::kInterpreterContext, Dialect::kExploreReview}) {
    for (const interpreter::Operation op : interpreter::kAllOperations) {
      const Question question{.operation = op, .uid = "u", .object = Sample()};
      const auto answer = CodecOf(dialect).Decode(question, body);
      if (answer.ok()) CheckAnswer(question, *answer);
      // Only the breaker and the client give the other reasons.
      if (!answer.ok() && interpreter::webhook::ReasonOf(answer.status()) > kLastOfCodecs) {
        std::abort();
      }
    }
  }
  return 0;
}
