// Keeps families by name and their series by labels. One mutex guards both maps; the values are
// atomic and are changed without it. A series that is removed is only hidden: it stays in memory
// until the registry dies, because callers hold references to it, and returns from zero when it is
// asked for again. A scrape copies all values under the lock and formats the text without it.
// Values of different series are not of one moment.

#include "base/metrics.h"

#include <prometheus/client_metric.h>
#include <prometheus/gauge.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "base/internal/process_stats.h"
#include "base/log.h"

namespace metrics {
namespace {

using prometheus::MetricType;

class Series {
 public:
  virtual ~Series() = default;
  virtual prometheus::ClientMetric Collect() const = 0;
  // Sets the value back to zero.
  virtual void Reset() = 0;

  bool removed = false;  // Guarded by the registry's lock.
};

class CounterSeries : public Series, public Counter {
 public:
  static constexpr MetricType kType = MetricType::Counter;
  void Increment(double by) override { value_.fetch_add(by, std::memory_order_relaxed); }
  double Value() const override { return value_.load(std::memory_order_relaxed); }
  prometheus::ClientMetric Collect() const override {
    prometheus::ClientMetric metric;
    metric.counter.value = Value();
    return metric;
  }
  void Reset() override { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class GaugeSeries : public Series, public Gauge {
 public:
  static constexpr MetricType kType = MetricType::Gauge;
  void Set(double value) override { gauge_.Set(value); }
  void Add(double by) override { gauge_.Increment(by); }
  double Value() const override { return gauge_.Value(); }
  prometheus::ClientMetric Collect() const override { return gauge_.Collect(); }
  void Reset() override { gauge_.Set(0); }

 private:
  prometheus::Gauge gauge_;
};

// Replaces prometheus::Histogram, whose Observe takes a mutex for which the interpreter's workers
// would wait at every answer.
class HistogramSeries : public Series, public Histogram {
 public:
  static constexpr MetricType kType = MetricType::Histogram;
  explicit HistogramSeries(const std::vector<double>& bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}

  void Observe(double value) override {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value);
    // Each value is counted in its own bucket; Collect adds them up, as the format wants it.
    counts_[bucket - bounds_.begin()].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  // The count is the sum of the buckets; the sum may lack values that are just being observed.
  prometheus::ClientMetric Collect() const override {
    prometheus::ClientMetric metric;
    prometheus::ClientMetric::Histogram& out = metric.histogram;
    for (size_t i = 0; i < counts_.size(); ++i) {
      out.sample_count += counts_[i].load(std::memory_order_relaxed);
      const double bound =
          i < bounds_.size() ? bounds_[i] : std::numeric_limits<double>::infinity();
      out.bucket.push_back({out.sample_count, bound});
    }
    out.sample_sum = sum_.load(std::memory_order_relaxed);
    return metric;
  }

  void Reset() override {
    for (std::atomic<uint64_t>& count : counts_) count.store(0, std::memory_order_relaxed);
    sum_.store(0, std::memory_order_relaxed);
  }

 private:
  const std::vector<double> bounds_;  // Ascending upper bounds; the last bucket has none.
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<double> sum_{0};
};

struct Family {
  MetricType type;
  std::string help;
  std::vector<double> buckets;
  std::map<Labels, std::unique_ptr<Series>> series;
};

[[noreturn]] void DieOfTypeClash(const std::string& name) {
  base::LogError("metric is used with two types", {{"name", name}});
  std::abort();
}

prometheus::MetricFamily Collect(const std::string& name, const Family& family) {
  prometheus::MetricFamily result;
  result.name = name;
  result.help = absl::StrReplaceAll(family.help, {{"\\", "\\\\"}, {"\n", "\\n"}});
  result.type = family.type;
  for (const auto& [labels, series] : family.series) {
    if (series->removed) continue;
    prometheus::ClientMetric metric = series->Collect();
    for (const auto& [label, value] : labels) metric.label.push_back({label, value});
    result.metric.push_back(std::move(metric));
  }
  return result;
}

prometheus::MetricFamily Single(const char* name, MetricType type, double value, const char* help) {
  prometheus::ClientMetric metric;
  // Only the field that belongs to the type is written out.
  metric.counter.value = value;
  metric.gauge.value = value;
  return {name, help, type, {metric}};
}

void AppendProcess(std::vector<prometheus::MetricFamily>& families) {
  // They are read at each scrape and never kept.
  const auto stats = base::internal::ReadProcessStats();
  if (!stats) return;
  const auto gauge = [&](const char* name, double value, const char* help) {
    families.push_back(Single(name, MetricType::Gauge, value, help));
  };
  families.push_back(Single("process_cpu_seconds_total", MetricType::Counter, stats->cpu_seconds,
                            "Total user and system CPU time spent in seconds."));
  gauge("process_max_fds", stats->max_fds, "Maximum number of open file descriptors.");
  gauge("process_open_fds", stats->open_fds, "Number of open file descriptors.");
  gauge("process_resident_memory_bytes", stats->resident_bytes, "Resident memory size in bytes.");
  gauge("process_start_time_seconds", stats->start_time_seconds,
        "Start time of the process since unix epoch in seconds.");
  gauge("process_virtual_memory_bytes", stats->virtual_bytes, "Virtual memory size in bytes.");
}

}  // namespace

std::vector<double> ExponentialBuckets(double start, double factor, int n) {
  std::vector<double> bounds;
  for (int i = 0; i < n; ++i, start *= factor) bounds.push_back(start);
  return bounds;
}

std::vector<double> DefaultBuckets() { return {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}; }

struct Registry::Impl {
  // Returns the series of `name` and `labels`; a new one is made by `make(family)`.
  template <class S, class Make>
  S& Get(const std::string& name, Family prototype, const Labels& labels, Make make) {
    absl::MutexLock lock(&mu);
    // The first caller determines the family's help and buckets; those of later ones are not looked
    // at.
    Family& family = families.try_emplace(name, std::move(prototype)).first->second;
    // This is a mistake of the programmer; to go on would cast the series to a wrong type below.
    if (family.type != S::kType) DieOfTypeClash(name);
    std::unique_ptr<Series>& series = family.series[labels];
    if (series == nullptr) series = make(family);
    if (std::exchange(series->removed, false)) series->Reset();
    return static_cast<S&>(*series);
  }

