// Walks an object along the table of its kind and rebuilds it as Go's decoder and encoder together
// would leave it. Unknown fields are dropped and their paths collected; the first wrong type ends
// the decoding with Go's message. Values that Go would not write (nulls, empty lists and maps, zero
// values of optional fields) are removed, so that an object that a client sends equals the one that
// a Go server would have stored. Metadata of the object itself is left to NormalizeMetadata.

#include "kube/server/wire/typed_fields.h"

#include <cmath>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/quantity.h"
#include "kube/server/api_errors.h"
#include "kube/server/field_path.h"

namespace kube::server {
namespace {

absl::string_view JsonType(const json::Value& v) {
  if (v.is_string()) return "string";
  if (v.is_bool()) return "bool";
  if (v.is_number()) return "number";
  return v.is_array() ? "array" : "object";
}

bool IsZero(const json::Value& v) {
  if (v.is_string()) return v.AsString().empty();
  if (v.is_bool()) return !v.AsBool();
  return v.is_number() && v.AsDouble() == 0;
}

class Decoder {
 public:
  Decoder(const kube::Gvk& gvk, std::vector<std::string>& unknown) : gvk_(gvk), unknown_(unknown) {}

  absl::StatusOr<json::Value> Message(const json::Value& v, const WireMessage& message,
                                      const std::string& path) {
    if (!v.is_object()) return WrongType(v, path, message.name);
    json::Value out = json::Value::Object();
    for (const json::Member& member : v.members()) {
      const std::string member_path = FieldPath(path, member.name());
      // They are checked elsewhere and pass unchanged.
      if (path.empty() && IsIdentity(member.name())) {
        out.Set(member.name(), member.value);
        continue;
      }
      const WireField* field = message.ByName(member.name());
      if (field == nullptr) {
        unknown_.push_back(member_path);
        continue;
      }
      if (member.value.is_null()) continue;
      // It is set before each field, since nested messages change it.
      owner_ = &message;
      ASSIGN_OR_RETURN(json::Value decoded, Field(member.value, *field, member_path));
      if (!LeftOut(decoded, *field)) out.Set(member.name(), std::move(decoded));
    }
    return out;
  }

 private:
  static bool IsIdentity(absl::string_view name) {
    return name == "apiVersion" || name == "kind" || name == "metadata";
  }

  // As omitempty of Go: structs are written even if they are empty, lists and maps are not.
  static bool LeftOut(const json::Value& v, const WireField& field) {
    if (field.shape != WireField::Shape::kOne) return v.empty();
    const bool scalar = field.type == 's' || field.type == 'i' || field.type == 'b' ||
                        field.type == 'd' || field.type == 'y';
    return scalar && !field.keeps_zero && IsZero(v);
  }

  absl::Status WrongType(const json::Value& v, const std::string& path,
                         absl::string_view wanted) const {
    return Refuse(absl::StrCat("json: cannot unmarshal ", JsonType(v), " into Go struct field ",
                               owner_ == nullptr ? gvk_.kind : owner_->name, ".", path, " of type ",
                               wanted));
  }

  absl::Status Refuse(absl::string_view why) const {
    return BadRequest(absl::StrCat(gvk_.kind, " in version \"", gvk_.version,
                                   "\" cannot be handled as a ", gvk_.kind, ": ", why));
  }

  absl::StatusOr<json::Value> Field(const json::Value& v, const WireField& field,
                                    const std::string& path) {
    switch (field.shape) {
      case WireField::Shape::kOne:
        return One(v, field, path);
      case WireField::Shape::kList:
        return List(v, field, path);
      case WireField::Shape::kMap:
        break;
    }
    return Map(v, field, path);
  }

  absl::StatusOr<json::Value> List(const json::Value& v, const WireField& field,
                                   const std::string& path) {
    if (!v.is_array()) return WrongType(v, path, "[]");
    json::Value out = json::Value::Array();
    for (size_t i = 0; i < v.size(); ++i) {
      ASSIGN_OR_RETURN(json::Value item, One(v.At(i), field, FieldPath(path, i)));
      out.Append(std::move(item));
    }
    return out;
  }

