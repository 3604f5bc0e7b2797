// Joins three sources: the rules as the API server has them, the controller manager's metrics
// (which generation it has loaded, and what calls of each rule have cost), and, where there are no
// metrics that tell it, events about loaded generations. Metrics that were asked for and cannot be
// fetched are an error; everything else that cannot be read is a warning, and the columns that it
// would fill are "unknown". Events expire after an hour in most control planes, so "unknown" is
// common without metrics. Counters begin at zero when the controller manager starts.

#include "cmd/interpret/live_list.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/resources.h"
#include "api/webhook_configuration.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "cmd/interpret/live_rules.h"
#include "cmd/interpret/measurement.h"
#include "cmd/interpret/metrics_text.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/metric_names.h"
#include "interpreter/webhook/explanation.h"
#include "tool/table.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;
using interpreter::customized::Customization;
using interpreter::customized::CustomizationSet;
using interpreter::webhook::Dialect;
using interpreter::webhook::Hook;

// Events of objects without a namespace are there.
constexpr char kEventNamespace[] = "default";

constexpr char kAnyKind[] = "*";

using ConfigurationKey = std::pair<std::string, std::string>;  // Kind and name.

// What is known of loaded generations.
struct Loads {
  bool known = false;     // True: what is not in the map is not loaded.
  bool by_event = false;  // True: it is from events.
  std::map<ConfigurationKey, int64_t> generations;
  std::map<ConfigurationKey, int64_t> problems;  // Without those that have none, or are unknown.
};

bool HasLabels(const Sample& sample, const std::map<std::string, std::string>& labels) {
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    const auto found = sample.labels.find(label.first);
    return found != sample.labels.end() && found->second == label.second;
  });
}

// Adds the calls that a histogram has counted in series with these labels.
void AddCalls(const std::vector<Sample>& samples, const std::string& histogram,
              const std::map<std::string, std::string>& labels, RuleCalls& calls) {
  for (const Sample& sample : samples) {
    if (!HasLabels(sample, labels)) continue;
    if (sample.name == absl::StrCat(histogram, "_sum")) calls.seconds += sample.value;
    if (sample.name != absl::StrCat(histogram, "_count")) continue;
    const auto count = static_cast<uint64_t>(sample.value);
    calls.calls += count;
    const auto result = sample.labels.find("result");
    if (result != sample.labels.end() && result->second == "error") calls.errors += count;
  }
}

// Returns what the daemon's own metrics say: which generation it has loaded of each configuration.
Loads LoadsFrom(const std::vector<Sample>& samples) {
  Loads loads;
  for (const Sample& sample : samples) {
    const bool is_generation = sample.name == interpreter::kLoadedGenerationMetric;
    const bool is_problems = sample.name == interpreter::kConfigurationProblemsMetric;
    if (!is_generation && !is_problems) continue;
    // The metric exists for every loaded configuration: what it lacks is not loaded.
    if (is_generation) loads.known = true;
    const auto kind = sample.labels.find("kind"), name = sample.labels.find("name");
    if (kind == sample.labels.end() || name == sample.labels.end()) continue;
    auto& values = is_generation ? loads.generations : loads.problems;
    values[{kind->second, name->second}] = static_cast<int64_t>(sample.value);
  }
  return loads;
}

// Takes the generation from an event's message.
std::optional<int64_t> GenerationIn(absl::string_view message) {
  int64_t generation = 0;
  if (!absl::ConsumePrefix(&message, "Generation ")) return std::nullopt;
  if (!absl::SimpleAtoi(message.substr(0, message.find(' ')), &generation)) return std::nullopt;
  return generation;
}

