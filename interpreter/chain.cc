// The layers of the interpreter in order: this file alone determines which layer answers and what
// its errors look like.

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/cut_text.h"
#include "base/snapshot.h"
#include "base/status.h"
#include "interpreter/dependency_validation.h"
#include "interpreter/interpreter.h"
#include "interpreter/metric_names.h"
#include "interpreter/rule_changes.h"

namespace interpreter {

namespace {

// Returns upstream's error for a kind that no layer has a rule for.
// Whether an object may fare as one without a rule because all who have one have passed on. While a
// webhook is away, what an object needs would be taken away from it, and each cluster would get all
// of its replicas.
bool MayAssume(Operation op) {
  return op != Operation::kInterpretDependency && op != Operation::kInterpretReplica &&
         op != Operation::kReviseReplica && op != Operation::kInterpretComponent;
}

absl::Status NotFound(const kube::Gvk& gvk, Operation op) {
  if (op == Operation::kInterpretComponent) {
    return absl::UnimplementedError("interface GetComponents not implemented yet");
  }
  if (op == Operation::kInterpretDependency) {
    return absl::UnimplementedError(
        "default interpreter for operation InterpretDependency not found");
  }
  return absl::UnimplementedError(absl::StrCat("default ", OperationName(op), " interpreter for \"",
                                               gvk.ToString(), "\" not found"));
}

// One series of the metric: layer, kind, operation, result.
using Series = std::tuple<absl::string_view, std::string, Operation, absl::string_view>;
using SeriesView = std::tuple<absl::string_view, absl::string_view, Operation, absl::string_view>;

// Looks a series up by a view, so that the kind's name need not be copied. A kind and operation
// have few series: comparing them is cheaper than hashing all parts.
struct SeriesHash {
  using is_transparent = void;
  size_t operator()(const SeriesView& series) const {
    return absl::HashOf(std::get<1>(series), std::get<2>(series));
  }
  size_t operator()(const Series& series) const { return (*this)(SeriesView(series)); }
};
struct SeriesEqual {
  using is_transparent = void;
  bool operator()(const SeriesView& a, const SeriesView& b) const { return a == b; }
};
using Histograms = absl::flat_hash_map<Series, metrics::Histogram*, SeriesHash, SeriesEqual>;

// The limit for a layer's own words in an error. Scripts and webhooks write these, and conditions,
// events and log lines quote them.
constexpr size_t kMaxErrorBytes = 4096;

constexpr char kPassOnPayload[] = "interpreter/pass-on";

// Returns the label for the outcome of an operation.
absl::string_view ResultOf(const absl::Status& status) {
  if (status.ok()) return "success";
  return IsPassOn(status) ? "passed_on" : "error";
}

absl::StatusCode CodeForLoops(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return absl::StatusCode::kInternal;
    default:
      return code;
  }
}

// Returns a layer's error with a code that loops may see (interpreter.h) and at most kMaxErrorBytes
// of text.
absl::Status ForLoops(const absl::Status& error) {
  absl::Status out(CodeForLoops(error.code()), base::CutText(error.message(), kMaxErrorBytes));
  error.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) { out.SetPayload(type, payload); });
  return absl::IsInvalidArgument(out) ? base::Terminal(out) : out;
}

class Chain : public Interpreter {
 public:
  Chain(std::vector<std::unique_ptr<Backend>> backends, metrics::Registry* metrics)
      : backends_(std::move(backends)), metrics_(metrics) {}

  RuleChanges& rule_changes() const override { return rule_changes_; }

  bool HasRule(const kube::Gvk& gvk, Operation op) const override {
    return LayerFor(gvk, op) < backends_.size();
  }

  std::vector<RuleName> RulesFor(const kube::Gvk& gvk, Operation op) const override {
    std::vector<RuleName> rules;
    for (size_t at = LayerFor(gvk, op); at < backends_.size(); at = LayerFor(gvk, op, at + 1)) {
      rules.push_back({std::string(backends_[at]->layer()), backends_[at]->RuleOf(gvk, op)});
    }
    return rules;
  }

  absl::StatusOr<Answer> Ask(const Question& question) const override {
    const Operation op = question.operation;
    if (op == Operation::kInterpretComponent && question.object.empty()) {
      return absl::InvalidArgumentError("nil object");
    }
    const kube::Gvk gvk = question.object.gvk();
    const size_t first = LayerFor(gvk, op);
    return first < backends_.size() ? AskFrom(first, gvk, question) : NotFound(gvk, op);
  }

  absl::StatusOr<Answer> AskOrAssume(const Question& question) const override {
    const kube::Gvk gvk = question.object.gvk();
    const size_t first = LayerFor(gvk, question.operation);
    if (first == backends_.size()) return AssumedAnswer(question);
    return AskFrom(first, gvk, question);
  }

