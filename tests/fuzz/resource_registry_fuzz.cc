// Bodies, configurations and continue tokens that clients of ResourceRegistries send. What decoding
// makes of a body decodes to itself; applying a configuration twice is applying it once; tokens are
// refused or understood.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/server/list_options.h"
#include "search/registry/list_request.h"
#include "search/registry/managed_fields.h"
#include "search/registry/registry_rules.h"

namespace {

using kube::server::FieldValidation;

void CheckBody(absl::string_view text) {
  auto body = json::Parse(text);
  if (!body.ok()) return;
  kube::Object object(*std::move(body));
  std::vector<std::string> warnings;
  if (!search::DecodeRegistry(object, FieldValidation::kWarn, &warnings).ok()) return;
  kube::server::FieldErrors errors;
  search::ValidateRegistry(object, errors);
  kube::Object again = object;
  if (!search::DecodeRegistry(again, FieldValidation::kStrict, nullptr).ok()) std::abort();
  if (!(again == object)) std::abort();

  const kube::server::FieldWriter writer{"fuzz", "", absl::UnixEpoch()};
  again.Erase({"metadata", "managedFields"});
  const auto once = search::Applied({}, again, writer, /*force=*/true);
  if (!once.ok()) return;  // What may be stored may not be applied: a set with an item twice.
  const auto twice = search::Applied(*once, again, writer, /*force=*/true);
  if (!twice.ok() || !(*twice == *once)) std::abort();
  kube::Object updated = object;
  search::RecordUpdate(*once, writer, updated);
}

void CheckToken(absl::string_view text) {
  base::HttpRequest request;
  request.query = {{"continue", std::string(text)}};
  const auto options = kube::server::ListOptions::Read(request);
  if (!options.ok()) return;
  const auto list = search::RegistryListRequest::Of(*options);
  if (!list.ok() || !list->continued) return;
  request.query = {{"continue", search::RegistryContinueToken(list->revision, list->after)}};
  const auto same = search::RegistryListRequest::Of(*kube::server::ListOptions::Read(request));
  if (!same.ok() || same->after != list->after || same->revision != list->revision) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  CheckBody(text);
  CheckToken(text);
  return 0;
}
