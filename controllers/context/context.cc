#include "controllers/context/context.h"

#include "api/resources.h"

namespace controllers {

works::Repairs RepairsOf(config::Release release) {
  return release >= config::Release::kV1_19 ? works::Repairs::kByWork : works::Repairs::kByObject;
}

kube::RateLimiterOptions RateLimiterOf(const config::RateLimits& limits) {
  return {limits.base_delay, limits.max_delay, limits.qps, limits.bucket_size};
}

kube::ControllerBuilder Context::NewController(absl::string_view name, int workers) const {
  kube::ControllerBuilder builder(manager);
  builder.Named(std::string(name)).WithWorkers(workers).WithLimiter(RateLimiter());
  return builder;
}

kube::RateLimiterOptions Context::RateLimiter() const { return RateLimiterOf(options.rate_limits); }

kube::ControllerBuilder& ReadsCredentials(kube::ControllerBuilder& builder) {
  return builder.Reads(api::Clusters()).Reads(api::Secrets());
}

}  // namespace controllers
