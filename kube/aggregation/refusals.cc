#include "kube/aggregation/refusals.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "kube/server/api_errors.h"

namespace kube::aggregation {

Refusals::Refusals(metrics::Registry* registry, const std::string& cause, std::string bound)
    : counter_(registry == nullptr
                   ? nullptr
                   : &registry->GetCounter("karmada_refused_requests_total",
                                           "Number of requests that were refused with 429 because "
                                           "too much was being done, by cause.",
                                           {{"cause", cause}})),
      bound_(std::move(bound)) {}

absl::Status Refusals::Refuse() const {
  if (counter_ != nullptr) counter_->Increment();
  return server::TooManyRequests(
      absl::StrCat("Too many requests, please try again later. ", bound_), absl::Seconds(1));
}

}  // namespace kube::aggregation
