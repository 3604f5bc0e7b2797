// Applies JSON patches, RFC 6902 (declared in patch.h), with the tolerance of evanphx/json-patch,
// which kube-apiserver uses. The target stays as it is when an operation fails. Patches are from
// clients, so the depth of the result, the bytes of copies and the work (PatchBudget) are bounded.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "kube/meta/patch.h"

namespace kube {
namespace {

using json::Value;

// kube-apiserver's limit for the sum of all copy operations.
constexpr size_t kMaxCopiedBytes = 3 * 1024 * 1024;
// The limit of nesting for parsed documents; a patch must not build deeper ones.
constexpr size_t kMaxDepth = 512;
// What an operation costs whatever it does: to find its place takes as long as to look at so many
// values.
constexpr size_t kPerOperation = 10;
// How many items or members of a container are moved to make or fill a gap in the time in which one
// value is looked at.
constexpr size_t kMovedTogether = 16;

// A JSON pointer, split and unescaped: the names of the containers on the way, and the name or
// index in the last one.
struct Pointer {
  std::vector<std::string> parents;
  std::string key;
};

absl::Status Fail(absl::string_view op, absl::string_view path, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat(op, " operation does not apply to \"", path, "\": ", problem));
}

absl::StatusOr<Pointer> ParsePointer(absl::string_view op, absl::string_view path) {
  std::vector<std::string> names = absl::StrSplit(path, '/');
  if (names.size() < 2) return Fail(op, path, "it is not a path inside the document");
  if (names.size() > kMaxDepth) return Fail(op, path, "it is nested too deeply");
  // Text before the first slash is ignored, as evanphx/json-patch does.
  names.erase(names.begin());
  for (std::string& name : names) name = absl::StrReplaceAll(name, {{"~1", "/"}, {"~0", "~"}});
  Pointer pointer;
  pointer.key = std::move(names.back());
  names.pop_back();
  pointer.parents = std::move(names);
  return pointer;
}

// Returns the index that `text` stands for in a list with `count` positions; negative ones count
// from the end.
absl::StatusOr<size_t> ParseIndex(absl::string_view text, size_t count) {
  int index = 0;
  const bool blank = text.find_first_of(" \t\n\v\f\r") != absl::string_view::npos;
  if (blank || !absl::SimpleAtoi(text, &index)) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not an array index"));
  }
  const int64_t size = static_cast<int64_t>(count);
  if (index >= size || index < -size) {
    return absl::InvalidArgumentError(absl::StrCat("index ", index, " is out of range"));
  }
  return static_cast<size_t>(index < 0 ? index + size : index);
}

const Value* Child(const Value& container, absl::string_view key) {
  if (container.is_object()) return container.Find(key);
  if (!container.is_array()) return nullptr;
  const auto index = ParseIndex(key, container.size());
  return index.ok() ? &container.At(*index) : nullptr;
}

// Returns the object or list that contains the pointer's last part; nullptr when it does not exist.
const Value* FindParent(const Value& root, const Pointer& pointer) {
  const Value* at = &root;
  for (const std::string& name : pointer.parents) {
    at = Child(*at, name);
    if (at == nullptr) return nullptr;
  }
  return at->is_object() || at->is_array() ? at : nullptr;
}

const Value* Find(const Value& root, const Pointer& pointer) {
  const Value* parent = FindParent(root, pointer);
  return parent == nullptr ? nullptr : Child(*parent, pointer.key);
}

// As FindParent, for changing the value.
Value* MutableParent(Value& root, const Pointer& pointer) {
  // It is looked for first, because Mutable() adds members that are missing.
  if (FindParent(root, pointer) == nullptr) return nullptr;
  Value* at = &root;
  for (const std::string& name : pointer.parents) {
    at = at->is_object() ? &at->Mutable(name) : &at->MutableAt(*ParseIndex(name, at->size()));
  }
  return at;
}

