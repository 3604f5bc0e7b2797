// The answers are lists. PodMetrics have the use of each container, and, if they come from
// karmada-metrics-adapter, an annotation with their cluster; MetricValues have neither, and the
// adapter has added up those of equal names.
//
// The custom metrics API is asked in version v1beta2, and in v1beta1 if it has no such path; the
// versions differ in one name. Upstream asks discovery for the version first; here that is asked
// only when neither has an answer, to find out whether there is such an API at all.

#include "controllers/autoscaling/metrics_client.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/go_syntax.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "kube/client/go_words.h"
#include "kube/meta/quantity.h"
#include "kube/meta/selector.h"

namespace autoscaling {
namespace {

constexpr char kBeta1[] = "v1beta1";
constexpr char kBeta2[] = "v1beta2";
// The time over which a custom metric is an average, unless it says so.
constexpr absl::Duration kDefaultWindow = absl::Minutes(1);

constexpr char kResourceFailed[] = "unable to fetch metrics from resource metrics API";
constexpr char kCustomFailed[] = "unable to fetch metrics from custom metrics API";
constexpr char kExternalFailed[] = "unable to fetch metrics from external metrics API";

absl::Status NoMetrics(absl::string_view api) {
  return absl::NotFoundError(absl::StrCat("no metrics returned from ", api, " metrics API"));
}

// Nothing is a quantity that is not a number: adapters have written "NaN".
std::optional<int64_t> MilliOf(const json::Value& value) {
  if (value.is_int()) return kube::Quantity::FromInt(value.AsInt()).MilliValue();
  const auto quantity = kube::Quantity::Parse(value.AsString());
  if (!quantity.ok()) return std::nullopt;
  return quantity->MilliValue();
}

absl::Time TimeOf(const json::Value& value) {
  const absl::StatusOr<absl::Time> time = kube::ParseTime(value.AsString());
  return time.ok() ? *time : absl::InfiniteFuture();
}

absl::Duration WindowOf(const json::Value& value) {
  return base::GoParseDuration(value.AsString()).value_or(absl::ZeroDuration());
}

// Returns nullopt if the container uses nothing that can be read.
std::optional<int64_t> UseOf(const json::Value& container, const std::string& resource) {
  const std::optional<int64_t> use = MilliOf(container["usage"][resource]);
  return use.has_value() && *use >= 0 ? use : std::nullopt;
}

std::optional<int64_t> SumOf(const json::Value& containers, const std::string& resource) {
  if (containers.empty()) return std::nullopt;
  int64_t sum = 0;
  for (const json::Value& container : containers.items()) {
    const std::optional<int64_t> use = UseOf(container, resource);
    if (!use.has_value()) return std::nullopt;
    sum = SaturatedSum(sum, *use);
  }
  return sum;
}

// An error means that the pod has no such container.
absl::StatusOr<std::optional<int64_t>> UseOfContainer(const json::Value& pod,
                                                      const api::MetricSpec& spec) {
  for (const json::Value& container : pod["containers"].items()) {
    if (container["name"].AsString() == spec.container) return UseOf(container, spec.resource);
  }
  const json::Value& metadata = pod["metadata"];
  return absl::NotFoundError(absl::StrCat("failed to get container metrics: container ",
                                          spec.container, " not present in metrics for pod ",
                                          metadata["namespace"].AsString(), "/",
                                          metadata["name"].AsString()));
}

absl::StatusOr<Samples> SamplesOfPods(const json::Value& list, const api::MetricSpec& spec) {
  Samples samples;
  for (const json::Value& pod : list["items"].items()) {
    std::optional<int64_t> use;
    if (spec.container.empty()) {
      use = SumOf(pod["containers"], spec.resource);
    } else {
      ASSIGN_OR_RETURN(use, UseOfContainer(pod, spec));
    }
    if (!use.has_value()) continue;
    const json::Value& metadata = pod["metadata"];
    samples.items.push_back({metadata["name"].ToString(),
                             metadata["annotations"][api::kQuerySourceAnnotation].ToString(),
                             {*use, TimeOf(pod["timestamp"]), WindowOf(pod["window"])}});
  }
  return samples;
}

Samples SamplesOfValues(const json::Value& list) {
  Samples samples;
  samples.adds_up_equal_names = true;
  for (const json::Value& item : list["items"].items()) {
    const std::optional<int64_t> milli = MilliOf(item["value"]);
    if (!milli.has_value()) continue;
    // The field is called windowSeconds in v1beta2, and window in v1beta1.
    const json::Value& window = item[item.Has("windowSeconds") ? "windowSeconds" : "window"];
    samples.items.push_back(
        {item["describedObject"]["name"].ToString(),
         "",
         {*milli, TimeOf(item["timestamp"]),
          window.is_number() ? absl::Seconds(window.AsInt()) : kDefaultWindow}});
  }
  return samples;
}

// An absent selector selects everything.
absl::StatusOr<std::string> SelectorOf(const json::Value& selector) {
  if (selector.is_null()) return std::string();
  ASSIGN_OR_RETURN(const kube::LabelSelector parsed, kube::LabelSelector::FromJson(selector));
  return parsed.ToString();
}

absl::Status NotOneValue(size_t count) {
  return absl::NotFoundError(absl::StrCat(kCustomFailed,
                                          ": the custom metrics API server returned ", count,
                                          " results when we asked for exactly one"));
}

// Returns the name of a request of the API, for kube::InGoWords.
std::string CallOf(absl::string_view group, absl::string_view resource,
                   absl::string_view name = "") {
  return kube::GoCall("get", {{std::string(group), "", ""}, std::string(resource), true}, name);
}

std::string GroupResource(const kube::Resource& resource) {
  if (resource.gvk.group.empty()) return resource.plural;
  return absl::StrCat(resource.plural, ".", resource.gvk.group);
}

}  // namespace

absl::StatusOr<json::Value> MetricsClient::Ask(const Question& question,
                                               const base::StopToken& stop) {
  const base::SteadyTime start = client_.clock().SteadyNow();
  absl::StatusOr<json::Value> answer = kube::GetDocument(client_, question.path, kDeadline, stop);
  if (absl::IsCancelled(answer.status())) return answer;
  registry_
      .GetHistogram("federatedhpa_pull_metrics_duration_seconds",
                    "Duration in seconds taken by the FederatedHPA to pull metrics.",
                    metrics::ExponentialBuckets(0.01, 2, 12),
                    {{"result", answer.ok() ? "success" : "error"}, {"metricType", question.type}})
      .Observe(absl::ToDoubleSeconds(client_.clock().SteadyNow() - start));
  if (!answer.ok()) return kube::InGoWords(answer.status(), question.call);
  return answer;
}

absl::StatusOr<json::Value> MetricsClient::AskCustom(const Question& question,
                                                     const base::StopToken& stop) {
  const auto ask = [&](const char* version) {
    Question full = question;
    full.path.segments = {"apis", api::kCustomMetricsGroup, version};
    full.path.segments.insert(full.path.segments.end(), question.path.segments.begin(),
                              question.path.segments.end());
    return Ask(full, stop);
  };
  // Which version answered last is remembered, so that mostly one request is enough. It is a guess
  // only; two threads may change it at the same time.
  const bool older = is_older_;
  absl::StatusOr<json::Value> answer = ask(older ? kBeta1 : kBeta2);
  if (!absl::IsNotFound(answer.status())) return answer;
  // There is no such version, or no such metric: the same answer.
  absl::StatusOr<json::Value> other = ask(older ? kBeta2 : kBeta1);
  if (!other.ok()) {
    RETURN_IF_ERROR(CheckCustomApi(stop));
    return answer;
  }
  is_older_ = !older;
  return other;
}

absl::Status MetricsClient::CheckCustomApi(const base::StopToken& stop) {
  const absl::StatusOr<json::Value> group =
      kube::GetDocument(client_, {{"apis", api::kCustomMetricsGroup}, {}}, kDeadline, stop);
  if (absl::IsNotFound(group.status())) {
    return absl::NotFoundError(
        absl::StrCat("no custom metrics API (", api::kCustomMetricsGroup, ") registered"));
  }
  if (!group.ok()) return absl::OkStatus();  // It is not known, so the other error counts.
  for (const json::Value& version : (*group)["versions"].items()) {
    const absl::string_view name = version["version"].AsString();
    if (name == kBeta1 || name == kBeta2) return absl::OkStatus();
  }
  return absl::NotFoundError("no known available metric versions found");
}

absl::StatusOr<Samples> MetricsClient::Resource(const PodSelection& pods,
                                                const api::MetricSpec& spec,
                                                const base::StopToken& stop) {
  const auto list =
      Ask({"ResourceMetric",
           {{"apis", api::kResourceMetricsGroup, kBeta1, "namespaces", pods.ns, "pods"},
            {{"labelSelector", pods.selector}}},
           CallOf(api::kResourceMetricsGroup, "pods")},
          stop);
  RETURN_IF_ERROR(base::Annotate(list.status(), kResourceFailed));
  if ((*list)["items"].empty()) return NoMetrics("resource");
  return SamplesOfPods(*list, spec);
}

absl::StatusOr<Samples> MetricsClient::Pods(const PodSelection& pods, const api::MetricSpec& spec,
                                            const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::string selector, SelectorOf(spec.metric_selector));
  const auto list =
      AskCustom({"RawMetric",
                 {{"namespaces", pods.ns, "pods", "*", spec.metric},
                  {{"labelSelector", pods.selector}, {"metricLabelSelector", selector}}},
                 CallOf(api::kCustomMetricsGroup, "pods", "*")},
                stop);
  RETURN_IF_ERROR(base::Annotate(list.status(), kCustomFailed));
  if ((*list)["items"].empty()) return NoMetrics("custom");
  return SamplesOfValues(*list);
}

