// Counters, gauges and histograms in Prometheus' text format.
//
//   metrics::Counter& hits = registry.GetCounter("hits_total", "Requests.", {{"code", "200"}});
//   hits.Increment();
//
// Returned references stay valid until the registry dies, also when the series is removed. All
// calls are thread-safe. Look a series up once and keep the reference on hot paths.
#ifndef BASE_METRICS_H_
#define BASE_METRICS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace metrics {

using Labels = std::map<std::string, std::string>;

class Counter {
 public:
  virtual ~Counter() = default;
  virtual void Increment(double by = 1) = 0;
  virtual double Value() const = 0;
};

class Gauge {
 public:
  virtual ~Gauge() = default;
  virtual void Set(double value) = 0;
  virtual void Add(double by) = 0;
  virtual double Value() const = 0;
};

class Histogram {
 public:
  virtual ~Histogram() = default;
  virtual void Observe(double value) = 0;
};

// Returns n bucket bounds: start, start*factor, ... (Prometheus' ExponentialBuckets).
std::vector<double> ExponentialBuckets(double start, double factor, int n);
// Returns 0.005 ... 10 (Prometheus' DefBuckets).
std::vector<double> DefaultBuckets();

class Registry {
 public:
  Registry();
  ~Registry();
  // The same name and labels return the same series. A name keeps the type, help text and buckets
  // of its first use.
  Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram& GetHistogram(const std::string& name, const std::string& help,
                          const std::vector<double>& buckets, const Labels& labels = {});
  // Removes from the exposition every series with this label value (of an unjoined cluster, for
  // example), in families whose names begin with `family_prefix`. Observations on a removed series
  // are not exposed; the next Get of the same name and labels brings it back, starting from zero.
  void RemoveSeries(const std::string& label, const std::string& value,
                    absl::string_view family_prefix = "");
  // Removes in the same way the series of every family that have all these labels.
  void RemoveSeries(const Labels& labels);
  // Returns the text exposition (version 0.0.4) of all series and of process_* of this process.
  std::string Expose() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace metrics

#endif  // BASE_METRICS_H_
