// Status of kinds that count replicas: reflects a member's counters and sums them up.
//
// The loops write the template's generation into the annotation
// resourcetemplate.karmada.io/generation of each member object; these kinds report it back, so that
// the aggregated observedGeneration moves only when every member runs the current template.
#ifndef INTERPRETER_NATIVE_WORKLOAD_STATUS_H_
#define INTERPRETER_NATIVE_WORKLOAD_STATUS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "interpreter/interpreter.h"
#include "interpreter/native/typed_fields.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// A number in the status. `always` means that it is written even when 0.
struct Counter {
  absl::string_view name;
  bool always = false;
};

// Returns the list of what ReflectCounters writes, made once per kind so that the names need not be
// made for each answer: an object with the counters, `generation` and `resourceTemplateGeneration`,
// whose values are true where a 0 is written too.
json::Value NamesOf(absl::Span<const Counter> counters);
// Returns the counters of the member object's status, `generation` and
// `resourceTemplateGeneration`, as NamesOf lists them. kInvalidArgument when the annotation or a
// counter is not a number.
absl::StatusOr<json::Value> ReflectCounters(const kube::Object& object, const json::Value& names);

// Determines when a member counts as running the template's current generation.
enum class GenerationGate {
  // It has observed its own generation, and was made from the template's generation or a later one.
  kTemplate,
  // As kTemplate, but a member whose status lacks observedGeneration has observed its own
  // generation when the workload is healthy there, which includes that.
  kTemplateOrHealthy,
};

// Returns whether the item, which has a status, runs `template_generation` by that gate. Reading
// errors are left in `status`, the item's status.
bool RunsGeneration(const json::Value& item, Fields& status, int64_t template_generation,
                    GenerationGate gate);

// Sums up the counters of the items that have a status; the rest of the status stays.
// observedGeneration becomes the template's generation once every item passes the gate, those
// without status included.
absl::StatusOr<kube::Object> AggregateCounters(const kube::Object& object,
                                               const AggregatedItems& items,
                                               absl::Span<const Counter> counters,
                                               GenerationGate gate);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_WORKLOAD_STATUS_H_
