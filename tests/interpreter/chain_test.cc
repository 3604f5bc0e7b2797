// Which layer answers, and what errors contain.
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "interpreter/dependency_validation.h"
#include "interpreter/interpreter.h"

namespace {

using interpreter::Operation;

const kube::Gvk kWidget{"example.io", "v1", "Widget"};

// Answers one operation of one kind; everything else is refused.
class OneRule : public interpreter::Backend {
 public:
  OneRule(Operation op, absl::StatusOr<interpreter::Health> healthy,
          json::Value dependencies = nullptr)
      : op_(op), healthy_(std::move(healthy)), dependencies_(std::move(dependencies)) {}

  absl::string_view layer() const override { return interpreter::kCustomizationLayer; }
  std::string RuleOf(const kube::Gvk& gvk, Operation op) const override {
    return Has(gvk, op) ? "widgets" : "";
  }
  bool Has(const kube::Gvk& gvk, Operation op) const override {
    return gvk.kind == "Widget" && op == op_;
  }
  absl::StatusOr<interpreter::Answer> Ask(const interpreter::Question& question) const override {
    if (question.operation == Operation::kInterpretDependency) return Dependencies();
    if (question.operation == Operation::kInterpretHealth) return healthy_;
    return Refused();
  }

 protected:
  virtual absl::StatusOr<interpreter::Answer> Dependencies() const { return dependencies_; }
  virtual absl::Status Refused() const { return absl::InternalError("must not be called"); }

 private:
  const Operation op_;
  const absl::StatusOr<interpreter::Health> healthy_;
  const json::Value dependencies_;
};

// Has a rule for one operation, but passes the question on.
class PassesOn : public OneRule {
 public:
  explicit PassesOn(Operation op) : OneRule(op, false) {}

 protected:
  absl::StatusOr<interpreter::Answer> Dependencies() const override { return Refused(); }
  absl::Status Refused() const override {
    return interpreter::PassOn(absl::UnavailableError("boom"));
  }
};

// Fails one operation with an error, as the layer of that name.
class Fails : public OneRule {
 public:
  Fails(absl::string_view layer, Operation op, absl::Status error)
      : OneRule(op, error), layer_(layer), error_(std::move(error)) {}
  absl::string_view layer() const override { return layer_; }

 protected:
  absl::StatusOr<interpreter::Answer> Dependencies() const override { return error_; }
  absl::Status Refused() const override { return error_; }

 private:
  const absl::string_view layer_;
  const absl::Status error_;
};

// Returns the result of this operation on a widget.
absl::Status Ask(const interpreter::Interpreter& chain, Operation op) {
  const kube::Object widget = kube::Object::Make(kWidget, {"ns", "w"});
  switch (op) {
    case Operation::kInterpretReplica:
      return chain.GetReplicas(widget).status();
    case Operation::kInterpretComponent:
      return chain.GetComponents(widget).status();
    case Operation::kReviseReplica:
      return chain.ReviseReplica(widget, 1).status();
    case Operation::kRetain:
      return chain.Retain(widget, widget).status();
    case Operation::kAggregateStatus:
      return chain.AggregateStatus(widget, nullptr).status();
    case Operation::kInterpretDependency:
      return chain.GetDependencies(widget).status();
    case Operation::kInterpretStatus:
      return chain.ReflectStatus(widget).status();
    case Operation::kInterpretHealth:
      return chain.InterpretHealth(widget).status();
    case Operation::kPrune:
      return chain.Prune(widget).status();
  }
  return absl::OkStatus();
}

template <class... Layers>
std::unique_ptr<interpreter::Interpreter> ChainOf(Layers... layers) {
  std::vector<std::unique_ptr<interpreter::Backend>> backends;
  (backends.push_back(std::move(layers)), ...);
  return interpreter::NewChain(std::move(backends));
}

std::unique_ptr<interpreter::Backend> Health(absl::StatusOr<interpreter::Health> healthy) {
  return std::make_unique<OneRule>(Operation::kInterpretHealth, std::move(healthy));
}

kube::Object Widget() { return kube::Object::Make(kWidget, {"ns", "w"}); }

}  // namespace