// Adds the number of values that are looked at to `work`.
size_t Depth(const Value& value, size_t& work) {
  size_t deepest = 0;
  ++work;
  for (const Value& item : value.items()) deepest = std::max(deepest, Depth(item, work));
  for (const json::Member& m : value.members()) deepest = std::max(deepest, Depth(m.value, work));
  return value.is_array() || value.is_object() ? deepest + 1 : 0;
}

// Runs operations on one document. After an error the document is partly changed and must be
// dropped.
class Patcher {
 public:
  // REQUIRES: the budget outlives the patcher.
  Patcher(Value document, PatchBudget& budget) : document_(std::move(document)), budget_(budget) {}

  absl::Status Run(const Value& operation);
  Value Take() { return std::move(document_); }

 private:
  absl::Status Add(absl::string_view op, absl::string_view path, Value value);
  absl::Status Remove(absl::string_view op, absl::string_view path);
  absl::Status Replace(absl::string_view path, Value value);
  absl::Status Test(absl::string_view path, const Value& expected) const;
  absl::Status Move(absl::string_view from, absl::string_view path);
  absl::Status Copy(absl::string_view from, absl::string_view path);
  absl::StatusOr<Value> Get(absl::string_view op, absl::string_view path) const;

  // Returns the depth of a value that is put into the document, and counts its parts.
  size_t CountedDepth(const Value& value);

  Value document_;
  PatchBudget& budget_;
  size_t copied_bytes_ = 0;
};

absl::Status Patcher::Run(const Value& operation) {
  const absl::string_view op = operation["op"].AsString();
  if (!operation["path"].is_string()) {
    return absl::InvalidArgumentError(absl::StrCat(op, " operation has no path"));
  }
  const absl::string_view path = operation["path"].AsString();
  budget_.Spend(kPerOperation);
  if (budget_.IsSpent()) {
    return absl::ResourceExhaustedError(
        Fail(op, path, "the operations before it were too much work").message());
  }
  if (op == "add") return Add(op, path, operation["value"]);
  if (op == "remove") return Remove(op, path);
  if (op == "replace") return Replace(path, operation["value"]);
  if (op == "test") return Test(path, operation["value"]);
  if (op != "move" && op != "copy") {
    return absl::InvalidArgumentError(absl::StrCat("unexpected operation kind \"", op, "\""));
  }
  if (!operation["from"].is_string()) return Fail(op, path, "it has no field from");
  const absl::string_view from = operation["from"].AsString();
  return op == "move" ? Move(from, path) : Copy(from, path);
}

size_t Patcher::CountedDepth(const Value& value) {
  size_t work = 0;
  const size_t depth = Depth(value, work);
  budget_.Spend(work);
  return depth;
}

absl::StatusOr<Value> Patcher::Get(absl::string_view op, absl::string_view path) const {
  ASSIGN_OR_RETURN(const Pointer pointer, ParsePointer(op, path));
  const Value* value = Find(document_, pointer);
  if (value == nullptr) return Fail(op, path, "the path does not exist");
  return *value;
}

absl::Status Patcher::Add(absl::string_view op, absl::string_view path, Value value) {
  ASSIGN_OR_RETURN(const Pointer pointer, ParsePointer(op, path));
  Value* parent = MutableParent(document_, pointer);
  if (parent == nullptr) return Fail(op, path, "its parent does not exist");
  budget_.Spend(parent->size() / kMovedTogether);
  if (pointer.parents.size() + 1 + CountedDepth(value) > kMaxDepth) {
    return Fail(op, path, "the result is nested too deeply");
  }
  if (parent->is_object()) {
    parent->Set(pointer.key, std::move(value));
    return absl::OkStatus();
  }
  if (pointer.key == "-") {
    parent->Append(std::move(value));
    return absl::OkStatus();
  }
  const auto index = ParseIndex(pointer.key, parent->size() + 1);
  if (!index.ok()) return Fail(op, path, index.status().message());
  parent->Insert(*index, std::move(value));
  return absl::OkStatus();
}

