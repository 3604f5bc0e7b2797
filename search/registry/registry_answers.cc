#include "search/registry/registry_answers.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/resource_registry.h"
#include "base/status.h"

namespace search {
namespace {

using kube::server::AnswerForm;

class Printer : public kube::server::TablePrinter {
 public:
  const std::vector<Column>& columns() const override { return columns_; }

  Cells Row(const kube::Object& object, absl::Time now) const override {
    const api::ResourceRegistryView registry(object);
    std::set<std::string> kinds;
    for (const api::RegistrySelector& selector : registry.Selectors()) kinds.insert(selector.kind);
    const json::Value* synced = kube::FindCondition(registry.Conditions(), api::kRegistrySynced);
    const auto target = registry.OpenSearch();
    return {object.name(),
            absl::StrJoin(kinds, ","),
            synced == nullptr ? json::Value("<unknown>") : (*synced)["status"],
            kube::server::AgeOf(object.metadata()["creationTimestamp"], now),
            object.metadata()["creationTimestamp"],
            target.has_value() ? absl::StrJoin(target->addresses, ",") : "<none>"};
  }

 private:
  const std::vector<Column> columns_ = {
      {"Name", "string", 0, "name",
       "Name must be unique within a namespace. Is required when creating resources."},
      {"Kinds", "string", 0, "", "The kinds of objects that are cached."},
      {"Synced", "string", 0, "", "Whether the caches of all matching clusters are complete."},
      {"Age", "string", 0, "", "The time since the registry was created."},
      {"Created At", "date", 1, "", "When the registry was created."},
      {"OpenSearch", "string", 1, "", "Where the objects are mirrored."}};
};

// As typed encoders do, which leave the type out of the items of lists.
json::Value Item(const kube::Object& registry) {
  json::Value item = registry.root();
  item.Erase("apiVersion");
  item.Erase("kind");
  return item;
}

}  // namespace

const kube::server::TablePrinter& RegistryPrinter() {
  static const auto* const printer = new Printer;
  return *printer;
}

absl::StatusOr<AnswerWish> AnswerWish::Of(const base::HttpRequest& request,
                                          kube::server::Offer offer) {
  AnswerWish wish;
  ASSIGN_OR_RETURN(wish.form, kube::server::Negotiate(request, offer));
  ASSIGN_OR_RETURN(wish.include, kube::server::IncludeOf(request, wish.form));
  return wish;
}

json::Value RegistryDocument(const kube::ObjectPtr& registry, const AnswerWish& wish) {
  switch (wish.form.kind) {
    case AnswerForm::Kind::kTable:
      return TableOf(RegistryPrinter(), {registry},
                     json::Value::Object({{"resourceVersion", registry->resource_version()}}),
                     {.include = wish.include, .version = wish.form.version});
    case AnswerForm::Kind::kPartial:
      return kube::server::PartialMetadataOf(*registry, wish.form.version);
    case AnswerForm::Kind::kPlain:
    case AnswerForm::Kind::kDiscovery:
      break;
  }
  return registry->root();
}

json::Value RegistryListDocument(const std::vector<kube::ObjectPtr>& registries,
                                 const json::Value& list_metadata, const AnswerWish& wish) {
  if (wish.form.kind == AnswerForm::Kind::kTable) {
    return TableOf(RegistryPrinter(), registries, list_metadata,
                   {wish.include, true, wish.form.version});
  }
  const bool partial = wish.form.kind == AnswerForm::Kind::kPartial;
  json::Value items = json::Value::Array();
  for (const kube::ObjectPtr& registry : registries) {
    items.Append(partial ? kube::server::PartialMetadataOf(*registry, wish.form.version)
                         : Item(*registry));
  }
  const kube::Gvk& gvk = api::ResourceRegistryResource().gvk;
  return json::Value::Object(
      {{"kind", partial ? "PartialObjectMetadataList" : absl::StrCat(gvk.kind, "List")},
       {"apiVersion", partial ? absl::StrCat("meta.k8s.io/", wish.form.version) : gvk.ApiVersion()},
       {"metadata", list_metadata},
       {"items", std::move(items)}});
}

json::Value DeletedDocument(const kube::Object& registry) {
  const kube::Resource& resource = api::ResourceRegistryResource();
  return json::Value::Object({{"kind", "Status"},
                              {"apiVersion", "v1"},
                              {"metadata", json::Value::Object()},
                              {"status", "Success"},
                              {"details", json::Value::Object({{"name", registry.name()},
                                                               {"group", resource.gvk.group},
                                                               {"kind", resource.plural},
                                                               {"uid", registry.uid()}})}});
}

}  // namespace search
