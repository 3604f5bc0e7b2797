// What a Manager's error begins with when it cannot listen on one of its addresses, so that a
// program can add which of its settings has the address.
#ifndef KUBE_RUNTIME_SERVING_NAMES_H_
#define KUBE_RUNTIME_SERVING_NAMES_H_

namespace kube {

inline constexpr char kServingHealth[] = "serving health probes";
inline constexpr char kServingMetrics[] = "serving metrics";

}  // namespace kube

#endif  // KUBE_RUNTIME_SERVING_NAMES_H_
