// JSON values for everything that passes through the program.
//
// A Value is 16 bytes and cheap to copy: arrays, objects and long strings are shared between copies
// and cloned only when a shared copy is changed (copy on write). An object's members are kept
// sorted by name, so equal values serialise to equal bytes. Parsing and number handling follow what
// Kubernetes' Go code does with unstructured objects: integers stay int64, everything else is a
// double.
//
//   ASSIGN_OR_RETURN(json::Value v, json::Parse(text));
//   int64_t n = v.Get({"spec", "replicas"}).AsInt();
//   v.Set({"spec", "replicas"}, n + 1);
//
// Threads: const access to values that share parts is safe from any thread; one Value object must
// not be changed while another thread uses that same Value object.
#ifndef BASE_JSON_H_
#define BASE_JSON_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace json {

class Fields;
class Member;
template <class T>
class Sequence;

// Names of nested object members, outermost first. Array elements are not addressed by paths.
using Path = absl::Span<const absl::string_view>;

class alignas(8) Value {
 public:
  enum class Type : uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };
  using Init = std::pair<absl::string_view, Value>;

  Value() noexcept {}
  Value(std::nullptr_t) noexcept : Value() {}                     // NOLINT: literals convert.
  Value(bool b) noexcept : tag_(kTagBool) { u_.word.b = b; }      // NOLINT
  Value(int i) noexcept : Value(static_cast<int64_t>(i)) {}       // NOLINT
  Value(int64_t i) noexcept : tag_(kTagInt) { u_.word.i = i; }    // NOLINT
  Value(double d) noexcept : tag_(kTagDouble) { u_.word.d = d; }  // NOLINT
  Value(absl::string_view s);                                     // NOLINT
  Value(const std::string& s) : Value(absl::string_view(s)) {}    // NOLINT
  Value(const char* s) : Value(absl::string_view(s)) {}           // NOLINT
  template <class T>
  Value(T*) = delete;  // Pointers are not booleans.

  Value(const Value& other) noexcept : tag_(other.tag_), u_(other.u_) {
    if (IsShared()) Retain();
  }
  Value(Value&& other) noexcept : tag_(other.tag_), u_(other.u_) { other.tag_ = kTagNull; }
  Value& operator=(const Value& other) noexcept { return *this = Value(other); }
  Value& operator=(Value&& other) noexcept {
    // A third value is used because `other` may be a part of this one, which must not end up in
    // itself.
    Value moved(std::move(other));
    std::swap(tag_, moved.tag_);
    std::swap(u_, moved.u_);
    return *this;
  }
  ~Value() {
    if (IsShared()) Release();
  }

  // Make `{}` and `[]`, optionally with contents. A repeated name keeps its last value.
  static Value Object(std::initializer_list<Init> members = {});
  // As Object, but builds all members at once; cheapest when they are sorted by name.
  static Value OfMembers(std::vector<Member> members);
  static Value Array(std::initializer_list<Value> items = {});
  static Value OfItems(std::vector<Value> items);  // As Array.
  // Make an array of the given strings, or an object of the given string pairs.
  static Value Strings(absl::Span<const std::string> items);

  Type type() const;
  bool is_null() const { return tag_ == kTagNull; }
  bool is_bool() const { return tag_ == kTagBool; }
  bool is_int() const { return tag_ == kTagInt; }
  bool is_number() const { return tag_ == kTagInt || tag_ == kTagDouble; }
  bool is_string() const { return tag_ >= kTagInline || tag_ == kTagString; }
  bool is_array() const { return tag_ == kTagArray; }
  bool is_object() const { return tag_ == kTagObject; }

  // Return the value if it has that type, else `otherwise`. AsInt also accepts a double that is a
  // whole int64.
  bool AsBool(bool otherwise = false) const;
  int64_t AsInt(int64_t otherwise = 0) const;
  double AsDouble(double otherwise = 0) const;
  // The view is valid until this Value is changed or destroyed. (A short string lives inside the
  // Value itself, so do not take a view of a temporary.)
  absl::string_view AsString(absl::string_view otherwise = "") const {
    if (tag_ >= kTagInline) return {u_.inline_chars, static_cast<size_t>(tag_ - kTagInline)};
    return LongString(otherwise);
  }
  std::string ToString(absl::string_view otherwise = "") const {
    return std::string(AsString(otherwise));
  }

  // The number of array items or object members; 0 for anything else.
  size_t size() const;
  bool empty() const { return size() == 0; }

  // Return the member or item; the null value when it is absent or this is not such a container.
  const Value& operator[](absl::string_view name) const;
  const Value& At(size_t index) const;
  const Value& Get(Path path) const;
  // Returns nullptr when absent, so that absent and null can be distinguished.
  const Value* Find(absl::string_view name) const;
  const Value* FindPath(Path path) const;
  bool Has(absl::string_view name) const { return Find(name) != nullptr; }

  absl::Span<const Value> items() const;     // Empty unless this is an array.
  absl::Span<const Member> members() const;  // Empty unless this is an object; sorted by name.

  // Functions that change the value. A value that is not the needed container becomes an empty one
  // first. The returned reference is valid until the next change of the same container.
  Value& Mutable(absl::string_view name);  // Creates the member as null.
  Value& Mutable(Path path);               // Creates objects on the way.
  Value& MutableAt(size_t index);          // REQUIRES: index < size().
  void Set(absl::string_view name, Value value) { Mutable(name) = std::move(value); }
  void Set(Path path, Value value) { Mutable(path) = std::move(value); }
  bool Erase(absl::string_view name);  // Returns whether the member existed.
  bool Erase(Path path);               // Parents stay, even when left empty.
  void Append(Value value);
  void Insert(size_t index, Value value);  // REQUIRES: index <= size().
  void EraseAt(size_t index);              // REQUIRES: index < size().

  // Deep equality; numbers are equal when their mathematical values are. Shared parts cost nothing.
  friend bool operator==(const Value& a, const Value& b);
  friend bool operator!=(const Value& a, const Value& b) { return !(a == b); }

  // Returns whether both are the same shared array, object or long string, which needs no
  // comparison.
  bool SharesWith(const Value& other) const;

 private:
  friend class Builder;
  friend class NodePool;
  // Tags from kTagInline on mean: a string of (tag_ - kTagInline) bytes stored in place.
  enum : uint8_t {
    kTagNull,
    kTagBool,
    kTagInt,
    kTagDouble,
    kTagString,
    kTagArray,
    kTagObject,
    kTagInline
  };
  static constexpr size_t kInlineCapacity = 15;
  struct StringNode;
  struct Word {
    char pad[7];
    union {
      int64_t i;
      bool b;
      double d;
      StringNode* string;
      Sequence<Value>* array;
      Sequence<Member>* object;
    };
  } __attribute__((packed));
  union Storage {
    Word word;
    char inline_chars[kInlineCapacity];
  };

  // Returns the member of that name; nullptr when there is none. REQUIRES: `all` is sorted by name.
  static const Member* FindMember(absl::Span<const Member> all, absl::string_view name);
  template <class Word>
  static const Member* FindInPlace(absl::Span<const Member> all, absl::string_view name);

  absl::string_view LongString(absl::string_view otherwise) const;
  // Returns whether the contents are a node that copies may share.
  bool IsShared() const { return tag_ >= kTagString && tag_ < kTagInline; }
  void Retain() const;
  void Release();
  // Returns the elements, made unshared; `room` more fit in without another allocation.
  Sequence<Value>& OwnArray(size_t room = 0);
  Sequence<Member>& OwnObject(size_t room = 0);

  // All bytes are set; those that the type does not use are 0, except after a move.
  uint8_t tag_ = kTagNull;
  Storage u_ = {};
};

