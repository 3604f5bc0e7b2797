#include "sandbox/write/kind_fields.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sandbox/kinds/schema.h"

namespace sandbox {
namespace {

using kube::server::FieldKind;
using kube::server::FieldOwners;
using kube::server::FieldType;
using kube::server::FieldVersions;

FieldType TypeOf(const ResourceInfo& info) {
  if (!info.custom) return FieldType::OfBuiltin(info.resource.gvk);
  const bool has_schema = info.schema != nullptr && !info.schema->root().is_null();
  return has_schema ? FieldType::OfObjects(info.schema->root()) : FieldType::OfUntypedObjects();
}

FieldKind KindOf(const ResourceInfo& info) {
  return {info.resource.gvk, TypeOf(info), info.custom, info.status_subresource};
}

class Versions : public FieldVersions {
 public:
  // REQUIRES: the arguments outlive this object.
  Versions(const Registry& registry, const ResourceInfo& own)
      : FieldVersions(KindOf(own)), registry_(registry), own_info_(own) {}

  const FieldKind* Find(const std::string& api_version) override {
    if (const FieldKind* written = FieldVersions::Find(api_version)) return written;
    const auto [slot, is_new] = others_.try_emplace(api_version);
    if (is_new) slot->second = Other(api_version);
    return slot->second == nullptr ? nullptr : &slot->second->kind;
  }
  json::Value Convert(const FieldKind& from, const FieldKind& to, json::Value value) override {
    if (from.gvk == to.gvk) return value;
    const auto stored = kube::Share(InfoOf(from).ToStored(kube::Object(std::move(value))));
    return InfoOf(to).ToServed(stored)->root();
  }

 private:
  struct Version {
    ResourceInfoPtr info;
    FieldKind kind;
  };

  std::unique_ptr<Version> Other(const std::string& api_version) const {
    const size_t slash = api_version.find('/');
    const bool core = slash == std::string::npos;
    const ResourceInfoPtr info = registry_.Find(
        kube::Gvr{core ? "" : api_version.substr(0, slash),
                  core ? api_version : api_version.substr(slash + 1), own_info_.resource.plural});
    if (info == nullptr || info->table() != own_info_.table()) return nullptr;
    return std::make_unique<Version>(Version{info, KindOf(*info)});
  }
  const ResourceInfo& InfoOf(const FieldKind& kind) const {
    return &kind == &own() ? own_info_ : *others_.at(kind.gvk.ApiVersion())->info;
  }

  const Registry& registry_;
  const ResourceInfo& own_info_;
  std::map<std::string, std::unique_ptr<Version>> others_;  // Null: not served any more.
};

}  // namespace

json::Value KindFields::AfterUpdate(const ResourceInfo& info, const kube::Object& current,
                                    const kube::Object& wanted, const json::Value& given,
                                    const FieldWriter& writer) const {
  Versions versions(registry_, info);
  return FieldOwners(versions).AfterUpdate(current, wanted, given, writer);
}

absl::StatusOr<kube::Object> KindFields::AfterApply(const ResourceInfo& info,
                                                    const kube::Object& current,
                                                    const kube::Object& config,
                                                    const FieldWriter& writer, bool force) const {
  Versions versions(registry_, info);
  return FieldOwners(versions).AfterApply(current, config, writer, force);
}

}  // namespace sandbox