absl::Status Patcher::Remove(absl::string_view op, absl::string_view path) {
  ASSIGN_OR_RETURN(const Pointer pointer, ParsePointer(op, path));
  Value* parent = MutableParent(document_, pointer);
  if (parent == nullptr) return Fail(op, path, "its parent does not exist");
  budget_.Spend(parent->size() / kMovedTogether);
  if (parent->is_object()) {
    if (!parent->Erase(pointer.key)) return Fail(op, path, "the path does not exist");
    return absl::OkStatus();
  }
  const auto index = ParseIndex(pointer.key, parent->size());
  if (!index.ok()) return Fail(op, path, index.status().message());
  parent->EraseAt(*index);
  return absl::OkStatus();
}

absl::Status Patcher::Replace(absl::string_view path, Value value) {
  if (path.empty()) {
    if (!value.is_object() && !value.is_array()) {
      return Fail("replace", path, "a document must be an object or a list");
    }
    document_ = std::move(value);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Pointer pointer, ParsePointer("replace", path));
  if (Find(document_, pointer) == nullptr) return Fail("replace", path, "the path does not exist");
  if (pointer.parents.size() + 1 + CountedDepth(value) > kMaxDepth) {
    return Fail("replace", path, "the result is nested too deeply");
  }
  Value& parent = *MutableParent(document_, pointer);
  if (parent.is_object()) {
    parent.Set(pointer.key, std::move(value));
  } else {
    parent.MutableAt(*ParseIndex(pointer.key, parent.size())) = std::move(value);
  }
  return absl::OkStatus();
}

absl::Status Patcher::Test(absl::string_view path, const Value& expected) const {
  if (path.empty()) {
    if (document_ == expected) return absl::OkStatus();
    return Fail("test", path, "the value differs");
  }
  ASSIGN_OR_RETURN(const Pointer pointer, ParsePointer("test", path));
  const Value* value = Find(document_, pointer);
  if (value == nullptr) {
    // An absent member of an existing object counts as null.
    const Value* parent = FindParent(document_, pointer);
    const bool counts_as_null = parent != nullptr && parent->is_object() && expected.is_null();
    return counts_as_null ? absl::OkStatus() : Fail("test", path, "the path does not exist");
  }
  if (*value != expected) return Fail("test", path, "the value differs");
  return absl::OkStatus();
}

absl::Status Patcher::Move(absl::string_view from, absl::string_view path) {
  ASSIGN_OR_RETURN(Value value, Get("move", from));
  RETURN_IF_ERROR(Remove("move", from));
  return Add("move", path, std::move(value));
}

absl::Status Patcher::Copy(absl::string_view from, absl::string_view path) {
  ASSIGN_OR_RETURN(Value value, Get("copy", from));
  // Copies share memory, but each is written out: a few doubling copies would fill any disk.
  copied_bytes_ += json::Write(value).size();
  if (copied_bytes_ > kMaxCopiedBytes) {
    return Fail("copy", path,
                absl::StrCat("the copies add up to more than ", kMaxCopiedBytes, " bytes"));
  }
  return Add("copy", path, std::move(value));
}

}  // namespace

absl::StatusOr<Value> ApplyJsonPatch(Value target, const Value& patch, PatchBudget& budget) {
  if (!patch.is_array()) return absl::InvalidArgumentError("a JSON patch must be a list");
  Patcher patcher(std::move(target), budget);
  for (const Value& operation : patch.items()) {
    if (!operation.is_object()) {
      return absl::InvalidArgumentError("a JSON patch operation must be an object");
    }
    RETURN_IF_ERROR(patcher.Run(operation));
  }
  return patcher.Take();
}

absl::StatusOr<Value> ApplyJsonPatch(const Value& target, const Value& patch) {
  PatchBudget budget;
  return ApplyJsonPatch(target, patch, budget);
}

}  // namespace kube
