// Reads from a live control plane what a plan starts from. It only reads.
#ifndef LENS_PLAN_LIVE_READER_H_
#define LENS_PLAN_LIVE_READER_H_

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/dependencies.h"
#include "api/resource_selector.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/object.h"
#include "lens/plan/input.h"
#include "lens/plan/outcome.h"

namespace lens::plan {

// What a plan takes over from a live control plane.
struct LiveState {
  std::vector<kube::Object> definitions;  // Of the kinds of templates, where they are custom.
  // Clusters, customizations, override policies, policies, in this order.
  std::vector<kube::Object> scenery;
  std::vector<kube::Object> templates;
  std::vector<kube::Object> bindings;  // Of the templates, of both scopes.
  std::vector<kube::Object> works;     // Of the bindings.
  // By which agents of clusters in pull mode show that they are alive; empty for who may not read
  // them, and when there is no such cluster.
  std::vector<kube::Object> agent_leases;
  // ClusterTaintPolicies and FederatedResourceQuotas, for questions about the fleet.
  std::vector<kube::Object> taint_policies, quotas;
};

// Keeps what it has read, so that nothing is read, or returned, twice. Not thread-safe.
class LiveReader {
 public:
  // `discovery` is what the server serves. REQUIRES: `client` outlives the reader.
  LiveReader(kube::Client& client, kube::Discovery discovery)
      : client_(client), discovery_(std::move(discovery)) {}

  // Returns the scenery, and the templates that applying the files may affect: those in the files,
  // those that policies and overrides in the files select or have claimed, and those of kinds that
  // customizations in the files are for; with them everything that they are recorded to need, and
  // whatever needs that, too. Errors are the client's, with what was to be read.
  absl::StatusOr<LiveState> ReadTouched(const std::vector<InputObject>& files,
                                        const base::StopToken& stop);
  // Returns everything that is propagated, and what is asked about the fleet for, too: for
  // questions about the fleet, which may touch any template. The files are applied besides.
  absl::StatusOr<LiveState> ReadAll(const std::vector<InputObject>& files,
                                    const base::StopToken& stop);
  // Returns what the references name or select, likewise.
  absl::StatusOr<LiveState> ReadNeeded(const std::vector<api::DependentReference>& references,
                                       const base::StopToken& stop);

 private:
  using Target = std::pair<kube::Gvk, kube::ObjectKey>;

  absl::StatusOr<std::vector<kube::Object>> List(const kube::Resource& resource,
                                                 const std::string& ns, const std::string& labels,
                                                 const base::StopToken& stop);
  // Returns an empty Resource for a kind that is not served.
  kube::Resource ResourceOf(const kube::Gvk& gvk) const;
  absl::Status ReadScenery(const base::StopToken& stop);
  void ReadAgentLeases(const base::StopToken& stop);
  absl::Status Touch(const kube::Object& file, const base::StopToken& stop);
  absl::Status TouchSelected(const kube::Object& policy, const base::StopToken& stop);
  absl::Status TouchMatching(const api::ResourceSelector& selector, const std::string& ns,
                             const base::StopToken& stop);
  void TouchClaimed(const kube::Object& policy);
  void TouchKind(const kube::Gvk& target);
  absl::Status TouchReference(const api::DependentReference& reference,
                              const base::StopToken& stop);
  void Add(const kube::Gvk& gvk, const kube::ObjectKey& key);

  // Reads all targets that were added, and those that they lead to.
  absl::StatusOr<LiveState> Drain(const base::StopToken& stop);
  absl::Status ReadTarget(const Target& target, const base::StopToken& stop);
  // Returns the template, by a request of its own unless its kind was listed.
  absl::StatusOr<kube::Object> Template(const Target& target, const base::StopToken& stop);
  // Lists the kinds of which many objects are propagated.
  absl::Status ListTemplates(const base::StopToken& stop);
  absl::Status ReadDefinition(const kube::Gvk& gvk, const base::StopToken& stop);
  absl::Status ReadWorks(const base::StopToken& stop);
  // Reads those that have one of these values of the label.
  absl::Status ReadWorksOf(const std::string& label, const std::set<std::string>& ids,
                           const base::StopToken& stop);

  kube::Client& client_;
  kube::Discovery discovery_;
  std::vector<kube::Object> policies_, overrides_;
  std::map<kube::ObjectKey, kube::Object> bindings_;  // All; of both scopes.
  // The objects of kinds that were listed as a whole.
  std::map<kube::Gvk, std::map<kube::ObjectKey, kube::Object>> listed_;
  std::set<Target> seen_;
  std::set<kube::Gvk> defined_;
  std::deque<Target> open_;
  LiveState state_;  // What the next Drain returns.
};

}  // namespace lens::plan

#endif  // LENS_PLAN_LIVE_READER_H_