// One name and value of an object.
class Member {
 public:
  Member(Value name, Value v) : value(std::move(v)), name_(std::move(name)) {}
  absl::string_view name() const { return name_.AsString(); }
  Value value;

 private:
  friend class Value;
  friend class NodePool;
  Value name_;
};

struct ParseOptions {
  // Arrays and objects nested deeper are refused (a hostile document cannot exhaust the stack).
  int max_depth = 512;
  // The path of a member that is left out while reading, at no cost; "*" stands for every element
  // of an array. Empty: nothing is left out. The names must outlive the call.
  Path dropped;
  // The fields that are built (base/json_fields.h); the document is still read to its end, and
  // refused if it is malformed. nullptr stands for all fields.
  const Fields* kept = nullptr;
};

// Parses one document. Errors (kInvalidArgument) give the byte offset. kResourceExhausted: more
// than a million values are to be built, and more than one for each 16 bytes; values take many
// times as much memory as text such as "[0,0,0". A repeated member name keeps the last value, as Go
// does. Numbers outside int64 become doubles; not-a-number results are refused.
absl::StatusOr<Value> Parse(absl::string_view text, const ParseOptions& options = {});

struct WriteOptions {
  int indent = 0;            // Spaces per level; 0 writes compact text.
  bool html_escape = false;  // As Go's encoder: < > & U+2028 U+2029 become \uXXXX.
};
// Writes compact text (unless `indent` is set) with sorted names and Go's number formats.
std::string Write(const Value& value, const WriteOptions& options = {});

// Typed look-ups for fields that users may have set wrongly. nullopt when the field is absent (a
// null counts as present); a wrong type is kInvalidArgument with Kubernetes' wording:
// ".spec.replicas accessor error: x is of the type string, expected int64".
absl::StatusOr<std::optional<int64_t>> FindInt(const Value& v, Path path);
absl::StatusOr<std::optional<std::string>> FindString(const Value& v, Path path);
absl::StatusOr<const Value*> FindObject(const Value& v, Path path);  // nullptr when absent.
absl::StatusOr<const Value*> FindArray(const Value& v, Path path);   // nullptr when absent.

}  // namespace json

#endif  // BASE_JSON_H_
