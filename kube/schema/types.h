// Kubernetes' own types, as the structs of k8s.io/api define them (and a few of Karmada): which
// fields a struct has, what is in them, how Go writes them as JSON, their numbers in protobuf, and
// how lists and objects are merged.
//
//   const kube::schema::Struct* pod = kube::schema::FindKind({"", "v1", "Pod"});
//   const kube::schema::Field* spec = pod->Find("spec");  // spec->of describes PodSpec.
//
// The table is constant data, which the generated kubernetes_types.inc holds: nothing is read or
// built at run time, and pointers into it stay valid for ever. Tests make structs of their own.
#ifndef KUBE_SCHEMA_TYPES_H_
#define KUBE_SCHEMA_TYPES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kube/meta/names.h"

namespace kube::schema {

struct Struct;

// What a value is; in lists and maps, what each of their values is.
enum class Type : uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kBytes,  // []byte: base64 in JSON.
  kQuantity,
  kTime,       // metav1.Time.
  kMicroTime,  // metav1.MicroTime.
  kIntOrString,
  kRaw,      // Any JSON: runtime.RawExtension, metav1.FieldsV1, apiextensionsv1.JSON.
  kStrings,  // A list of strings inside a map (ExtraValue).
  kStruct,
};

enum class Shape : uint8_t {
  kOne,
  kList,
  kMap,  // Keys are strings.
};

// What tells the items of a list apart that server-side apply treats as a map.
struct ListKey {
  absl::string_view name;
  // What an item has that lacks the key.
  enum class Otherwise : uint8_t { kNothing, kText, kZero } otherwise = Otherwise::kNothing;
  absl::string_view text;  // For kText.
};

// How a list or an object is merged with another one.
struct Merge {
  // Server-side apply. A list is a map of its items (`keys`), a set, or has one owner; an object
  // has fields with owners of their own, unless it is atomic.
  absl::Span<const ListKey> keys;
  bool set = false;
  bool atomic = false;
  // The object that holds the field has it as {} or null even if nobody has set it.
  bool implied_object = false, implied_null = false;
  // Strategic merge patch. Without any of these, objects are merged and lists replaced.
  bool patch_merges = false;    // A list is merged: by `patch_key`, or as a set when that is "".
  bool patch_replaces = false;  // An object is replaced.
  bool patch_retains_keys = false;  // A change of the object removes all that it does not name.
  absl::string_view patch_key;
};

// A field, as JSON has it.
struct Field {
  // Bits of `options`.
  enum : uint8_t {
    kPointer = 1,    // Absent and zero differ.
    kOmitEmpty = 2,  // Go leaves it out when it is "", 0, false, null or has no items.
    kOmitZero = 4,   // Go leaves it out when it is the zero time.
  };

  absl::string_view name;
  Type type = Type::kRaw;
  Shape shape = Shape::kOne;
  uint8_t place = 0;   // Among the fields of the struct in Go: in this order Go writes them.
  uint8_t number = 0;  // In protobuf; 0 when the message has no such field (see Inlined).
  uint8_t options = 0;
  const Struct* of = nullptr;    // Not null: the type is kStruct.
  const Merge* merge = nullptr;  // Null when nothing is said; see merging().

  bool pointer() const { return (options & kPointer) != 0; }
  bool omits_empty() const { return (options & kOmitEmpty) != 0; }
  bool omits_zero_time() const { return (options & kOmitZero) != 0; }
  const Merge& merging() const;
};

// A struct whose fields are, in JSON, those of the struct that holds it. In protobuf it is a
// message of its own.
struct Inlined {
  uint8_t number = 0;
  const Struct* of = nullptr;
};

struct Struct {
  absl::string_view group, version;  // The Go package: "apps" and "v1", "meta" and "v1".
  absl::string_view name;
  absl::Span<const Field> fields;     // By name; those of inlined structs, too.
  absl::Span<const Inlined> inlined;  // Those that are messages.
  bool atomic = false;                // Server-side apply: wherever it is, it has one owner.

  // Return nullptr when there is none.
  const Field* Find(absl::string_view field) const;
  const Field* FindNumber(int number) const;
  const Struct* FindInlined(int number) const;
  // Whether protobuf has it at all, as it has all structs of Kubernetes.
  bool InProtobuf() const;
};

struct Kind {
  absl::string_view name, group, version;
  const Struct* of = nullptr;
};

// Returns nullptr for kinds that the table does not have: definitions, API services, custom
// resources. DeleteOptions are the same in every group.
const Struct* FindKind(const Gvk& gvk);

// Returns the type of every object's metadata.
const Struct& ObjectMeta();

// Return types of Karmada: what interpreters answer and are given, and what override policies do.
const Struct& ReplicaRequirements();
const Struct& Component();
const Struct& DependentObjectReference();
const Struct& AggregatedStatusItem();
const Struct& Overriders();

// Returns all kinds, by name, group and version.
absl::Span<const Kind> AllKinds();

}  // namespace kube::schema

#endif  // KUBE_SCHEMA_TYPES_H_
