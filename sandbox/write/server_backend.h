// The Backend of one simulated API server, with further functions for its HTTP front end.
#ifndef SANDBOX_WRITE_SERVER_BACKEND_H_
#define SANDBOX_WRITE_SERVER_BACKEND_H_

#include <string>
#include <vector>

#include "sandbox/kinds/registry.h"
#include "sandbox/storage/backend.h"
#include "sandbox/storage/store.h"
#include "sandbox/write/definition_keeper.h"
#include "sandbox/write/kind_fields.h"
#include "sandbox/write/service_addresses.h"
#include "sandbox/write/write_path.h"

namespace sandbox {

class ServerBackend : public Backend {
 public:
  // Creates the namespaces that every cluster has (default, kube-system, kube-public,
  // kube-node-lease).
  explicit ServerBackend(size_t history_events);

  absl::StatusOr<kube::ObjectPtr> Get(const kube::Gvr& r, const kube::ObjectKey& key) override;
  absl::StatusOr<std::vector<kube::ObjectPtr>> List(const kube::Gvr& r, absl::string_view ns,
                                                    const kube::LabelSelector& selector) override;
  absl::StatusOr<kube::ObjectPtr> Create(const kube::Gvr& r, kube::Object object,
                                         bool dry_run) override;
  absl::StatusOr<kube::ObjectPtr> Update(const kube::Gvr& r, kube::Object object,
                                         absl::string_view subresource, bool dry_run) override;
  absl::StatusOr<kube::ObjectPtr> Patch(const kube::Gvr& r, const kube::ObjectKey& key,
                                        const PatchRequest& request) override;
  absl::StatusOr<kube::ObjectPtr> Delete(const kube::Gvr& r, const kube::ObjectKey& key,
                                         const DeleteRequest& request) override;
  int64_t Subscribe(const kube::Gvr& r, std::function<void(const Event&)> callback) override;
  void Unsubscribe(int64_t id) override;
  void AddAdmission(AdmissionHook hook) override;
  std::vector<kube::Resource> Resources() const override;
  kube::Resource Find(const kube::Gvk& gvk) const override;

  // Further variants with the request's circumstances; `subresource` may also be "scale" (the
  // object is then a Scale) and, for namespaces, "finalize".
  absl::StatusOr<kube::ObjectPtr> GetOf(const ResourceInfo& info, const kube::ObjectKey& key,
                                        absl::string_view subresource) const;
  // As GetOf, as of a version; 0: the present one.
  absl::StatusOr<kube::ObjectPtr> GetAt(const ResourceInfo& info, const kube::ObjectKey& key,
                                        absl::string_view subresource, int64_t as_of) const;
  absl::StatusOr<kube::ObjectPtr> CreateOf(const ResourceInfo& info, kube::Object object,
                                           const WriteContext& context);
  // `created` is true when a PUT made a new object.
  struct Written {
    kube::ObjectPtr object;
    bool created = false;
  };
  absl::StatusOr<Written> UpdateOf(const ResourceInfo& info, const WritePath::Target& target,
                                   const kube::Object& object, const WriteContext& context);
  absl::StatusOr<Written> PatchOf(const ResourceInfo& info, const kube::ObjectKey& key,
                                  const PatchRequest& request, const WriteContext& context);
  absl::StatusOr<kube::ObjectPtr> DeleteOf(const ResourceInfo& info, const kube::ObjectKey& key,
                                           const DeleteRequest& request,
                                           const WriteContext& context);

  Store& store() { return store_; }
  const Store& store() const { return store_; }
  const Registry& registry() const { return registry_; }

 private:
  absl::StatusOr<ResourceInfoPtr> Served(const kube::Gvr& r) const;
  absl::Status CheckSubresource(const ResourceInfo& info, absl::string_view subresource) const;
  absl::StatusOr<Written> ApplyOf(const ResourceInfo& info, const kube::ObjectKey& key,
                                  const PatchRequest& request, const WriteContext& context);
  absl::StatusOr<kube::ObjectPtr> UpdateScale(const ResourceInfo& info, const kube::ObjectKey& key,
                                              const WritePath::Change& make_scale,
                                              const WriteContext& context);
  void Bootstrap();

  Store store_;
  Registry registry_;
  ServiceAddresses addresses_;
  KindFields owners_;
  WritePath writes_;
  DefinitionKeeper definitions_;
};

}  // namespace sandbox

#endif  // SANDBOX_WRITE_SERVER_BACKEND_H_