  absl::StatusOr<json::Value> Map(const json::Value& v, const WireField& field,
                                  const std::string& path) {
    if (!v.is_object()) return WrongType(v, path, "map[string]");
    json::Value out = json::Value::Object();
    for (const json::Member& member : v.members()) {
      // Go decodes a null in a map of strings as "".
      if (member.value.is_null() && field.type == 's') {
        out.Set(member.name(), "");
        continue;
      }
      ASSIGN_OR_RETURN(json::Value value, One(member.value, field, FieldPath(path, member.name())));
      out.Set(member.name(), std::move(value));
    }
    return out;
  }

  absl::StatusOr<json::Value> One(const json::Value& v, const WireField& field,
                                  const std::string& path) {
    // The letters are explained in wire_schema.h.
    switch (field.type) {
      case 'O':
        return Message(v, *field.message, path);
      case 'i':
        if (v.is_int() || (v.is_number() && std::trunc(v.AsDouble()) == v.AsDouble())) {
          return json::Value(v.AsInt());
        }
        return WrongType(v, path, "int32");
      case 'b':
        return v.is_bool() ? absl::StatusOr<json::Value>(v) : WrongType(v, path, "bool");
      case 'd':
        return v.is_number() ? absl::StatusOr<json::Value>(v) : WrongType(v, path, "float64");
      case 'I':
        return v.is_int() || v.is_string() ? absl::StatusOr<json::Value>(v)
                                           : WrongType(v, path, "intstr.IntOrString");
      case 'Q':
        return Amount(v, path);
      case 'R':
      case 'F':
      case 'X':
        return v;
      default:
        return Text(v, field, path);
    }
  }

  absl::StatusOr<json::Value> Text(const json::Value& v, const WireField& field,
                                   const std::string& path) {
    if (!v.is_string()) return WrongType(v, path, field.type == 's' ? "string" : "[]byte");
    if (field.type == 'y') {
      std::string unused;
      if (!absl::Base64Unescape(v.AsString(), &unused)) {
        return Refuse("illegal base64 data at input byte 0");
      }
    }
    const bool time = field.type == 'T' || field.type == 'M';
    if (time && !kube::ParseTime(v.AsString()).ok()) {
      return Refuse(absl::StrCat("parsing time ", json::Write(v), " as ",
                                 "\"2006-01-02T15:04:05Z07:00\": cannot parse ", json::Write(v)));
    }
    return v;
  }

  absl::StatusOr<json::Value> Amount(const json::Value& v, const std::string& path) {
    if (!v.is_string() && !v.is_number()) return WrongType(v, path, "resource.Quantity");
    const auto quantity = kube::Quantity::FromJson(v);
    if (!quantity.ok()) return Refuse(quantity.status().message());
    return json::Value(quantity->ToString());
  }

  const kube::Gvk& gvk_;
  std::vector<std::string>& unknown_;
  const WireMessage* owner_ = nullptr;  // The message that the current field belongs to.
};

// For kinds without a table. Items of lists stay, because their positions matter.
json::Value WithoutNulls(const json::Value& v) {
  if (v.is_array()) {
    json::Value out = json::Value::Array();
    for (const json::Value& item : v.items()) out.Append(WithoutNulls(item));
    return out;
  }
  if (!v.is_object()) return v;
  json::Value out = json::Value::Object();
  for (const json::Member& member : v.members()) {
    if (!member.value.is_null()) out.Set(member.name(), WithoutNulls(member.value));
  }
  return out;
}

}  // namespace

absl::Status DecodeTypedFields(const kube::Gvk& gvk, const WireMessage& message,
                               kube::Object& object, std::vector<std::string>& unknown) {
  ASSIGN_OR_RETURN(json::Value decoded, Decoder(gvk, unknown).Message(object.root(), message, ""));
  // Equal parts stay shared with the state from which they were taken.
  if (decoded != object.root()) object = kube::Object(std::move(decoded));
  return absl::OkStatus();
}

absl::Status DecodeTypedFields(const kube::Gvk& gvk, kube::Object& object,
                               std::vector<std::string>& unknown) {
  const WireMessage* message = FindWireMessage(gvk);
  if (message != nullptr) return DecodeTypedFields(gvk, *message, object, unknown);
  json::Value decoded = WithoutNulls(object.root());
  if (decoded != object.root()) object = kube::Object(std::move(decoded));
  return absl::OkStatus();
}

}  // namespace kube::server