// Returns what events say of each object. An event about an earlier object of the same name has
// another uid, and does not count.
absl::StatusOr<Loads> LoadsFromEvents(tool::LiveConnection& live,
                                      const std::map<ConfigurationKey, std::string>& uids) {
  kube::ListOptions options;
  options.field_selector = absl::StrCat("reason=", interpreter::kConfigurationLoadedReason);
  const auto events =
      live.client.ListAll(api::Events(), kEventNamespace, options, base::StopToken());
  if (!events.ok()) return base::Annotate(events.status(), "listing events");
  Loads loads;
  loads.by_event = true;
  for (const kube::Object& event : events->items) {
    // The field selector has asked for that already; not every server evaluates it.
    if (event.root()["reason"].AsString() != interpreter::kConfigurationLoadedReason) continue;
    const json::Value& about = event.root()["involvedObject"];
    const ConfigurationKey key{about["kind"].ToString(), about["name"].ToString()};
    const auto uid = uids.find(key);
    if (uid == uids.end() || about["uid"].AsString() != uid->second) continue;
    const auto generation = GenerationIn(event.root()["message"].AsString());
    // Events are not in the order of their generations.
    if (generation) loads.generations[key] = std::max(loads.generations[key], *generation);
  }
  return loads;
}

// Collects the rules of one control plane.
class Reading {
 public:
  Reading(const LiveListQuestion& question, const LiveRules& rules,
          const std::optional<std::vector<Sample>>& samples, const Loads& loads)
      : question_(question), rules_(rules), samples_(samples), loads_(loads) {}

  LiveList Read();

 private:
  void AddCustomization(const kube::Object& object, const Customization& read);
  void AddHook(const Hook& hook);
  // Sets what does not depend on the sort of rule.
  void SetLoad(LiveRule& rule, const ConfigurationKey& key) const;
  RuleCalls CallsOf(const Customization& read) const;
  bool IsWanted(Operation op) const { return !question_.operation || *question_.operation == op; }
  bool IsWanted(const interpreter::webhook::Rule& rule) const;

  const LiveListQuestion& question_;
  const LiveRules& rules_;
  const std::optional<std::vector<Sample>>& samples_;
  const Loads& loads_;
  std::shared_ptr<const CustomizationSet> set_;
  LiveList list_;
};

void Reading::SetLoad(LiveRule& rule, const ConfigurationKey& key) const {
  const auto found = loads_.generations.find(key);
  if (found != loads_.generations.end()) {
    rule.loaded = found->second;
  } else if (loads_.known) {
    // The source knows all that is loaded: 0 says that this is not.
    rule.loaded = 0;
  }
  const auto problems = loads_.problems.find(key);
  if (problems != loads_.problems.end()) rule.problems = problems->second;
  rule.by_event = loads_.by_event && rule.loaded.has_value();
}

RuleCalls Reading::CallsOf(const Customization& read) const {
  RuleCalls calls;
  for (const auto& [op, script] : read.scripts) {
    if (!IsWanted(op)) continue;
    AddCalls(
        *samples_, interpreter::kScriptDurationMetric,
        {{"customization", read.name}, {"operation", std::string(interpreter::OperationName(op))}},
        calls);
  }
  return calls;
}

void Reading::AddCustomization(const kube::Object& object, const Customization& read) {
  const std::vector<kube::Gvk> targets = TargetsOf(read, question_.merge);
  const bool of_kind = question_.kind.empty() ||
                       std::any_of(targets.begin(), targets.end(), [&](const kube::Gvk& target) {
                         return absl::EqualsIgnoreCase(target.kind, question_.kind) ||
                                (question_.merge.combined && target.kind == kAnyKind);
                       });
  if (!of_kind) return;
  LiveRule rule{.configuration = std::string(object.kind()),
                .name = read.name,
                .generation = object.generation()};
  for (const kube::Gvk& target : targets) {
    rule.targets.push_back(absl::StrCat(target.ApiVersion(), " ", target.kind));
  }
  for (const auto& [op, script] : read.scripts) {
    if (IsWanted(op)) rule.operations.emplace_back(interpreter::OperationName(op));
  }
  if (question_.operation && rule.operations.empty()) return;
  SetLoad(rule, {rule.configuration, rule.name});
  if (samples_.has_value()) rule.calls = CallsOf(read);
  list_.rules.push_back(std::move(rule));
}

