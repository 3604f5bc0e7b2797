// Decodes the protobuf of built-in kinds into JSON with the table of kube/schema. Only the wire
// format is known here: tags, varints, fixed and length-delimited values. Fields that the tables do
// not have are skipped. Zero values are left out unless the table says that Go writes them. The
// bytes are from clients: every length is compared with what is left, nesting is limited, and all
// errors are the same 400.

#include "kube/server/wire/protobuf_body.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "kube/meta/object.h"
#include "kube/schema/types.h"
#include "kube/server/api_errors.h"

namespace kube::server {
namespace {

using schema::Field;
using schema::Shape;
using schema::Struct;
using schema::Type;

constexpr char kMagic[] = "k8s";  // Followed by a zero byte.
constexpr int kMaxDepth = 64;

absl::Status Malformed() { return BadRequest("the protobuf body is malformed"); }

// One encoded field.
struct Piece {
  int number = 0;
  uint64_t varint = 0;      // Also for fixed-size values.
  absl::string_view bytes;  // For length-delimited values.
  bool delimited = false;
};

class Reader {
 public:
  explicit Reader(absl::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }

  absl::StatusOr<Piece> Next() {
    ASSIGN_OR_RETURN(const uint64_t tag, Varint());
    Piece piece;
    piece.number = static_cast<int>(tag >> 3);
    switch (tag & 7) {
      case 0: {
        ASSIGN_OR_RETURN(piece.varint, Varint());
        return piece;
      }
      case 1:
        RETURN_IF_ERROR(Fixed(8, piece.varint));
        return piece;
      case 2: {
        ASSIGN_OR_RETURN(const uint64_t size, Varint());
        if (size > rest_.size()) return Malformed();
        piece.delimited = true;
        piece.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return piece;
      }
      case 5:
        RETURN_IF_ERROR(Fixed(4, piece.varint));
        return piece;
      default:
        return Malformed();
    }
  }

 private:
  absl::StatusOr<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return Malformed();
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return Malformed();
  }

  absl::Status Fixed(size_t size, uint64_t& value) {
    if (rest_.size() < size) return Malformed();
    for (size_t i = 0; i < size; ++i) {
      value |= static_cast<uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
    }
    rest_.remove_prefix(size);
    return absl::OkStatus();
  }

  absl::string_view rest_;
};

// The fields 1 to 3 of the small well-known messages.
struct Small {
  int64_t number[4] = {};
  std::string text[4];
};

absl::StatusOr<Small> ReadSmall(absl::string_view bytes) {
  Small out;
  for (Reader reader(bytes); !reader.done();) {
    ASSIGN_OR_RETURN(const Piece piece, reader.Next());
    // A newer field of these messages is ignored.
    if (piece.number < 1 || piece.number > 3) continue;
    out.number[piece.number] = static_cast<int64_t>(piece.varint);
    out.text[piece.number] = std::string(piece.bytes);
  }
  return out;
}

absl::StatusOr<json::Value> ReadTime(absl::string_view bytes, bool micro) {
  // An empty message is Go's zero time, which is null in JSON.
  if (bytes.empty()) return json::Value();
  ASSIGN_OR_RETURN(const Small time, ReadSmall(bytes));
  const absl::Time t = absl::FromUnixSeconds(time.number[1]) + absl::Nanoseconds(time.number[2]);
  return json::Value(micro ? kube::FormatMicroTime(t) : kube::FormatTime(t));
}

absl::StatusOr<json::Value> ReadMessage(absl::string_view bytes, const Struct& type, int depth);

absl::StatusOr<json::Value> ReadStrings(absl::string_view bytes) {
  json::Value list = json::Value::Array();
  for (Reader reader(bytes); !reader.done();) {
    ASSIGN_OR_RETURN(const Piece piece, reader.Next());
    if (piece.number == 1) list.Append(piece.bytes);
  }
  return list;
}

absl::StatusOr<json::Value> ReadIntOrString(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const Small v, ReadSmall(bytes));
  return v.number[1] == 0 ? json::Value(v.number[2]) : json::Value(v.text[3]);
}

absl::StatusOr<json::Value> ReadRaw(absl::string_view bytes) {
  ASSIGN_OR_RETURN(const Small raw, ReadSmall(bytes));
  if (raw.text[1].empty()) return json::Value();
  auto parsed = json::Parse(raw.text[1]);
  if (!parsed.ok()) return Malformed();
  return parsed;
}