 private:
  // Returns the place of the first layer, from the place `from` on, that has a rule;
  // backends_.size() when there is none.
  size_t LayerFor(const kube::Gvk& gvk, Operation op, size_t from = 0) const {
    while (from < backends_.size() && !backends_[from]->Has(gvk, op)) ++from;
    return from;
  }

  // Returns the answer of the first layer with a rule that does not pass on; the error of such a
  // layer ends the search. `first` is the place of the first layer with a rule.
  absl::StatusOr<Answer> AskFrom(size_t first, const kube::Gvk& gvk,
                                 const Question& question) const {
    const Operation op = question.operation;
    const auto failed = [&](const Backend& backend, const absl::Status& error) {
      return base::Annotate(ForLoops(error), OperationName(op), " of ", question.object.Describe(),
                            " by the ", backend.layer(), " interpreter");
    };
    absl::Status passed_on;
    for (size_t at = first; at < backends_.size(); at = LayerFor(gvk, op, at + 1)) {
      const Backend& backend = *backends_[at];
      const base::SteadyTime began = base::RealClock().SteadyNow();
      absl::StatusOr<Answer> answer = AnswerOf(backend, question);
      Observe({backend.layer(), gvk.kind, op, ResultOf(answer.status())},
              base::RealClock().SteadyNow() - began);
      if (answer.ok()) return answer;
      if (!IsPassOn(answer.status())) return failed(backend, answer.status());
      passed_on = failed(backend, answer.status());
    }
    if (!MayAssume(op)) {
      passed_on.ErasePayload(kPassOnPayload);
      return passed_on;
    }
    return AssumedAnswer(question);
  }

  // Returns the layer's answer as callers may have it.
  static absl::StatusOr<Answer> AnswerOf(const Backend& backend, const Question& question) {
    absl::StatusOr<Answer> answer = backend.Ask(question);
    if (!answer.ok()) return answer;
    const json::Value* list = std::get_if<json::Value>(&*answer);
    if (question.operation == Operation::kInterpretDependency && !backend.ChecksDependencies() &&
        list != nullptr) {
      RETURN_IF_ERROR(ValidateDependencies(*list));
    }
    Health* health = std::get_if<Health>(&*answer);
    if (health != nullptr && health->message.size() > kMaxHealthMessageBytes) {
      health->message = base::CutText(health->message, kMaxHealthMessageBytes);
    }
    return answer;
  }

  void Observe(const SeriesView& series, absl::Duration took) const {
    if (metrics_ != nullptr) HistogramFor(series).Observe(absl::ToDoubleSeconds(took));
  }

  metrics::Histogram& HistogramFor(const SeriesView& series) const {
    const std::shared_ptr<const Histograms> known = histograms_.Get();
    const auto found = known->find(series);
    return found != known->end() ? *found->second : Make(series);
  }

  metrics::Histogram& Make(const SeriesView& series) const {
    const auto& [layer, kind, op, result] = series;
    // The buckets reach from 1 µs to 4 s: built-in handlers take about 1 µs, a script
    // may take a second.
    metrics::Histogram& made = metrics_->GetHistogram(
        kOperationDurationMetric, "Time one operation of the resource interpreter takes.",
        metrics::ExponentialBuckets(1e-6, 4, 12),
        {{"layer", std::string(layer)},
         {"kind", std::string(kind)},
         {"operation", std::string(OperationName(op))},
         {"result", std::string(result)}});
    // Each new series (there are a few hundred in the life of a process) copies the map, so that
    // the thousands of observations in between need no lock.
    absl::MutexLock lock(&mu_);
    auto more = std::make_shared<Histograms>(*histograms_.Get());
    more->emplace(Series(layer, kind, op, result), &made);
    histograms_.Set(std::move(more));
    return made;
  }

  const std::vector<std::unique_ptr<Backend>> backends_;
  mutable RuleChanges rule_changes_;
  metrics::Registry* const metrics_;
  mutable absl::Mutex mu_;  // Held while a series is added.
  mutable base::Snapshot<Histograms> histograms_{std::make_shared<Histograms>()};
};

}  // namespace

absl::Status PassOn(absl::Status why) {
  why.SetPayload(kPassOnPayload, absl::Cord());
  return why;
}

bool IsPassOn(const absl::Status& status) { return status.GetPayload(kPassOnPayload).has_value(); }

std::unique_ptr<Interpreter> NewChain(std::vector<std::unique_ptr<Backend>> backends,
                                      metrics::Registry* metrics) {
  return std::make_unique<Chain>(std::move(backends), metrics);
}

}  // namespace interpreter
