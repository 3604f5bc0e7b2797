// Keeps families by name and their series by labels. What registries have in common (names, help,
// bounds, labels) is shared by all of the process. One mutex guards a registry's families; the
// values are atomic and are changed without it. A series that is removed is only hidden: it stays
// in memory until the registry dies, because callers hold references to it, and returns from zero
// when it is asked for again. A scrape copies all values under the lock and formats the text
// without it. Values of different series are not of one moment.

#include "base/metrics.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "base/internal/process_stats.h"
#include "base/log.h"

namespace metrics {
namespace {

using prometheus::MetricType;

// Values that are the same in many registries, each of which is kept once in the process: the
// labels of a controller, or the help of a family, are those of every agent of a fleet. T has a
// constructor from a key and `const std::string key`. Thread-safe.
template <class T>
class Pool {
 public:
  // `make` returns a new T of this key.
  template <class Make>
  static std::shared_ptr<const T> Get(const std::string& key, Make make) {
    Pool& pool = Instance();
    absl::MutexLock lock(&pool.mu_);
    const auto found = pool.known_.find(key);
    if (found != pool.known_.end()) {
      if (std::shared_ptr<const T> held = found->second.lock()) return held;
      // Its deleter waits for the lock.
      pool.known_.erase(found);
    }
    std::shared_ptr<const T> made(make(key), [](const T* gone) { Instance().Forget(gone); });
    pool.known_.emplace(made->key, made);
    return made;
  }

 private:
  static Pool& Instance() {
    static Pool& pool = *new Pool;
    return pool;
  }

  void Forget(const T* gone) {
    {
      absl::MutexLock lock(&mu_);
      const auto found = known_.find(gone->key);
      // There may be another one of the same key by now.
      if (found != known_.end() && found->first.data() == gone->key.data()) known_.erase(found);
    }
    delete gone;
  }

  absl::Mutex mu_;
  // The keys are those of the values.
  absl::flat_hash_map<absl::string_view, std::weak_ptr<const T>> known_ ABSL_GUARDED_BY(mu_);
};

// Names and values of labels with a NUL behind each, which has them sorted as Labels are.
struct LabelText {
  explicit LabelText(const std::string& text) : key(text) {}
  const std::string key;
};

std::string TextOf(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text.append(name).push_back('\0');
    text.append(value).push_back('\0');
  }
  return text;
}

// Returns names and values in turn.
std::vector<absl::string_view> WordsOf(absl::string_view text) {
  text.remove_suffix(text.empty() ? 0 : 1);
  if (text.empty()) return {};
  return absl::StrSplit(text, '\0');
}

class CounterSeries : public Counter {
 public:
  static constexpr MetricType kType = MetricType::Counter;
  void Increment(double by) override { value_.fetch_add(by, std::memory_order_relaxed); }
  double Value() const override { return value_.load(std::memory_order_relaxed); }
  prometheus::ClientMetric Collect() const {
    prometheus::ClientMetric metric;
    metric.counter.value = Value();
    return metric;
  }
  void Reset() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class GaugeSeries : public Gauge {
 public:
  static constexpr MetricType kType = MetricType::Gauge;
  void Set(double value) override { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) override { value_.fetch_add(by, std::memory_order_relaxed); }
  double Value() const override { return value_.load(std::memory_order_relaxed); }
  prometheus::ClientMetric Collect() const {
    prometheus::ClientMetric metric;
    metric.gauge.value = Value();
    return metric;
  }
  void Reset() { Set(0); }

 private:
  std::atomic<double> value_{0};
};

// Replaces prometheus::Histogram, whose Observe takes a mutex for which the interpreter's workers
// would wait at every answer.
class HistogramSeries : public Histogram {
 public:
  static constexpr MetricType kType = MetricType::Histogram;
  // REQUIRES: `bounds` outlive it.
  explicit HistogramSeries(const std::vector<double>& bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}

  void Observe(double value) override {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value);
    // Each value is counted in its own bucket; Collect adds them up, as the format wants it.
    counts_[bucket - bounds_.begin()].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  // The count is the sum of the buckets; the sum may lack values that are just being observed.
  prometheus::ClientMetric Collect() const {
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

  void Reset() {
    for (std::atomic<uint64_t>& count : counts_) count.store(0, std::memory_order_relaxed);
    sum_.store(0, std::memory_order_relaxed);
  }

 private:
  const std::vector<double>& bounds_;  // Ascending upper bounds; the last bucket has none.
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<double> sum_{0};
};

// What all registries that have a family of this name usually have the same.
struct FamilyText {
  FamilyText(const std::string& whole, MetricType of_type, const std::string& of_name,
             const std::string& of_help, const std::vector<double>& bounds)
      : key(whole), type(of_type), name(of_name), help(of_help), buckets(bounds) {}

  static std::shared_ptr<const FamilyText> Of(MetricType type, const std::string& name,
                                              const std::string& help,
                                              const std::vector<double>& buckets) {
    const std::string key = absl::StrCat(static_cast<int>(type), absl::string_view("\0", 1), name,
                                         absl::string_view("\0", 1), help,
                                         absl::string_view("\0", 1), absl::StrJoin(buckets, ","));
    return Pool<FamilyText>::Get(key, [&](const std::string& whole) {
      return new FamilyText(whole, type, name, help, buckets);
    });
  }