TEST_CASE("the rules of all layers are reported in their order") {
  const auto chain = ChainOf(Health(true), interpreter::NewNativeBackend());
  CHECK(chain->RulesFor(kWidget, Operation::kInterpretHealth).size() == 1);
  CHECK(chain->RulesFor(kWidget, Operation::kInterpretHealth)[0].name == "widgets");
  CHECK(chain->RulesFor(kWidget, Operation::kInterpretStatus)[0].layer == "native");
  CHECK(chain->RulesFor(kWidget, Operation::kRetain).empty());
}

TEST_CASE("operations are found by their name in any case") {
  for (const Operation op : interpreter::kAllOperations) {
    CHECK(interpreter::OperationNamed(interpreter::OperationName(op)) == op);
  }
  CHECK(interpreter::OperationNamed("interprethealth") == Operation::kInterpretHealth);
  CHECK_FALSE(interpreter::OperationNamed("Interpret").has_value());
}

TEST_CASE("AskOrAssume gives what loops assume when no layer has a rule, and else the answer") {
  const auto chain = ChainOf(Health(interpreter::Health(false, "0 of 3")));
  for (const Operation op : interpreter::kAllOperations) {
    CAPTURE(interpreter::OperationName(op));
    const interpreter::Question question{.operation = op, .object = Widget()};
    const auto answer = chain->AskOrAssume(question);
    REQUIRE(answer.ok());
    if (op == Operation::kInterpretHealth) {
      CHECK(std::get<interpreter::Health>(*answer).message == "0 of 3");
    } else if (op == Operation::kInterpretReplica) {
      CHECK(std::get<interpreter::Replicas>(*answer).replicas == 0);
    } else if (interpreter::ReturnsObject(op)) {
      CHECK(std::get<kube::Object>(*answer).root().SharesWith(question.object.root()));
    } else {
      CHECK(std::get<json::Value>(*answer).is_null());
    }
  }
  const auto failing = ChainOf(Health(absl::InternalError("boom")));
  CHECK_FALSE(failing->AskOrAssume({Operation::kInterpretHealth, Widget()}).ok());
}

TEST_CASE("an answer has the type of its operation") {
  CHECK(interpreter::AnswerAs<interpreter::Health>(interpreter::Health(true))->healthy);
  CHECK(absl::IsInternal(interpreter::AnswerAs<kube::Object>(interpreter::Health(true)).status()));
  CHECK(absl::IsUnavailable(
      interpreter::AnswerAs<kube::Object>(absl::UnavailableError("boom")).status()));
}

TEST_CASE("every call is observed by layer, kind, operation and result") {
  metrics::Registry registry;
  std::vector<std::unique_ptr<interpreter::Backend>> backends;
  backends.push_back(Health(absl::InternalError("no")));
  const auto chain = interpreter::NewChain(std::move(backends), &registry);
  CHECK_FALSE(chain->InterpretHealth(Widget()).ok());
  CHECK_FALSE(chain->InterpretHealth(Widget()).ok());
  CHECK_THAT(registry.Expose(),
             Catch::Contains("karmada_interpreter_operation_duration_seconds_count{kind=\"Widget\","
                             "layer=\"customization\","
                             "operation=\"InterpretHealth\",result=\"error\"} 2"));
}

TEST_CASE("calls of many kinds from many threads are all observed") {
  metrics::Registry registry;
  std::vector<std::unique_ptr<interpreter::Backend>> backends;
  backends.push_back(interpreter::NewNativeBackend());
  const auto chain = interpreter::NewChain(std::move(backends), &registry);
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const kube::Gvk kind{"example.io", "v1", absl::StrCat("Kind", i % 10)};
        base::IgnoreError(chain->ReflectStatus(kube::Object::Make(kind, {"", "o"})).status(),
                          "it is the number that matters");
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (int i = 0; i < 10; ++i) {
    CHECK_THAT(registry.Expose(),
               Catch::Contains(absl::StrCat(
                   "duration_seconds_count{kind=\"Kind", i,
                   "\",layer=\"native\",operation=\"InterpretStatus\",result=\"success\"} 30")));
  }
}