// Returns one value; null stands for an absent one.
absl::StatusOr<json::Value> ReadOne(const Piece& piece, const Field& field, int depth) {
  switch (field.type) {
    case Type::kString:
      return json::Value(piece.bytes);
    case Type::kInt32:
    case Type::kInt64:
      return json::Value(static_cast<int64_t>(piece.varint));
    case Type::kBool:
      return json::Value(piece.varint != 0);
    case Type::kBytes:
      return json::Value(absl::Base64Escape(piece.bytes));
    case Type::kQuantity: {
      if (piece.bytes.empty()) return json::Value("0");
      ASSIGN_OR_RETURN(const Small quantity, ReadSmall(piece.bytes));
      return json::Value(quantity.text[1]);
    }
    case Type::kTime:
    case Type::kMicroTime:
      return ReadTime(piece.bytes, field.type == Type::kMicroTime);
    case Type::kIntOrString:
      return ReadIntOrString(piece.bytes);
    case Type::kRaw:
      return ReadRaw(piece.bytes);
    case Type::kStrings:
      return ReadStrings(piece.bytes);
    case Type::kStruct:
      break;
  }
  return ReadMessage(piece.bytes, *field.of, depth + 1);
}

// Whether Go's encoder would leave the value out of JSON (omitempty).
bool IsZero(const json::Value& v) {
  if (v.is_string()) return v.AsString().empty();
  if (v.is_bool()) return !v.AsBool();
  return v.is_null() || (v.is_number() && v.AsDouble() == 0);
}

absl::Status ReadEntry(const Piece& piece, const Field& field, int depth, json::Value& out) {
  std::string key;
  // A key that is not sent is empty, and a value what Go's zero value is written as.
  ASSIGN_OR_RETURN(json::Value value, ReadOne({.bytes = ""}, field, depth));
  for (Reader reader(piece.bytes); !reader.done();) {
    ASSIGN_OR_RETURN(const Piece part, reader.Next());
    if (part.number == 1) key = std::string(part.bytes);
    if (part.number == 2) {
      ASSIGN_OR_RETURN(value, ReadOne(part, field, depth));
    }
  }
  out.Set({field.name, key}, std::move(value));
  return absl::OkStatus();
}

absl::Status ReadField(const Piece& piece, const Field& field, int depth, json::Value& out) {
  const bool varint =
      field.type == Type::kInt32 || field.type == Type::kInt64 || field.type == Type::kBool;
  if (field.shape == Shape::kMap) return ReadEntry(piece, field, depth, out);
  // A scalar that is sent as bytes, or the reverse, would be read as zero or "".
  // Kubernetes uses proto2, so lists of numbers are not packed either.
  if (piece.delimited == varint) return Malformed();
  ASSIGN_OR_RETURN(json::Value value, ReadOne(piece, field, depth));
  if (field.shape == Shape::kList) {
    out.Mutable(field.name).Append(std::move(value));
  } else if (field.pointer() || !field.omits_empty() || !IsZero(value)) {
    out.Set(field.name, std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<json::Value> ReadMessage(absl::string_view bytes, const Struct& type, int depth) {
  if (depth > kMaxDepth) return Malformed();
  json::Value out = json::Value::Object();
  for (Reader reader(bytes); !reader.done();) {
    ASSIGN_OR_RETURN(const Piece piece, reader.Next());
    // Fields that are newer than the tables are skipped, as protobuf requires.
    if (const Field* field = type.FindNumber(piece.number)) {
      RETURN_IF_ERROR(ReadField(piece, *field, depth, out));
    } else if (const Struct* inlined = type.FindInlined(piece.number)) {
      ASSIGN_OR_RETURN(const json::Value part, ReadMessage(piece.bytes, *inlined, depth + 1));
      for (const json::Member& member : part.members()) out.Set(member.name(), member.value);
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<json::Value> DecodeProtobufBody(absl::string_view body) {
  // The envelope is runtime.Unknown: typeMeta = 1 (apiVersion = 1, kind = 2), raw = 2.
  if (!absl::ConsumePrefix(&body, absl::string_view(kMagic, sizeof(kMagic)))) {
    return BadRequest("the protobuf body does not start with the expected magic bytes");
  }
  ASSIGN_OR_RETURN(const Small envelope, ReadSmall(body));
  ASSIGN_OR_RETURN(const Small type, ReadSmall(envelope.text[1]));
  const auto gvk = kube::ParseGvk(type.text[1], type.text[2]);
  const Struct* message = gvk.ok() ? schema::FindKind(*gvk) : nullptr;
  if (message == nullptr || !message->InProtobuf()) {
    return BadRequest(absl::StrCat("no kind \"", type.text[2], "\" is registered for version \"",
                                   type.text[1], "\" in protobuf"));
  }
  ASSIGN_OR_RETURN(json::Value object, ReadMessage(envelope.text[2], *message, 0));
  object.Set("apiVersion", type.text[1]);
  object.Set("kind", type.text[2]);
  return object;
}

}  // namespace kube::server
