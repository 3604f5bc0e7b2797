#include "cmd/search/kind_definitions.h"

#include "kube/meta/names.h"

namespace cmd {
namespace {

kube::Resource Definitions() {
  return {{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
          "customresourcedefinitions",
          false};
}

}  // namespace

KindDefinitions::KindDefinitions(kube::InformerSet& control_plane) {
  control_plane.SetDefaultOptions(Definitions(),
                                  {.fields = search::CustomKinds::FieldsOfDefinitions()});
  informer_ = control_plane.Get(Definitions());
  handler_ = informer_->AddHandler(
      {.on_add = [this](const kube::ObjectPtr& added, bool) { kinds_.Set(*added); },
       .on_update = [this](const kube::ObjectPtr&,
                           const kube::ObjectPtr& now) { kinds_.Set(*now); },
       .on_delete = [this](const kube::ObjectPtr& last) { kinds_.Remove(last->name()); }});
}

KindDefinitions::~KindDefinitions() { informer_->RemoveHandler(handler_); }

}  // namespace cmd
