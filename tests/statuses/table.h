// tests/data/statuses/table.yaml: objects, and what API servers say to their statuses.
#ifndef TESTS_STATUSES_TABLE_H_
#define TESTS_STATUSES_TABLE_H_

#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/string_view.h"
#include "base/files.h"
#include "base/yaml.h"
#include "kube/meta/object.h"

namespace tests {

inline json::Value StatusTable() {
  const auto table = yaml::Parse(base::ReadFile("tests/data/statuses/table.yaml").value());
  INFO(table.status().ToString());
  REQUIRE(table.ok());
  return *table;
}

// Returns the table's object of the kind, which has no name yet.
inline kube::Object StatusTableObject(const json::Value& table, absl::string_view kind) {
  json::Value object = table["objects"][kind];
  REQUIRE(object.is_object());
  object.Set("kind", kind);
  return kube::Object(std::move(object));
}

}  // namespace tests

#endif  // TESTS_STATUSES_TABLE_H_