bool Reading::IsWanted(const interpreter::webhook::Rule& rule) const {
  const auto& kinds = rule.kinds.kinds;
  // Rules by resource, and those of any kind, may be about every kind.
  const bool of_kind = question_.kind.empty() || kinds.empty() ||
                       std::any_of(kinds.begin(), kinds.end(), [&](const std::string& kind) {
                         return kind == "*" || absl::EqualsIgnoreCase(kind, question_.kind);
                       });
  return of_kind && std::any_of(rule.operations.begin(), rule.operations.end(),
                                [&](Operation op) { return IsWanted(op); });
}

void Reading::AddHook(const Hook& hook) {
  const bool exploring = hook.dialect == Dialect::kExploreReview;
  const kube::Resource& resource =
      exploring ? api::ExploringWebhookConfigurations() : api::InterpreterWebhookConfigurations();
  LiveRule row{.configuration = resource.gvk.kind, .name = hook.uid};
  std::set<Operation> operations;
  for (const interpreter::webhook::Rule& rule : hook.rules) {
    if (!IsWanted(rule)) continue;
    row.targets.push_back(interpreter::webhook::KindPatternText(rule.kinds));
    for (const Operation op : rule.operations) {
      if (IsWanted(op)) operations.insert(op);
    }
  }
  // A hook without rules is shown as long as nothing is asked for in particular.
  const bool filtered = !question_.kind.empty() || question_.operation.has_value();
  if (row.targets.empty() && filtered) return;
  for (const Operation op : operations) {
    row.operations.emplace_back(interpreter::OperationName(op));
  }
  for (const kube::Object& object : rules_.configurations) {
    if (object.kind() == resource.gvk.kind && object.name() == hook.configuration) {
      row.generation = object.generation();
    }
  }
  SetLoad(row, {row.configuration, hook.configuration});
  if (samples_.has_value()) {
    row.calls.emplace();
    for (const std::string& op : row.operations) {
      AddCalls(*samples_, interpreter::kWebhookDurationMetric,
               {{"hook", hook.uid},
                {"dialect", exploring ? api::kExploreReviewKind : api::kInterpreterContextKind},
                {"operation", op}},
               *row.calls);
    }
  }
  list_.rules.push_back(std::move(row));
}

LiveList Reading::Read() {
  std::vector<std::shared_ptr<const Customization>> read;
  for (const kube::Object& object : rules_.customizations) {
    read.push_back(
        std::make_shared<const Customization>(interpreter::customized::ParseCustomization(object)));
  }
  // It is merged only to find the problems that several customizations have together.
  set_ = CustomizationSet::Merge(read, question_.merge);
  for (const auto& customization : read) {
    for (const kube::Gvk& target : TargetsOf(*customization, question_.merge)) {
      list_.kinds.push_back(target.kind);
    }
  }
  for (size_t i = 0; i < read.size(); ++i) AddCustomization(rules_.customizations[i], *read[i]);
  for (const Hook& hook : rules_.webhooks.hooks->hooks()) AddHook(hook);
  list_.warnings = rules_.unread;
  for (const auto& [name, problems] : set_->problems()) {
    for (const auto& problem : problems) {
      list_.warnings.push_back(absl::StrCat(name, ": ", problem.ToString()));
    }
  }
  for (const std::string& problem : rules_.webhooks.problems) list_.warnings.push_back(problem);
  return std::move(list_);
}

std::map<ConfigurationKey, std::string> UidsOf(const LiveRules& rules) {
  std::map<ConfigurationKey, std::string> uids;
  for (const auto* objects : {&rules.customizations, &rules.configurations}) {
    for (const kube::Object& object : *objects) {
      uids[{std::string(object.kind()), std::string(object.name())}] = std::string(object.uid());
    }
  }
  return uids;
}

// A controller manager that has loaded one configuration has such metrics.
bool AreOfAnInterpreter(const std::vector<Sample>& samples) {
  return std::any_of(samples.begin(), samples.end(), [](const Sample& sample) {
    return absl::StartsWith(sample.name, "karmada_interpreter_");
  });
}