absl::StatusOr<std::string> MetricsClient::ResourceOf(const kube::Gvk& gvk,
                                                      const base::StopToken& stop) {
  const auto resource = mapper_.ForKind(gvk, stop);
  if (resource.ok()) return GroupResource(*resource);
  RETURN_IF_ERROR(CheckCustomApi(stop));
  const std::string kind = gvk.group.empty() ? gvk.kind : absl::StrCat(gvk.kind, ".", gvk.group);
  // Upstream looks for the kind in any version, and names none.
  const std::string why = kube::IsNoSuchKind(resource.status())
                              ? absl::StrCat("no matches for kind ", base::GoQuote(gvk.kind),
                                             " in group ", base::GoQuote(gvk.group))
                              : std::string(resource.status().message());
  return absl::Status(resource.status().code(),
                      absl::StrCat("unable to map kind ", kind, " to resource: ", why));
}

absl::StatusOr<int64_t> MetricsClient::Object(const std::string& ns, const api::MetricSpec& spec,
                                              const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::string selector, SelectorOf(spec.metric_selector));
  const json::Value& object = spec.described_object;
  ASSIGN_OR_RETURN(const kube::Gvk gvk,
                   kube::ParseGvk(object["apiVersion"].AsString(), object["kind"].AsString()));
  Question question = {
      "ObjectMetric", {{"namespaces", ns}, {{"metricLabelSelector", selector}}}, ""};
  std::vector<std::string>& segments = question.path.segments;
  if (gvk.group.empty() && gvk.kind == "Namespace") {
    // Its own namespace, whatever the name: an autoscaler has no business in others.
    segments.insert(segments.end(), {"metrics", spec.metric});
    question.call = CallOf(api::kCustomMetricsGroup, "metrics", spec.metric);
  } else {
    const absl::StatusOr<std::string> resource = ResourceOf(gvk, stop);
    RETURN_IF_ERROR(base::Annotate(resource.status(), kCustomFailed));
    const std::string name(object["name"].AsString());
    segments.insert(segments.end(), {*resource, name, spec.metric});
    question.call = CallOf(api::kCustomMetricsGroup, *resource, name);
  }
  const auto list = AskCustom(question, stop);
  RETURN_IF_ERROR(base::Annotate(list.status(), kCustomFailed));
  const absl::Span<const json::Value> items = (*list)["items"].items();
  // An object has one value of a metric; more would mean that the adapter took the name for a
  // selector.
  if (items.size() != 1) return NotOneValue(items.size());
  const std::optional<int64_t> milli = MilliOf(items[0]["value"]);
  if (!milli.has_value()) return NoMetrics("custom");
  return *milli;
}

absl::StatusOr<int64_t> MetricsClient::External(const std::string& ns, const api::MetricSpec& spec,
                                                const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::string selector, SelectorOf(spec.metric_selector));
  const auto list =
      Ask({"ExternalMetric",
           {{"apis", api::kExternalMetricsGroup, kBeta1, "namespaces", ns, spec.metric},
            {{"labelSelector", selector}}},
           CallOf(api::kExternalMetricsGroup, spec.metric)},
          stop);
  RETURN_IF_ERROR(base::Annotate(list.status(), kExternalFailed));
  std::optional<int64_t> sum;
  for (const json::Value& item : (*list)["items"].items()) {
    const std::optional<int64_t> milli = MilliOf(item["value"]);
    if (milli.has_value() && *milli >= 0) sum = SaturatedSum(sum.value_or(0), *milli);
  }
  if (!sum.has_value()) return NoMetrics("external");
  return *sum;
}

}  // namespace autoscaling