TEST_CASE("the first layer with a rule decides alone") {
  const auto chain = ChainOf(Health(true), Health(false), interpreter::NewNativeBackend());
  CHECK(chain->InterpretHealth(Widget()).value());
}

TEST_CASE("the message of a health comes with it, and a long one is cut") {
  using interpreter::kMaxHealthMessageBytes;
  const auto short_one = ChainOf(Health(interpreter::Health(false, "0 of 3")));
  CHECK_FALSE(short_one->InterpretHealth(Widget())->healthy);
  CHECK(short_one->InterpretHealth(Widget())->message == "0 of 3");

  const auto longest =
      ChainOf(Health(interpreter::Health(true, std::string(kMaxHealthMessageBytes, 'a'))));
  CHECK(longest->InterpretHealth(Widget())->message == std::string(kMaxHealthMessageBytes, 'a'));
  const auto too_long =
      ChainOf(Health(interpreter::Health(true, std::string(kMaxHealthMessageBytes + 1, 'a'))));
  const interpreter::Health cut = too_long->InterpretHealth(Widget()).value();
  CHECK(cut.healthy);
  CHECK(cut.message.size() == kMaxHealthMessageBytes);
  CHECK_THAT(cut.message, Catch::EndsWith("a [cut]"));
}

TEST_CASE("an error of a layer ends the search and names layer, operation and object") {
  const auto chain = ChainOf(Health(absl::UnavailableError("boom")), Health(true));
  const absl::Status status = chain->InterpretHealth(Widget()).status();
  CHECK(status.code() == absl::StatusCode::kUnavailable);
  CHECK(status.message() ==
        "InterpretHealth of Widget ns/w by the customization interpreter: boom");
}

TEST_CASE("no layer's error looks to a loop like an object that is gone, or a conflict") {
  const absl::Status errors[] = {absl::NotFoundError("boom"), absl::AbortedError("boom"),
                                 absl::AlreadyExistsError("boom")};
  for (const absl::string_view layer :
       {interpreter::kCustomizationLayer, interpreter::kWebhookLayer, interpreter::kShippedLayer,
        interpreter::kNativeLayer}) {
    for (const Operation op : interpreter::kAllOperations) {
      for (const absl::Status& error : errors) {
        CAPTURE(layer, interpreter::OperationName(op), error);
        const auto chain = ChainOf(std::make_unique<Fails>(layer, op, error));
        const absl::Status status = Ask(*chain, op);
        CHECK(status.code() == absl::StatusCode::kInternal);
        CHECK_THAT(std::string(status.message()), Catch::EndsWith(": boom"));
        CHECK_FALSE(base::IsTerminal(status));
      }
    }
  }
}

TEST_CASE("what fails until rule or object change is marked, so that nobody tries again") {
  for (const Operation op : interpreter::kAllOperations) {
    CAPTURE(interpreter::OperationName(op));
    const auto wrong = ChainOf(std::make_unique<Fails>(interpreter::kCustomizationLayer, op,
                                                       absl::InvalidArgumentError("boom")));
    CHECK(base::IsTerminal(Ask(*wrong, op)));
    const auto down = ChainOf(std::make_unique<Fails>(interpreter::kCustomizationLayer, op,
                                                      absl::UnavailableError("boom")));
    CHECK_FALSE(base::IsTerminal(Ask(*down, op)));
  }
}