  // Hides the series but keeps them in memory, because other code may still hold references.
  void Remove(const Labels& labels, absl::string_view family_prefix) {
    absl::MutexLock lock(&mu);
    for (auto& [name, family] : families) {
      if (!absl::StartsWith(name, family_prefix)) continue;
      for (auto& [own, series] : family.series) {
        if (!std::includes(own.begin(), own.end(), labels.begin(), labels.end())) continue;
        series->removed = true;
      }
    }
  }

  mutable absl::Mutex mu;
  std::map<std::string, Family> families ABSL_GUARDED_BY(mu);
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

Counter& Registry::GetCounter(const std::string& name, const std::string& help,
                              const Labels& labels) {
  return impl_->Get<CounterSeries>(name, {CounterSeries::kType, help}, labels,
                                   [](const Family&) { return std::make_unique<CounterSeries>(); });
}

Gauge& Registry::GetGauge(const std::string& name, const std::string& help, const Labels& labels) {
  return impl_->Get<GaugeSeries>(name, {GaugeSeries::kType, help}, labels,
                                 [](const Family&) { return std::make_unique<GaugeSeries>(); });
}

Histogram& Registry::GetHistogram(const std::string& name, const std::string& help,
                                  const std::vector<double>& buckets, const Labels& labels) {
  return impl_->Get<HistogramSeries>(
      name, {HistogramSeries::kType, help, buckets}, labels,
      [](const Family& family) { return std::make_unique<HistogramSeries>(family.buckets); });
}

void Registry::RemoveSeries(const std::string& label, const std::string& value,
                            absl::string_view family_prefix) {
  impl_->Remove({{label, value}}, family_prefix);
}

void Registry::RemoveSeries(const Labels& labels) { impl_->Remove(labels, ""); }

std::string Registry::Expose() const {
  std::vector<prometheus::MetricFamily> families;
  {
    absl::MutexLock lock(&impl_->mu);
    for (const auto& [name, family] : impl_->families) {
      prometheus::MetricFamily collected = Collect(name, family);
      // A family all of whose series are removed would be a header without values.
      if (!collected.metric.empty()) families.push_back(std::move(collected));
    }
  }
  AppendProcess(families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace metrics
