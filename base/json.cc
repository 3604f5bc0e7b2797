// A Value has a tag and one word, or a text of few bytes in place of the word. Arrays, objects and
// long texts are nodes with a count of references, which copies share. Every function that changes
// a container first asks OwnArray or OwnObject for a node of its own, which copies the node (not
// what it refers to) if others share it: so a change deep in an object copies only the containers
// on the path to it. Members of an object are always sorted by name; searching and comparing rely
// on it.
//
// Counts are decremented with acquire and release, because the thread that frees a node must see
// what others have read from it. Whether a node is shared is read without a lock: only the owner of
// the single reference can add another one.

#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "base/internal/json_nodes.h"

namespace json {
namespace {

const Value& Null() {
  static const Value null;
  return null;
}

bool NameLess(const Member& m, absl::string_view name) { return m.name() < name; }

// Up to this many members are searched one by one: mostly the sizes of two names differ already,
// while a binary search compares whole names. Measured: with it, determining a Deployment's health
// takes a third fewer instructions.
constexpr size_t kFewMembers = 16;

template <class Word>
Word Load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Whole doubles outside this range do not fit an int64.
constexpr double kInt64Limit = 9223372036854775808.0;

// An integer and a double are compared as integers: a double cannot hold every int64, so a
// comparison of doubles would take neighbours for equal.
bool NumbersEqual(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.AsInt() == b.AsInt();
  if (!a.is_int() && !b.is_int()) return a.AsDouble() == b.AsDouble();
  const Value& whole = a.is_int() ? a : b;
  const double d = a.is_int() ? b.AsDouble() : a.AsDouble();
  return d >= -kInt64Limit && d < kInt64Limit && d == std::floor(d) &&
         static_cast<int64_t>(d) == whole.AsInt();
}

}  // namespace

Value::StringNode* Value::StringNode::New(absl::string_view text) {
  void* memory = ::operator new(sizeof(StringNode) + text.size());
  auto* node = new (memory) StringNode;
  node->size = static_cast<uint32_t>(text.size());
  std::memcpy(node->chars(), text.data(), text.size());
  return node;
}

void Value::StringNode::Delete(StringNode* node) {
  node->~StringNode();
  ::operator delete(node);
}

namespace {

template <class T>
void Unref(Sequence<T>* elements) {
  if (elements->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) Sequence<T>::Delete(elements);
}

// Returns `elements`, or a copy when they are shared, with room for `room` more. When it has to
// grow, the capacity is doubled, because mostly more elements follow.
template <class T>
Sequence<T>* Owned(Sequence<T>* elements, size_t room) {
  const size_t needed = elements->size() + room;
  // Somebody else sees this node: it is copied, shallowly, and the others keep the old one.
  if (elements->refs.load(std::memory_order_acquire) != 1) {
    Sequence<T>* copy = Sequence<T>::CopyOf(*elements, needed);
    Unref(elements);
    return copy;
  }
  if (needed <= elements->capacity()) return elements;
  return Sequence<T>::Grow(elements, std::max(needed, 2 * elements->size()));
}

}  // namespace

Value Builder::Of(Sequence<Value>* items) {
  Value v;
  v.tag_ = Value::kTagArray;
  v.u_.word.array = items;
  return v;
}

Value Builder::Array(absl::Span<Value> items) {
  auto* node = Sequence<Value>::New(items.size());
  for (Value& item : items) node->PushBack(std::move(item));
  return Of(node);
}

Value Builder::ArrayOf(absl::Span<Member> elements) {
  auto* node = Sequence<Value>::New(elements.size());
  for (Member& element : elements) node->PushBack(std::move(element.value));
  return Of(node);
}

Value Builder::Object(absl::Span<Member> members) {
  return SortedObject(members.first(Sort(members)));
}

Value Builder::SortedObject(absl::Span<Member> members) {
  auto* node = Sequence<Member>::New(members.size());
  for (Member& member : members) node->PushBack(std::move(member));
  Value v;
  v.tag_ = Value::kTagObject;
  v.u_.word.object = node;
  return v;
}

Value::Value(absl::string_view s) {
  if (s.size() <= kInlineCapacity) {
    tag_ = static_cast<uint8_t>(kTagInline + s.size());
    if (!s.empty()) std::memcpy(u_.inline_chars, s.data(), s.size());
    return;
  }
  tag_ = kTagString;
  u_.word.string = StringNode::New(s);
}

void Value::Retain() const {
  if (tag_ == kTagString) u_.word.string->refs.fetch_add(1, std::memory_order_relaxed);
  if (tag_ == kTagArray) u_.word.array->refs.fetch_add(1, std::memory_order_relaxed);
  if (tag_ == kTagObject) u_.word.object->refs.fetch_add(1, std::memory_order_relaxed);
}

void Value::Release() {
  if (tag_ == kTagString && u_.word.string->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    StringNode::Delete(u_.word.string);
  }
  if (tag_ == kTagArray) Unref(u_.word.array);
  if (tag_ == kTagObject) Unref(u_.word.object);
}

Value Value::Object(std::initializer_list<Init> members) {
  std::vector<Member> list;
  list.reserve(members.size());
  for (const Init& m : members) list.emplace_back(Value(m.first), m.second);
  return Builder::Object(absl::MakeSpan(list));
}

Value Value::OfMembers(std::vector<Member> members) {
  return Builder::Object(absl::MakeSpan(members));
}

Value Value::Array(std::initializer_list<Value> items) {
  return OfItems(std::vector<Value>(items));
}

Value Value::OfItems(std::vector<Value> items) { return Builder::Array(absl::MakeSpan(items)); }

Value Value::Strings(absl::Span<const std::string> items) {
  return OfItems(std::vector<Value>(items.begin(), items.end()));
}

Value::Type Value::type() const {
  switch (tag_) {
    case kTagNull:
      return Type::kNull;
    case kTagBool:
      return Type::kBool;
    case kTagInt:
      return Type::kInt;
    case kTagDouble:
      return Type::kDouble;
    case kTagArray:
      return Type::kArray;
    case kTagObject:
      return Type::kObject;
    default:
      return Type::kString;
  }
}

bool Value::AsBool(bool otherwise) const { return is_bool() ? u_.word.b : otherwise; }

int64_t Value::AsInt(int64_t otherwise) const {
  if (tag_ == kTagInt) return u_.word.i;
  if (tag_ != kTagDouble) return otherwise;
  const double d = u_.word.d;
  return d >= -kInt64Limit && d < kInt64Limit && d == std::floor(d) ? static_cast<int64_t>(d)
                                                                    : otherwise;
}

double Value::AsDouble(double otherwise) const {
  if (tag_ == kTagDouble) return u_.word.d;
  return tag_ == kTagInt ? static_cast<double>(u_.word.i) : otherwise;
}

absl::string_view Value::LongString(absl::string_view otherwise) const {
  return tag_ == kTagString ? u_.word.string->view() : otherwise;
}

size_t Value::size() const {
  if (tag_ == kTagArray) return u_.word.array->size();
  return tag_ == kTagObject ? u_.word.object->size() : 0;
}

absl::Span<const Value> Value::items() const {
  if (tag_ != kTagArray) return {};
  return u_.word.array->elements();
}

absl::Span<const Member> Value::members() const {
  if (tag_ != kTagObject) return {};
  return u_.word.object->elements();
}

// REQUIRES: sizeof(Word) <= name.size() <= 2 * sizeof(Word), and names of this size are stored in
// place. Then the tag holds the size, and the words at both ends, which may overlap, hold the whole
// text.
template <class Word>
const Member* Value::FindInPlace(absl::Span<const Member> all, absl::string_view name) {
  const auto tag = static_cast<uint8_t>(kTagInline + name.size());
  const size_t last = name.size() - sizeof(Word);
  const Word head = Load<Word>(name.data());
  const Word tail = Load<Word>(name.data() + last);
  for (const Member& member : all) {
    if (member.name_.tag_ != tag) continue;
    const char* own = member.name_.u_.inline_chars;
    if (Load<Word>(own) == head && Load<Word>(own + last) == tail) return &member;
  }
  return nullptr;
}

const Member* Value::FindMember(absl::Span<const Member> all, absl::string_view name) {
  if (all.size() > kFewMembers) {
    const auto it = std::lower_bound(all.begin(), all.end(), name, NameLess);
    return it != all.end() && it->name() == name ? &*it : nullptr;
  }
  if (name.size() > kInlineCapacity || name.size() < sizeof(uint16_t)) {
    const auto it = std::find_if(all.begin(), all.end(), [&](const Member& m) {
      return m.name().size() == name.size() && m.name() == name;
    });
    return it != all.end() ? &*it : nullptr;
  }
  if (name.size() >= sizeof(uint64_t)) return FindInPlace<uint64_t>(all, name);
  if (name.size() >= sizeof(uint32_t)) return FindInPlace<uint32_t>(all, name);
  return FindInPlace<uint16_t>(all, name);
}

const Value* Value::Find(absl::string_view name) const {
  const Member* found = FindMember(members(), name);
  return found != nullptr ? &found->value : nullptr;
}

const Value& Value::operator[](absl::string_view name) const {
  const Value* found = Find(name);
  return found != nullptr ? *found : Null();
}

const Value& Value::At(size_t index) const {
  const absl::Span<const Value> all = items();
  return index < all.size() ? all[index] : Null();
}

const Value* Value::FindPath(Path path) const {
  const Value* at = this;
  for (const absl::string_view name : path) {
    at = at->Find(name);
    if (at == nullptr) return nullptr;
  }
  return at;
}

const Value& Value::Get(Path path) const {
  const Value* found = FindPath(path);
  return found != nullptr ? *found : Null();
}

Sequence<Value>& Value::OwnArray(size_t room) {
  // What is not an array becomes one: writers need not care what was there.
  if (tag_ != kTagArray) *this = Builder::Array({});
  return *(u_.word.array = Owned(u_.word.array, room));
}

Sequence<Member>& Value::OwnObject(size_t room) {
  if (tag_ != kTagObject) *this = Builder::Object(absl::Span<Member>());
  return *(u_.word.object = Owned(u_.word.object, room));
}

// The place is determined before the node is owned, since a copy has other addresses.
Value& Value::Mutable(absl::string_view name) {
  if (const Member* found = FindMember(members(), name)) {
    const auto at = static_cast<size_t>(found - members().data());
    return OwnObject()[at].value;
  }
  Sequence<Member>& own = OwnObject(1);
  const absl::Span<Member> all = own.elements();
  // Objects are mostly built in the order of their names.
  const bool is_last = all.empty() || NameLess(all.back(), name);
  const auto after = is_last ? all.end() : std::lower_bound(all.begin(), all.end(), name, NameLess);
  const auto at = static_cast<size_t>(after - all.begin());
  own.Insert(at, Member(Value(name), Value()));
  return own[at].value;
}

Value& Value::Mutable(Path path) {
  Value* at = this;
  for (const absl::string_view name : path) at = &at->Mutable(name);
  return *at;
}

Value& Value::MutableAt(size_t index) { return OwnArray()[index]; }

bool Value::Erase(absl::string_view name) {
  const Member* found = FindMember(members(), name);
  if (found == nullptr) return false;
  const auto at = static_cast<size_t>(found - members().data());
  OwnObject().Erase(at);
  return true;
}

bool Value::Erase(Path path) {
  // It is looked for first, so that erasing what is absent neither copies nor makes containers on
  // the way.
  if (path.empty() || FindPath(path) == nullptr) return false;
  Value* parent = this;
  for (const absl::string_view name : path.subspan(0, path.size() - 1)) {
    parent = &parent->Mutable(name);
  }
  return parent->Erase(path.back());
}

void Value::Append(Value value) { OwnArray(1).PushBack(std::move(value)); }

void Value::Insert(size_t index, Value value) { OwnArray(1).Insert(index, std::move(value)); }

void Value::EraseAt(size_t index) { OwnArray().Erase(index); }

bool Value::SharesWith(const Value& other) const {
  if (tag_ != other.tag_) return false;
  if (tag_ == kTagString) return u_.word.string == other.u_.word.string;
  if (tag_ == kTagArray) return u_.word.array == other.u_.word.array;
  return tag_ == kTagObject && u_.word.object == other.u_.word.object;
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return NumbersEqual(a, b);
  if (a.type() != b.type()) return false;
  // Most objects that are compared are copies of one another with few changes, so this ends most
  // comparisons early.
  if (a.SharesWith(b)) return true;
  switch (a.type()) {
    case Value::Type::kNull:
      return true;
    case Value::Type::kBool:
      return a.AsBool() == b.AsBool();
    case Value::Type::kString:
      return a.AsString() == b.AsString();
    case Value::Type::kArray:
      return a.items() == b.items();
    default:
      return std::equal(a.members().begin(), a.members().end(), b.members().begin(),
                        b.members().end(), [](const Member& x, const Member& y) {
                          return x.name() == y.name() && x.value == y.value;
                        });
  }
}

}  // namespace json
