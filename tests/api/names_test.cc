#include "api/names.h"

#include <catch2/catch.hpp>

#include "api/binding_address.h"
#include "api/resources.h"

TEST_CASE("names of bindings and Works are upstream's") {
  struct Case {
    const char *kind, *name, *ns, *binding, *work;
  };
  const Case cases[] = {
      {"Deployment", "nginx", "default", "nginx-deployment", "nginx-687f7fb96f"},
      {"Service", "nginx", "default", "nginx-service", "nginx-64b7849b5"},
      {"ConfigMap", "app.conf", "default", "app.conf-configmap", "app.conf-6cdf7856df"},
      {"Namespace", "demo", "", "demo-namespace", "demo-6654f4c4f6"},
      {"Namespace", "foo", "", "foo-namespace", "foo-5dbdc7b59c"},
      {"ClusterRole", "system:Reader", "", "system.reader-clusterrole", "system.reader-95c867f78"},
      {"Role", "Foo:Bar", "ns1", "foo.bar-role", "foo.bar-86b7f8cd86"},
      {"CustomResourceDefinition", "foos.example.io", "",
       "foos.example.io-customresourcedefinition", "foos.example.io-8695575659"},
      {"ClusterRole", "karmada-impersonator", "", "karmada-impersonator-clusterrole",
       "karmada-impersonator-7cbb6bd5c9"},
      {"ClusterRoleBinding", "karmada-impersonator", "", "karmada-impersonator-clusterrolebinding",
       "karmada-impersonator-84f8c8f8c6"},
      {"EndpointSlice", "serve-abc", "default", "serve-abc-endpointslice", "serve-abc-5bf85bf5bf"},
      {"ResourceQuota", "q", "ns", "q-resourcequota", "q-554b9684f"},
  };
  for (const Case& c : cases) {
    INFO(c.kind << " " << c.name);
    CHECK(api::BindingName(c.kind, c.name) == c.binding);
    const api::BindingAddress at = api::BindingOf(c.kind, {c.ns, c.name});
    CHECK(at.key == kube::ObjectKey{c.ns, c.binding});
    CHECK(at.resource == (absl::string_view(c.ns).empty() ? api::ClusterResourceBindings()
                                                          : api::ResourceBindings()));
    CHECK(api::WorkName(c.kind, c.name, c.ns) == c.work);
  }
}

TEST_CASE("hashes are FNV-1a over the plain bytes") {
  CHECK(api::Fnv1a32("") == 2166136261u);
  CHECK(api::Fnv1a32("default-nginx-deployment") == 2439396529u);
  CHECK(api::Fnv1a32("demo-namespace") == 2210907092u);
  CHECK(api::Fnv1a32("default/nginx-deployment") == 1687170879u);
  CHECK(api::SafeEncode("0123456789") == "456789bcdf");
  CHECK(api::DependedByHash("default", "nginx-deployment") == "5bdc5c4dcf");
}

TEST_CASE("execution namespaces map to clusters and back") {
  CHECK(api::ExecutionNamespace("member1") == "karmada-es-member1");
  CHECK(api::ClusterOfExecutionNamespace("karmada-es-member1").value() == "member1");
  const absl::Status refused = api::ClusterOfExecutionNamespace("default").status();
  CHECK(refused.code() == absl::StatusCode::kInvalidArgument);
  CHECK_FALSE(api::IsExecutionNamespace("karmada-esx"));
}

TEST_CASE("Karmada's own namespaces are reserved, others are not") {
  for (const char* ns : {"karmada-system", "karmada-cluster", "karmada-es-m1"}) {
    CHECK(api::IsReservedNamespace(ns));
  }
  for (const char* ns : {"", "default", "kube-system", "karmada", "my-karmada-system"}) {
    CHECK_FALSE(api::IsReservedNamespace(ns));
  }
}