TEST_CASE("a layer that passes on is passed over, and the next one decides") {
  metrics::Registry registry;
  std::vector<std::unique_ptr<interpreter::Backend>> backends;
  backends.push_back(Health(interpreter::PassOn(absl::UnavailableError("boom"))));
  backends.push_back(Health(true));
  backends.push_back(Health(false));
  const auto chain = interpreter::NewChain(std::move(backends), &registry);
  CHECK(chain->InterpretHealth(Widget()).value());
  CHECK_THAT(registry.Expose(), Catch::Contains("result=\"passed_on\"} 1"));
}

TEST_CASE("when every layer with a rule passes on, the kind fares as one without a rule") {
  const auto health = ChainOf(Health(interpreter::PassOn(absl::UnavailableError("boom"))));
  CHECK(health->HasRule(kWidget, Operation::kInterpretHealth));
  CHECK(health->InterpretHealth(Widget()).value());
  const auto chain_for = [](Operation op) { return ChainOf(std::make_unique<PassesOn>(op)); };
  const kube::Object widget = Widget();
  CHECK(chain_for(Operation::kRetain)->Retain(widget, kube::Object()).value() == widget);
  CHECK(chain_for(Operation::kAggregateStatus)->AggregateStatus(widget, nullptr).value() == widget);
  CHECK(chain_for(Operation::kInterpretStatus)->ReflectStatus(widget)->is_null());
  CHECK(chain_for(Operation::kPrune)->Prune(widget).value() == widget);
}

TEST_CASE("an object keeps its replicas when every layer that might say so passes on") {
  const auto chain_for = [](Operation op) { return ChainOf(std::make_unique<PassesOn>(op)); };
  const kube::Object widget = Widget();
  CHECK(absl::IsUnavailable(chain_for(Operation::kInterpretReplica)->GetReplicas(widget).status()));
  CHECK(
      absl::IsUnavailable(chain_for(Operation::kReviseReplica)->ReviseReplica(widget, 3).status()));
  CHECK(absl::IsUnavailable(
      chain_for(Operation::kInterpretComponent)->GetComponents(widget).status()));
}

TEST_CASE("an object keeps what it needs when every layer that might say so passes on") {
  const auto chain = ChainOf(std::make_unique<PassesOn>(Operation::kInterpretDependency),
                             std::make_unique<PassesOn>(Operation::kInterpretDependency));
  const absl::Status error = chain->GetDependencies(Widget()).status();
  CHECK(error == absl::UnavailableError(
                     "InterpretDependency of Widget ns/w by the customization interpreter: boom"));
  CHECK(chain->AskOrAssume({.operation = Operation::kInterpretDependency, .object = Widget()})
            .status() == error);
}

TEST_CASE("a layer without a rule for the operation is passed over") {
  const auto chain = ChainOf(Health(true), interpreter::NewNativeBackend());
  kube::Object widget = Widget();
  widget.Set({"status"}, json::Value::Object({{"size", 1}}));
  CHECK(chain->ReflectStatus(widget).value() == widget.status());
  CHECK(chain->HasRule(kWidget, Operation::kInterpretHealth));
  CHECK(chain->HasRule(kWidget, Operation::kInterpretStatus));
  CHECK_FALSE(chain->HasRule(kWidget, Operation::kRetain));
}

TEST_CASE("without any rule the error has upstream's words") {
  const auto chain = ChainOf(interpreter::NewNativeBackend());
  const kube::Object widget = Widget();
  const kube::Object config = kube::Object::Make({"", "v1", "ConfigMap"}, {"ns", "c"});
  CHECK(chain->GetReplicas(widget).status().message() ==
        "default InterpretReplica interpreter for \"example.io/v1, Kind=Widget\" not found");
  CHECK(chain->GetReplicas(widget).status().code() == absl::StatusCode::kUnimplemented);
  CHECK(chain->ReviseReplica(config, 1).status().message() ==
        "default ReviseReplica interpreter for \"/v1, Kind=ConfigMap\" not found");
  CHECK(chain->Retain(config, config).status().message() ==
        "default Retain interpreter for \"/v1, Kind=ConfigMap\" not found");
  CHECK(chain->AggregateStatus(config, nullptr).status().message() ==
        "default AggregateStatus interpreter for \"/v1, Kind=ConfigMap\" not found");
  CHECK(chain->InterpretHealth(config).status().message() ==
        "default InterpretHealth interpreter for \"/v1, Kind=ConfigMap\" not found");
  CHECK(chain->GetDependencies(config).status().message() ==
        "default interpreter for operation InterpretDependency not found");
  CHECK(chain->GetComponents(config).status().message() ==
        "interface GetComponents not implemented yet");
  CHECK(chain->GetComponents(kube::Object()).status().message() == "nil object");
}

