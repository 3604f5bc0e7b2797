// The programs of a Karmada control plane.
#ifndef API_PROGRAMS_H_
#define API_PROGRAMS_H_

namespace api {

// Their names, which their Leases in kSystemNamespace have, too.
inline constexpr char kControllerManager[] = "karmada-controller-manager";
inline constexpr char kScheduler[] = "karmada-scheduler";
inline constexpr char kSearch[] = "karmada-search";
// Its Leases in a control plane also have the name of its cluster.
inline constexpr char kAgent[] = "karmada-agent";

// The control plane's API server, in logs, metrics and reports.
inline constexpr char kControlPlaneName[] = "karmada-apiserver";

// The name that karmada-scheduler answers to (schedulerName in policies and bindings) unless
// --scheduler-name says otherwise. An empty name means it, too.
inline constexpr char kDefaultSchedulerName[] = "default-scheduler";

}  // namespace api

#endif  // API_PROGRAMS_H_
