// The text is written member by member, so that the two places are known when they are passed. In
// the sorted metadata, annotations precede resourceVersion, so the two edits never change places. A
// missing or empty map of annotations is inserted whole where metadata begins: its name precedes
// all others that objects have, so the order stays.

#include "kube/cache/encoded_object.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/byte_budget.h"
#include "base/json.h"
#include "base/json_size.h"

namespace kube {
namespace {

// Returns the part of `value` that the fields select. What is selected whole is shared.
json::Value Select(const json::Value& value, const json::Fields& fields) {
  if (fields.wants_all()) return value;
  if (value.is_array()) {
    const json::Fields* each = fields.Find("*");
    std::vector<json::Value> items;
    if (each == nullptr) return json::Value::Array();
    for (const json::Value& item : value.items()) items.push_back(Select(item, *each));
    return json::Value::OfItems(std::move(items));
  }
  if (!value.is_object()) return value;
  std::vector<json::Member> members;
  for (const json::Member& member : value.members()) {
    const json::Fields* wanted = fields.Find(member.name());
    if (wanted == nullptr) continue;
    members.emplace_back(json::Value(member.name()), Select(member.value, *wanted));
  }
  return json::Value::OfMembers(std::move(members));
}

class TextWriter {
 public:
  explicit TextWriter(absl::string_view own_annotation) : own_annotation_(own_annotation) {}

  void Write(const json::Value& root) {
    text_ = "{";
    for (const json::Member& member : root.members()) {
      Name(member);
      if (member.name() == "metadata" && member.value.is_object()) {
        Metadata(member.value);
      } else {
        absl::StrAppend(&text_, json::Write(member.value));
      }
    }
    text_ += '}';
  }

  const std::string& text() const { return text_; }
  const EncodedObject::Places& places() const { return places_; }

 private:
  void Name(const json::Member& member) {
    if (text_.back() != '{') text_ += ',';
    absl::StrAppend(&text_, json::Write(json::Value(member.name())), ":");
  }

  uint32_t Here() const { return static_cast<uint32_t>(text_.size()); }

  void Metadata(const json::Value& metadata) {
    text_ += '{';
    places_.annotations_at = Here();
    for (const json::Member& member : metadata.members()) {
      if (member.name() == "annotations") {
        Annotations(member);
        continue;
      }
      Name(member);
      const std::string value = json::Write(member.value);
      if (member.name() == "resourceVersion") NoteVersion(member.value, value);
      absl::StrAppend(&text_, value);
    }
    // An annotation before nothing would leave a comma too many. Objects of servers have names.
    if (text_.back() == '{') places_.annotations_at = 0;
    text_ += '}';
  }

  void NoteVersion(const json::Value& version, const std::string& written) {
    // A version that needs escapes is none that a server made; it is not replaced.
    if (!version.is_string() || written.size() != version.AsString().size() + 2) return;
    places_.version_at = Here() + 1;
    places_.version_size = static_cast<uint32_t>(version.AsString().size());
  }

  void Annotations(const json::Member& member) {
    json::Value annotations = member.value;
    if (!annotations.is_object()) return;
    if (!own_annotation_.empty() && annotations.Has(own_annotation_)) {
      annotations.Erase(own_annotation_);
    }
    if (annotations.empty()) return;
    Name(member);
    places_.has_annotations = true;
    // Behind the opening brace of the map.
    places_.annotations_at = Here() + 1;
    absl::StrAppend(&text_, json::Write(annotations));
  }

  const absl::string_view own_annotation_;
  std::string text_;
  EncodedObject::Places places_;
};

}  // namespace

std::shared_ptr<const EncodedObject> EncodedObject::Make(
    const Object& whole, const json::Fields& kept, absl::string_view own_annotation,
    std::shared_ptr<TextDictionary> dictionary) {
  TextWriter writer(own_annotation);
  writer.Write(whole.root());
  const std::string packed = dictionary == nullptr ? TextDictionary::PackAlone(writer.text())
                                                   : dictionary->Pack(writer.text());
  return std::make_shared<const EncodedObject>(Object(Select(whole.root(), kept)), packed,
                                               writer.places(), std::move(dictionary));
}

EncodedObject::EncodedObject(Object kept, absl::string_view packed, const Places& places,
                             std::shared_ptr<const TextDictionary> dictionary)
    : Object(std::move(kept)),
      packed_(new char[packed.size()]),
      packed_size_(static_cast<uint32_t>(packed.size())),
      places_(places),
      dictionary_(std::move(dictionary)) {
  std::memcpy(packed_.get(), packed.data(), packed.size());
  // Objects that no budget counts are those of tests and of single reads.
  if (dictionary_ == nullptr || dictionary_->budget() == nullptr) return;
  memory_ =
      static_cast<uint32_t>(sizeof(EncodedObject) + packed.size() + json::MemoryOf(this->root()));
  dictionary_->budget()->Take(memory_);
}

EncodedObject::~EncodedObject() {
  if (memory_ > 0) dictionary_->budget()->Give(memory_);
}

std::string EncodedObject::text() const {
  std::string out;
  Reader().Rest(out);
  return out;
}

void EncodedObject::AppendTo(std::string& out, const Edits& edits) const {
  TextReader reader = Reader();
  size_t done = 0;
  if (!edits.annotation.empty() && places_.annotations_at > 0) {
    reader.Next(places_.annotations_at, out);
    done = places_.annotations_at;
    absl::StrAppend(&out, places_.has_annotations ? "" : R"("annotations":{)", edits.annotation,
                    places_.has_annotations ? "," : "},");
  }
  if (!edits.version.empty() && places_.version_at > 0) {
    reader.Next(places_.version_at - done, out);
    out.append(edits.version.data(), edits.version.size());
    reader.Skip(places_.version_size);
  }
  reader.Rest(out);
}

Object EncodedObject::Decode() const {
  auto root = json::Parse(text());
  // The text was written by this program from a value, so it can be read.
  return root.ok() ? Object(*std::move(root)) : Object();
}

}  // namespace kube
