#include "sandbox/unknown_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/schema/types.h"
#include "kube/server/wire/typed_fields.h"
#include "sandbox/kinds/custom_definitions.h"
#include "sandbox/kinds/schema.h"
#include "sandbox/sim/kinds.h"

namespace sandbox {
namespace {

// Fields of metadata are the same for all kinds.
void AddOfMetadata(const kube::Object& object, std::vector<std::string>& unknown) {
  for (const json::Member& member : object.metadata().members()) {
    if (kube::schema::ObjectMeta().Find(member.name()) == nullptr) {
      unknown.push_back(FieldPath("metadata", member.name()));
    }
  }
}

void AddOfCustom(const kube::Object& definition, kube::Object object,
                 std::vector<std::string>& unknown) {
  for (const ResourceInfo& version : ServedBy(definition)) {
    if (version.resource.gvk != object.gvk() || version.schema == nullptr) continue;
    unknown = version.schema->Prune(object.mutable_root());
  }
}

}  // namespace

std::vector<std::string> UnknownFields(Backend& backend, const kube::Object& object) {
  kube::Object written = object;
  written.Erase({"status"});
  std::vector<std::string> unknown;
  const kube::Resource resource = backend.Find(object.gvk());
  const std::string name = absl::StrCat(resource.plural, ".", resource.gvk.group);
  const auto definition = backend.Get(kinds::Definitions().gvr(), {"", name});
  if (definition.ok()) {
    AddOfCustom(**definition, std::move(written), unknown);
  } else {
    base::IgnoreError(kube::server::DecodeTypedFields(resource.gvk, written, unknown),
                      "a value of a wrong type is refused when the object is applied");
  }
  AddOfMetadata(object, unknown);
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace sandbox
