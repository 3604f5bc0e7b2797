#include "controllers/work_status/lost_status.h"

#include <catch2/catch.hpp>
#include <vector>

#include "api/work.h"
#include "tests/support/members_fixture.h"
#include "works/work_writer.h"

namespace {

using tests::kConfigMaps;

TEST_CASE("objects whose status is taken from their Work are looked at again") {
  works::WantedWork wanted;
  wanted.key = {"karmada-es-m1", "app"};
  wanted.manifest = kube::Object::Make(kConfigMaps.gvk, {"ns", "app"});
  kube::Object work = works::NewWork(wanted);
  json::Value manifests = work.Get({"spec", "workload", "manifests"});
  kube::Object other(manifests.At(0));
  other.Set({"metadata", "name"}, "other");
  manifests.Append(other.root());
  manifests.Append(json::Value("no manifest"));
  work.Set({"spec", "workload", "manifests"}, manifests);
  const auto with = [&](const std::vector<int>& ordinals) {
    kube::Object out = work;
    for (const int ordinal : ordinals) {
      const kube::Object manifest(manifests.At(static_cast<size_t>(ordinal)));
      api::ManifestStatus item{api::ManifestIdentifier::Of(manifest, ordinal), {}, "Healthy"};
      json::Value list = out.status()["manifestStatuses"];
      if (list.is_null()) list = json::Value::Array();
      list.Append(item.ToJson());
      out.Set({"status", "manifestStatuses"}, std::move(list));
    }
    return out;
  };
  CHECK(controllers::LostStatus(with({0, 1}), with({0})));
  CHECK_FALSE(controllers::LostStatus(with({0}), with({0, 1})));
  CHECK_FALSE(controllers::LostStatus(work, work));
  CHECK(controllers::LostStatus(with({1}), with({0})));
  CHECK(controllers::LostStatus(with({1}), with({0, 2})));
  const auto objects = controllers::ObjectsThatLostStatus(with({0, 1}), with({0}));
  REQUIRE(objects.size() == 1);
  CHECK(objects[0] ==
        kube::Request{.key = {"ns", "other"}, .gvk = kConfigMaps.gvk, .cluster = "m1"});
}

}  // namespace
