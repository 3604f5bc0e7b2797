#include "api/preserved_state.h"

#include <algorithm>
#include <vector>

#include "api/keys.h"
#include "kube/meta/annotation_limit.h"

namespace api {
namespace {

constexpr absl::string_view kLabels = "preservedLabelState";
constexpr absl::string_view kClustersBefore = "clustersBeforeFailover";

}  // namespace

json::Value PreservedStateFor(const BindingView& binding, absl::string_view cluster) {
  if (binding.DispatchTargets().size() != 1) return nullptr;
  std::vector<EvictionTask> tasks = binding.EvictionTasks();
  std::erase_if(tasks, [](const EvictionTask& task) { return task.KeepsAway(); });
  const json::Value state =
      tasks.empty() ? KeptPreservedState(binding.object()) : PreservedStateOf(tasks.back());
  const auto before = state[kClustersBefore].items();
  const bool was_there = std::any_of(before.begin(), before.end(), [&](const json::Value& name) {
    return name.AsString() == cluster;
  });
  return was_there ? json::Value() : state[kLabels];
}

json::Value PreservedStateOf(const EvictionTask& task) {
  if (!task.PurgesAtOnce() || task.json[kLabels].empty()) return nullptr;
  return json::Value::Object(
      {{kLabels, task.json[kLabels]}, {kClustersBefore, task.json[kClustersBefore]}});
}

json::Value KeptPreservedState(const kube::Object& binding) {
  absl::StatusOr<json::Value> state = json::Parse(binding.Annotation(kPreservedStateAnnotation));
  return state.ok() && state->is_object() ? *std::move(state) : json::Value();
}

void SetKeptPreservedState(kube::Object& binding, const json::Value& state) {
  if (state.is_null()) {
    binding.EraseAnnotation(kPreservedStateAnnotation);
  } else if (state != KeptPreservedState(binding)) {
    binding.SetAnnotation(kPreservedStateAnnotation, json::Write(state));
    const bool fits = kube::AnnotationBytes(binding) <= kube::kMaxAnnotationBytes;
    if (!fits) binding.EraseAnnotation(kPreservedStateAnnotation);
  }
}

}  // namespace api
