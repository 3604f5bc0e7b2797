#include <string>

#include <catch2/catch.hpp>

#include "base/json.h"
#include "kube/server/fields/owner_entries.h"

namespace kube::server {
namespace {

OwnerEntry Entry(const std::string& manager, const std::string& operation,
                 const std::string& time) {
  OwnerEntry entry{manager, operation, "", "v1", time, {}};
  entry.fields.Insert({"f:data", "f:" + manager});
  return entry;
}

std::string Managers(const json::Value& list) {
  std::string out;
  for (const json::Value& entry : list.items()) out += entry["manager"].ToString() + " ";
  return out;
}

}  // namespace

TEST_CASE("applies come before updates, older entries before younger ones, then by name") {
  CHECK(Managers(WriteEntries({Entry("d", "Update", "2026-01-01T00:00:02Z"),
                               Entry("c", "Update", "2026-01-01T00:00:01Z"),
                               Entry("b", "Update", "2026-01-01T00:00:01Z"),
                               Entry("z", "Apply", "2026-01-01T00:00:09Z"),
                               Entry("y", "Apply", "")})) == "y z b c d ");
  CHECK(WriteEntries({}).is_null());
}

TEST_CASE("equal owners of two objects are the same memory") {
  const auto list = [] {
    return WriteEntries({Entry("kube-controller-manager", "Update", "2026-01-01T00:00:02Z")});
  };
  CHECK(list().SharesWith(list()));
}

TEST_CASE("entries that are not valid make all of them unknown, as at a kube-apiserver") {
  const json::Value good = WriteEntries({Entry("a", "Update", "")});
  CHECK(ReadEntries(good, false).size() == 1);
  json::Value bad = good;
  bad.Append(json::Value::Object({{"manager", "b"}, {"operation", "Nonsense"}}));
  CHECK(ReadEntries(bad, false).empty());
}

}  // namespace kube::server
