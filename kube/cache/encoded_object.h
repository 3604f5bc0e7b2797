// An object whose whole JSON text is kept beside the few fields that the program reads as values.
//
//   const EncodedObject& pod = Encoded(*object);      // From an informer with keep_text.
//   pod.AppendTo(out, {.annotation = R"("example.com/from":"member1")", .version = "714"});
//
// The text is written once, when the object arrives: without managedFields, compact, members sorted
// by name, as Go writes unstructured objects; what it has in common with others of its resource is
// stored once (TextDictionary). Two places in it are remembered, so that an annotation can be added
// and the resourceVersion replaced while the text is copied, without reading it again.
//
// It is an Object, so stores, indexes and handlers treat it as one; nothing is added to objects of
// informers that keep no text.
#ifndef KUBE_CACHE_ENCODED_OBJECT_H_
#define KUBE_CACHE_ENCODED_OBJECT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "base/json_fields.h"
#include "kube/cache/text_dictionary.h"
#include "kube/meta/object.h"

namespace kube {

// Immutable, so that any number of threads may use one object.
class EncodedObject : public Object {
 public:
  // Writes the text of `whole` (which has no managedFields), and keeps the `kept` fields of it as
  // values. An annotation `own_annotation`, if it is not empty, is left out of the text: it is the
  // one that readers add. Objects of one resource share a dictionary; without one the text is
  // stored as it is.
  static std::shared_ptr<const EncodedObject> Make(
      const Object& whole, const json::Fields& kept, absl::string_view own_annotation = "",
      std::shared_ptr<TextDictionary> dictionary = nullptr);

  // What is changed while the text is copied. Views have to be valid during the call.
  struct Edits {
    // A member of metadata.annotations as JSON, quoted and escaped: "\"key\":\"value\"". Empty: no
    // annotation is added.
    absl::string_view annotation;
    // Replaces metadata.resourceVersion; written as it is, so it must need no escapes. Empty: the
    // version stays.
    absl::string_view version;
  };

  std::string text() const;
  // Appends the text with the edits.
  void AppendTo(std::string& out, const Edits& edits) const;
  // Reads the whole object again from the text.
  Object Decode() const;
  // The memory that the text takes here, beside the dictionary.
  size_t text_bytes() const { return packed_size_; }
  // The memory that the object takes, which is charged to the dictionary's budget as long as the
  // object lives: with the kept values, as if no two objects shared any. 0 without a budget.
  size_t memory() const { return memory_; }
  // Null without one.
  const TextDictionary* dictionary() const { return dictionary_.get(); }

  // The places in the text that edits need.
  struct Places {
    // Where an annotation is inserted: inside the annotations, or, when there are none, where
    // metadata begins; 0 when there is no metadata.
    uint32_t annotations_at = 0;
    // Where the characters of resourceVersion are; 0 when the object has none.
    uint32_t version_at = 0;
    uint32_t version_size = 0;
    bool has_annotations = false;
  };
  // For Make.
  EncodedObject(Object kept, absl::string_view packed, const Places& places,
                std::shared_ptr<const TextDictionary> dictionary);
  ~EncodedObject();
  EncodedObject(const EncodedObject&) = delete;

 private:
  TextReader Reader() const { return {{packed_.get(), packed_size_}, dictionary_.get()}; }

  std::unique_ptr<char[]> packed_;
  uint32_t packed_size_;
  Places places_;
  uint32_t memory_ = 0;
  std::shared_ptr<const TextDictionary> dictionary_;
};

using EncodedPtr = std::shared_ptr<const EncodedObject>;

// REQUIRES: the object is from an informer with InformerOptions::keep_text.
inline const EncodedObject& Encoded(const Object& object) {
  return static_cast<const EncodedObject&>(object);
}

}  // namespace kube

#endif  // KUBE_CACHE_ENCODED_OBJECT_H_