  const std::string key;
  const MetricType type;
  const std::string name, help;
  const std::vector<double> buckets;  // Only histograms have them.
};

using AnySeries = std::variant<std::unique_ptr<CounterSeries>, std::unique_ptr<GaugeSeries>,
                               std::unique_ptr<HistogramSeries>>;

struct Series {
  std::shared_ptr<const LabelText> labels;
  AnySeries value;
  bool removed = false;
};

struct Family {
  // Returns the series with these labels, or where it has to be.
  std::vector<Series>::iterator Find(absl::string_view labels) {
    return std::lower_bound(
        series.begin(), series.end(), labels,
        [](const Series& one, absl::string_view wanted) { return one.labels->key < wanted; });
  }

  std::shared_ptr<const FamilyText> text;
  std::vector<Series> series;  // In the order of their labels.
};

[[noreturn]] void DieOfTypeClash(const std::string& name) {
  base::LogError("metric is used with two types", {{"name", name}});
  std::abort();
}

prometheus::MetricFamily Collect(const Family& family) {
  prometheus::MetricFamily result;
  result.name = family.text->name;
  result.help = absl::StrReplaceAll(family.text->help, {{"\\", "\\\\"}, {"\n", "\\n"}});
  result.type = family.text->type;
  for (const Series& series : family.series) {
    if (series.removed) continue;
    prometheus::ClientMetric metric =
        std::visit([](const auto& value) { return value->Collect(); }, series.value);
    const std::vector<absl::string_view> words = WordsOf(series.labels->key);
    for (size_t i = 0; i < words.size(); i += 2) {
      metric.label.push_back({std::string(words[i]), std::string(words[i + 1])});
    }
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
  // Returns the series of `name` and `labels`; a new one is made by `make(buckets)`.
  template <class S, class Make>
  S& Get(const std::string& name, const std::string& help, const std::vector<double>& buckets,
         const Labels& labels, Make make) {
    const std::string key = TextOf(labels);
    absl::MutexLock lock(&mu);
    // The first caller determines the family's help and buckets; those of later ones are not looked
    // at.
    Family& family = FamilyOf(S::kType, name, help, buckets);
    // This is a mistake of the programmer; to go on would cast the series to a wrong type below.
    if (family.text->type != S::kType) DieOfTypeClash(name);
    auto found = family.Find(key);
    if (found == family.series.end() || found->labels->key != key) {
      auto text = Pool<LabelText>::Get(key, [](const std::string& k) { return new LabelText(k); });
      found = family.series.insert(found, Series{std::move(text), make(family.text->buckets)});
    }
    S& series = *std::get<std::unique_ptr<S>>(found->value);
    if (std::exchange(found->removed, false)) series.Reset();
    return series;
  }

  Family& FamilyOf(MetricType type, const std::string& name, const std::string& help,
                   const std::vector<double>& buckets) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    const auto found = families.find(name);
    if (found != families.end()) return found->second;
    auto text = FamilyText::Of(type, name, help, buckets);
    const absl::string_view own_name = text->name;
    return families.emplace(own_name, Family{std::move(text), {}}).first->second;
  }

  // Hides the series but keeps them in memory, because other code may still hold references.
  void Remove(const Labels& labels, absl::string_view family_prefix) {
    absl::MutexLock lock(&mu);
    for (auto& [name, family] : families) {
      if (!absl::StartsWith(name, family_prefix)) continue;
      for (Series& series : family.series) {
        if (Has(WordsOf(series.labels->key), labels)) series.removed = true;
      }
    }
  }

  static bool Has(const std::vector<absl::string_view>& words, const Labels& labels) {
    size_t i = 0;
    for (const auto& [name, value] : labels) {
      while (i < words.size() && words[i] < name) i += 2;
      if (i >= words.size() || words[i] != name || words[i + 1] != value) return false;
    }
    return true;
  }

  mutable absl::Mutex mu;
  // By names, which are those of their texts.
  std::map<absl::string_view, Family> families ABSL_GUARDED_BY(mu);
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

Counter& Registry::GetCounter(const std::string& name, const std::string& help,
                              const Labels& labels) {
  return impl_->Get<CounterSeries>(name, help, {}, labels, [](const std::vector<double>&) {
    return std::make_unique<CounterSeries>();
  });
}

Gauge& Registry::GetGauge(const std::string& name, const std::string& help, const Labels& labels) {
  return impl_->Get<GaugeSeries>(name, help, {}, labels, [](const std::vector<double>&) {
    return std::make_unique<GaugeSeries>();
  });
}

Histogram& Registry::GetHistogram(const std::string& name, const std::string& help,
                                  const std::vector<double>& buckets, const Labels& labels) {
  return impl_->Get<HistogramSeries>(
      name, help, buckets, labels,
      [](const std::vector<double>& bounds) { return std::make_unique<HistogramSeries>(bounds); });
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
      prometheus::MetricFamily collected = Collect(family);
      // A family all of whose series are removed would be a header without values.
      if (!collected.metric.empty()) families.push_back(std::move(collected));
    }
  }
  AppendProcess(families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace metrics
