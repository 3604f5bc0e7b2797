// The text of an object says what the object says, also after an annotation and a version have been
// put into it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/json.h"
#include "kube/cache/encoded_object.h"

namespace {

constexpr char kOwn[] = "example.com/from";

void Check(bool holds) {
  if (!holds) abort();
}

// Returns the object as its text has it: without the own annotation, and without annotations that
// are empty or no map.
json::Value Expected(json::Value root) {
  if (!root["metadata"].Has("annotations")) return root;
  json::Value& metadata = root.Mutable("metadata");
  if (metadata["annotations"].is_object() && metadata["annotations"].Has(kOwn)) {
    metadata.Mutable("annotations").Erase(kOwn);
  }
  if (metadata["annotations"].empty() || !metadata["annotations"].is_object()) {
    metadata.Erase("annotations");
  }
  return root;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto root = json::Parse(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!root.ok() || !root->is_object()) return 0;
  static const json::Fields kept({"metadata.name", "spec.items.*.a"});
  const json::Value expected = Expected(*root);
  Check(kube::EncodedObject::Make(kube::Object(*root), kept, kOwn)->Decode().root() == expected);
  // The second object of a dictionary consists of references to the first one.
  const auto dictionary = std::make_shared<kube::TextDictionary>();
  const auto first = kube::EncodedObject::Make(kube::Object(*root), kept, kOwn, dictionary);
  const auto object = kube::EncodedObject::Make(kube::Object(*root), kept, kOwn, dictionary);
  Check(first->Decode().root() == expected && object->Decode().root() == expected);

  std::string edited;
  object->AppendTo(edited, {.annotation = "\"example.com/from\":\"m1\"", .version = "abc"});
  const auto read = json::Parse(edited);
  Check(read.ok());
  const json::Value& metadata = expected["metadata"];
  if (!metadata.is_object() || metadata.empty()) {
    Check(*read == expected);
    return 0;
  }
  json::Value with_edits = expected;
  with_edits.Set({"metadata", "annotations", kOwn}, "m1");
  const absl::string_view version = metadata["resourceVersion"].AsString();
  const bool plain = json::Write(version).size() == version.size() + 2;
  if (metadata["resourceVersion"].is_string() && plain) {
    with_edits.Set({"metadata", "resourceVersion"}, "abc");
  }
  Check(*read == with_edits);
  return 0;
}