std::string LoadedText(const LiveRule& rule) {
  const char* const by = rule.by_event ? " (event)" : "";
  if (!rule.loaded.has_value()) return "unknown";
  if (*rule.loaded == rule.generation) {
    const std::string but =
        rule.problems == 0 ? "" : absl::StrCat(", ", tool::Count(rule.problems, "problem"));
    return absl::StrCat("yes", but, by);
  }
  return *rule.loaded == 0 ? "no" : absl::StrCat("no, generation ", *rule.loaded, by);
}

// Calls that have not been made have no mean.
std::string MeanText(const RuleCalls& calls) {
  if (calls.calls == 0) return "-";
  return ShortTime(absl::Seconds(calls.seconds / static_cast<double>(calls.calls)));
}

}  // namespace

absl::StatusOr<LiveList> ReadLiveList(const LiveListQuestion& question) {
  std::optional<std::vector<Sample>> samples;
  std::string foreign;
  if (!question.metrics_url.empty()) {
    ASSIGN_OR_RETURN(samples, FetchMetrics(question.metrics_url));
    if (!AreOfAnInterpreter(*samples)) {
      samples.reset();
      foreign = absl::StrCat("the metrics of ", question.metrics_url,
                             " say nothing of an interpreter: is that the controller manager, and "
                             "has it loaded a configuration?");
    }
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<tool::LiveConnection> live, tool::Connect(question.live));
  ASSIGN_OR_RETURN(const LiveRules rules, ReadLiveRules(*live));
  Loads loads;
  std::string unread;
  if (samples.has_value()) loads = LoadsFrom(*samples);
  // A foreign program's metrics, or those of an older version, do not name generations.
  if (!loads.known) {
    absl::StatusOr<Loads> events = LoadsFromEvents(*live, UidsOf(rules));
    if (!events.ok()) unread = std::string(events.status().message());
    if (events.ok()) loads = *std::move(events);
  }
  LiveList list = Reading(question, rules, samples, loads).Read();
  for (const std::string& warning : {foreign, unread}) {
    if (!warning.empty()) list.warnings.push_back(warning);
  }
  return list;
}

std::string TableOf(const LiveList& list, const tool::Colours& colours) {
  tool::Table table({"CONFIGURATION", "NAME", "KINDS", "OPERATIONS", "GENERATION", "LOADED",
                     "CALLS", "ERRORS", "MEAN"});
  for (const LiveRule& rule : list.rules) {
    std::vector<std::string> row = {rule.configuration,
                                    rule.name,
                                    absl::StrJoin(rule.targets, ","),
                                    absl::StrJoin(rule.operations, ","),
                                    absl::StrCat(rule.generation),
                                    LoadedText(rule)};
    if (rule.calls.has_value()) {
      row.push_back(absl::StrCat(rule.calls->calls));
      row.push_back(absl::StrCat(rule.calls->errors));
      row.push_back(MeanText(*rule.calls));
    } else {
      row.insert(row.end(), 3, "unknown");
    }
    table.Add(std::move(row));
  }
  return table.Text(colours);
}

json::Value JsonOf(const LiveList& list) {
  json::Value rules = json::Value::Array();
  for (const LiveRule& rule : list.rules) {
    json::Value out = json::Value::Object({{"configuration", rule.configuration},
                                           {"name", rule.name},
                                           {"kinds", json::Value::Strings(rule.targets)},
                                           {"operations", json::Value::Strings(rule.operations)},
                                           {"generation", rule.generation}});
    if (rule.loaded.has_value()) {
      out.Set("loaded", *rule.loaded == rule.generation);
      out.Set("loadedGeneration", *rule.loaded);
      out.Set("problems", rule.problems);
      out.Set("loadedBy", rule.by_event ? "event" : "metrics");
    }
    if (rule.calls.has_value()) {
      out.Set("calls", static_cast<int64_t>(rule.calls->calls));
      out.Set("errors", static_cast<int64_t>(rule.calls->errors));
      out.Set("seconds", rule.calls->seconds);
    }
    rules.Append(std::move(out));
  }
  return rules;
}

}  // namespace cmd::interpret
