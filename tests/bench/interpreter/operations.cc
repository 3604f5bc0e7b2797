#include "tests/bench/interpreter/operations.h"

#include <time.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "cmd/interpret/allocations.h"
#include "interpreter/customized/customization.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/customized/lua_backend.h"
#include "interpreter/customized/shipped.h"

namespace bench {

namespace {

using interpreter::Interpreter;
using interpreter::customized::Customization;
using interpreter::customized::CustomizationSet;
using interpreter::customized::LuaBackend;
using WallClock = std::chrono::steady_clock;

// The replicas that ReviseReplica sets; upstream/main.go uses the same number.
constexpr int64_t kReplicasSet = 7;
// How many calls are made before the clock is read again.
constexpr int kBatch = 64;
// How many calls' bytes are counted: many, so that rare allocations (a growing slab) weigh little.
constexpr int kCountedCalls = 2000;

std::unique_ptr<LuaBackend> NewScripts(absl::string_view layer, const InterpreterOptions& options,
                                       std::shared_ptr<const CustomizationSet> set) {
  interpreter::customized::LuaBackendOptions lua;
  lua.layer = layer;
  lua.metrics = options.metrics;
  if (options.script_bytes != nullptr) {
    lua.on_run = [bytes = options.script_bytes](const lua::Usage& usage) {
      bytes->fetch_add(usage.garbage, std::memory_order_relaxed);
    };
  }
  auto backend = std::make_unique<LuaBackend>(lua);
  backend->Replace(std::move(set));
  return backend;
}

double SecondsOnCpu() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double SecondsSince(WallClock::time_point began) {
  return std::chrono::duration<double>(WallClock::now() - began).count();
}

// Returns how many calls were made within `length`.
absl::StatusOr<int64_t> RunFor(const Interpreter& chain, const BenchOperation& op,
                               const Subject& subject, absl::Duration length) {
  const auto end = WallClock::now() + absl::ToChronoNanoseconds(length);
  int64_t calls = 0;
  do {
    for (int i = 0; i < kBatch; ++i) RETURN_IF_ERROR(op.run(chain, subject));
    calls += kBatch;
  } while (WallClock::now() < end);
  return calls;
}

absl::StatusOr<json::Value> ReplicasAnswer(const Interpreter& chain, const Subject& subject) {
  ASSIGN_OR_RETURN(interpreter::Replicas replicas, chain.GetReplicas(subject.object));
  return json::Value::Object(
      {{"replicas", replicas.replicas}, {"requirements", std::move(replicas.requirements)}});
}

constexpr BenchOperation kOperations[] = {
    {"InterpretHealth",
     [](const Interpreter& chain, const Subject& s) {
       return chain.InterpretHealth(s.object).status();
     },
     [](const Interpreter& chain, const Subject& s) -> absl::StatusOr<json::Value> {
       ASSIGN_OR_RETURN(const interpreter::Health health, chain.InterpretHealth(s.object));
       return json::Value(health.healthy);
     }},
    {"InterpretReplica",
     [](const Interpreter& chain, const Subject& s) {
       return chain.GetReplicas(s.object).status();
     },
     ReplicasAnswer},
    {"InterpretStatus",
     [](const Interpreter& chain, const Subject& s) {
       return chain.ReflectStatus(s.object).status();
     },
     [](const Interpreter& chain, const Subject& s) { return chain.ReflectStatus(s.object); }},
    {"InterpretDependency",
     [](const Interpreter& chain, const Subject& s) {
       return chain.GetDependencies(s.object).status();
     },
     [](const Interpreter& chain, const Subject& s) { return chain.GetDependencies(s.object); }},
    {"ReviseReplica",
     [](const Interpreter& chain, const Subject& s) {
       return chain.ReviseReplica(s.object, kReplicasSet).status();
     },
     [](const Interpreter& chain, const Subject& s) -> absl::StatusOr<json::Value> {
       ASSIGN_OR_RETURN(const kube::Object revised, chain.ReviseReplica(s.object, kReplicasSet));
       return revised.root();
     }},
    {"AggregateStatus",
     [](const Interpreter& chain, const Subject& s) {
       return chain.AggregateStatus(s.object, s.items).status();
     },
     [](const Interpreter& chain, const Subject& s) -> absl::StatusOr<json::Value> {
       ASSIGN_OR_RETURN(const kube::Object total, chain.AggregateStatus(s.object, s.items));
       return total.root();
     }},
};

}  // namespace

std::unique_ptr<Interpreter> NewInterpreter(InterpreterOptions options) {
  auto hooks = std::make_unique<interpreter::webhook::WebhookBackend>(std::move(options.webhooks));
  if (options.hooks == nullptr) {
    options.hooks =
        std::make_shared<interpreter::webhook::HookSet>(std::vector<interpreter::webhook::Hook>());
  }
  hooks->Replace(options.hooks);
  std::vector<std::unique_ptr<interpreter::Backend>> layers;
  layers.push_back(NewScripts(interpreter::kCustomizationLayer, options,
                              CustomizationSet::Merge(std::vector<Customization>())));
  layers.push_back(std::move(hooks));
  layers.push_back(
      NewScripts(interpreter::kShippedLayer, options,
                 interpreter::customized::LoadShipped(interpreter::customized::ShippedFiles())));
  layers.push_back(interpreter::NewNativeBackend());
  return interpreter::NewChain(std::move(layers), options.metrics);
}

absl::Span<const BenchOperation> Operations() { return kOperations; }

absl::StatusOr<Cost> MeasureTime(const Interpreter& chain, const BenchOperation& op,
                                 const Subject& subject, absl::Duration length) {
  RETURN_IF_ERROR(RunFor(chain, op, subject, length / 10).status());
  const auto began = WallClock::now();
  const double cpu_before = SecondsOnCpu();
  ASSIGN_OR_RETURN(const int64_t calls, RunFor(chain, op, subject, length));
  const double cpu = SecondsOnCpu() - cpu_before;
  const double wall = SecondsSince(began);
  const auto n = static_cast<double>(calls);
  return Cost{wall / n * 1e9, cpu / n * 1e9};
}

absl::StatusOr<int64_t> MeasureBytes(const Interpreter& chain,
                                     const std::atomic<uint64_t>& script_bytes,
                                     const BenchOperation& op, const Subject& subject) {
  RETURN_IF_ERROR(op.run(chain, subject));
  const uint64_t before = cmd::interpret::AllocatedBytes() + script_bytes;
  for (int i = 0; i < kCountedCalls; ++i) RETURN_IF_ERROR(op.run(chain, subject));
  const uint64_t after = cmd::interpret::AllocatedBytes() + script_bytes;
  return static_cast<int64_t>((after - before) / kCountedCalls);
}

absl::StatusOr<double> MeasureWorkers(const Interpreter& chain, const BenchOperation& op,
                                      absl::Span<const Subject> subjects, absl::Duration length) {
  std::vector<absl::StatusOr<int64_t>> calls(subjects.size(), int64_t{0});
  std::vector<std::thread> workers;
  const auto began = WallClock::now();
  for (size_t i = 0; i < subjects.size(); ++i) {
    workers.emplace_back([&, i] { calls[i] = RunFor(chain, op, subjects[i], length); });
  }
  for (std::thread& worker : workers) worker.join();
  const double took = SecondsSince(began);
  int64_t total = 0;
  for (const absl::StatusOr<int64_t>& n : calls) {
    RETURN_IF_ERROR(n.status());
    total += *n;
  }
  return static_cast<double>(total) / took;
}

}  // namespace bench