TEST_CASE("long words of a layer are cut in errors, which keep their beginning and their code") {
  const std::string flood = absl::StrCat("no: ", std::string(1 << 20, 'x'));
  const auto fails = [&](absl::Status error) {
    const auto chain =
        ChainOf(std::make_unique<Fails>("webhook", Operation::kInterpretHealth, std::move(error)));
    return Ask(*chain, Operation::kInterpretHealth);
  };
  const absl::Status refused = fails(absl::FailedPreconditionError(flood));
  CHECK(absl::IsFailedPrecondition(refused));
  CHECK(refused.message().size() < 5000);
  CHECK_THAT(std::string(refused.message()),
             Catch::StartsWith("InterpretHealth of ") &&
                 Catch::Contains(" by the webhook interpreter: no: xxx"));
  CHECK(base::IsTerminal(fails(absl::InvalidArgumentError(flood))));

  const json::Value wrong = json::Value::Array({json::Value::Object({{"namespace", flood}})});
  const auto chain =
      ChainOf(std::make_unique<OneRule>(Operation::kInterpretDependency, false, wrong));
  CHECK(chain->GetDependencies(Widget()).status().message().size() < 5000);
}

TEST_CASE("a layer that checks its dependencies itself is not checked again") {
  class Checked : public OneRule {
   public:
    using OneRule::OneRule;
    bool ChecksDependencies() const override { return true; }
  };
  const json::Value unusual = json::Parse(R"([{"kind":"Secret"}])").value();
  const auto chain =
      ChainOf(std::make_unique<Checked>(Operation::kInterpretDependency, false, unusual));
  CHECK(chain->GetDependencies(Widget()).value() == unusual);
}

TEST_CASE("dependencies of any layer are checked") {
  struct Case {
    const char* dependencies;
    const char* error;  // "": fine.
  };
  const Case cases[] = {
      {R"([{"apiVersion":"v1","kind":"Secret","name":"s"}])", ""},
      {R"([{"apiVersion":"v1","kind":"Secret","labelSelector":{}}])", ""},
      {R"([{"apiVersion":"v1","kind":"Secret","namespace":"ns1"}])",
       R"(dependencies[0]: Invalid value: {"apiVersion":"v1","kind":"Secret","namespace":"ns1"}: )"
       "dependency can not leave name and labelSelector all empty"},
      {R"([{"apiVersion":"v1","kind":"S","name":"s"},{"name":"s"}])",
       R"([dependencies[1].apiVersion: Invalid value: "": missing required apiVersion, )"
       R"(dependencies[1].kind: Invalid value: "": missing required kind])"},
  };
  for (const Case& c : cases) {
    INFO(c.dependencies);
    const json::Value dependencies = json::Parse(c.dependencies).value();
    CHECK(interpreter::ValidateDependencies(dependencies).message() == c.error);
    const auto chain =
        ChainOf(std::make_unique<OneRule>(Operation::kInterpretDependency, false, dependencies));
    CHECK(chain->GetDependencies(Widget()).ok() == (c.error[0] == '\0'));
  }
  const json::Value bad_selector =
      json::Parse(R"([{"apiVersion":"v1","kind":"S","labelSelector":{"matchLabels":{"a":"b c"}}}])")
          .value();
  CHECK_FALSE(interpreter::ValidateDependencies(bad_selector).ok());
}
