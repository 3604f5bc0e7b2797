// Rules that the statuses of several built-in kinds have in common, and those of kinds that have a
// file of their own.
#ifndef SANDBOX_WRITE_STATUS_RULES_H_
#define SANDBOX_WRITE_STATUS_RULES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {

// Refuses each of these members of the status that is below zero.
void RequireNonNegative(const json::Value& status, absl::Span<const absl::string_view> names,
                        FieldErrors& errors);

// Returns whether the text is an address as older fields take it: IPv4 may have leading zeros, IPv6
// has no zone (ParseIPSloppy of Kubernetes' k8s.io/utils/net).
bool IsIpAddress(absl::string_view text);
// Refuses an address that is not one, unless the field had it before.
void RequireIpAddress(const std::string& path, const json::Value& address,
                      const std::vector<std::string>& before, FieldErrors& errors);
// Refuses a host name that is not a DNS name, or that is an address.
void RequireHostname(const std::string& path, const json::Value& hostname, FieldErrors& errors);

// The rules of one kind each, for `object` with its new status and `old_object` before the write.
void ValidateJobStatus(const kube::Object& old_object, const kube::Object& object,
                       FieldErrors& errors);
void ValidatePodStatus(const kube::Object& old_object, const kube::Object& object,
                       FieldErrors& errors);
// Fills in what a write of a pod's status leaves out and the server keeps.
void KeepPodStatus(const kube::Object& old_object, kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_WRITE_STATUS_RULES_H_
