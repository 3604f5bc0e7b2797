#include "search/proxy/internal/protobuf_edit.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace search {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

absl::Status Malformed() { return absl::InvalidArgumentError("malformed protobuf message"); }

// Takes a varint off the front.
std::optional<uint64_t> TakeVarint(absl::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

struct Field {
  uint32_t number = 0;
  bool has_contents = false;   // A string, bytes or message field.
  absl::string_view bytes;     // The whole field.
  absl::string_view contents;  // Of a field that has some.
};

absl::StatusOr<Field> TakeField(absl::string_view& rest) {
  const absl::string_view start = rest;
  const std::optional<uint64_t> tag = TakeVarint(rest);
  if (!tag) return Malformed();
  Field field;
  field.number = static_cast<uint32_t>(*tag >> 3);
  std::optional<uint64_t> size;
  switch (*tag & 7) {
    case kVarint:
      size = TakeVarint(rest) ? std::optional<uint64_t>(0) : std::nullopt;
      break;
    case kFixed64:
      size = 8;
      break;
    case kFixed32:
      size = 4;
      break;
    case kLength:
      field.has_contents = true;
      size = TakeVarint(rest);
      break;
    default:
      break;
  }
  if (!size || *size > rest.size()) return Malformed();
  field.contents = rest.substr(0, *size);
  rest.remove_prefix(*size);
  field.bytes = start.substr(0, start.size() - rest.size());
  return field;
}

}  // namespace

absl::StatusOr<std::string> EditField(absl::string_view message, FieldPath path,
                                      const FieldEdit& edit) {
  std::string out;
  while (!message.empty()) {
    ASSIGN_OR_RETURN(const Field field, TakeField(message));
    if (field.number != path[0] || !field.has_contents) {
      absl::StrAppend(&out, field.bytes);
      continue;
    }
    std::optional<std::string> changed;
    if (path.size() == 1) {
      ASSIGN_OR_RETURN(changed, edit(field.contents));
    } else {
      ASSIGN_OR_RETURN(changed, EditField(field.contents, path.subspan(1), edit));
    }
    if (!changed) continue;
    // The lengths of the enclosing fields change with it; each level of the recursion writes its
    // own.
    AppendVarint(static_cast<uint64_t>(field.number) << 3 | kLength, out);
    AppendVarint(changed->size(), out);
    absl::StrAppend(&out, *changed);
  }
  return out;
}

}  // namespace search
