// The steps of loading a kubeconfig, separated so that tests need no files in fixed places.
#ifndef KUBE_KUBECONFIG_INTERNAL_KUBECONFIG_FILES_H_
#define KUBE_KUBECONFIG_INTERNAL_KUBECONFIG_FILES_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

// The environment that LoadConnectionConfig reads besides files.
struct ConfigEnvironment {
  std::function<std::string(const char* name)> variable;  // "" when unset.
  std::string service_account_directory = "/var/run/secrets/kubernetes.io/serviceaccount";
};
absl::StatusOr<ConnectionConfig> LoadConnectionConfigFrom(const KubeconfigOptions& options,
                                                          const ConfigEnvironment& environment);
absl::StatusOr<std::string> CurrentContextFrom(const KubeconfigOptions& options,
                                               const ConfigEnvironment& environment);

// The named entries of one or several kubeconfigs, each with the directory to which its relative
// file names refer.
class KubeconfigEntries {
 public:
  struct Entry {
    json::Value value;
    std::string directory;
  };

  // Adds the entries of a file's text; earlier definitions stay. Returns false for a text that has
  // nothing but comments. kInvalidArgument.
  absl::StatusOr<bool> Merge(absl::string_view text, const std::string& directory);
  // Returns the connection that a context ("" for the current one) defines. kInvalidArgument.
  absl::StatusOr<ConnectionConfig> Resolve(const std::string& context) const;
  const std::string& current_context() const { return current_context_; }

 private:
  using Section = std::map<std::string, Entry, std::less<>>;
  static absl::Status MergeSection(const json::Value& list, const char* field,
                                   const std::string& directory, Section& section);

  std::string current_context_;
  Section clusters_, users_, contexts_;
};

// Returns `path` itself when it is absolute or empty, else the path under `directory`.
std::string ResolvePath(absl::string_view path, const std::string& directory);

// Fill the cluster's or the user's part of `config`. kInvalidArgument names the field.
absl::Status ApplyCluster(const KubeconfigEntries::Entry& cluster, ConnectionConfig& config);
absl::Status ApplyUser(const KubeconfigEntries::Entry& user, ConnectionConfig& config);

}  // namespace kube

#endif  // KUBE_KUBECONFIG_INTERNAL_KUBECONFIG_FILES_H_
