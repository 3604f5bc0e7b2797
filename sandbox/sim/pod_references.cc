#include "sandbox/sim/pod_references.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

// Real clusters put it into each namespace.
constexpr char kRootCa[] = "kube-root-ca.crt";

struct Reference {
  bool is_secret = false;
  std::string name;
  std::string key;  // Empty stands for the whole object.
  bool in_volume = false;
};

class References {
 public:
  std::vector<Reference> Of(const json::Value& spec) {
    for (const json::Value& volume : spec["volumes"].items()) AddVolume(volume);
    for (const char* list : {"initContainers", "containers"}) {
      for (const json::Value& container : spec[list].items()) AddContainer(container);
    }
    return std::move(found_);
  }

 private:
  void Add(const json::Value& source, Reference reference) {
    if (source.is_null() || source["optional"].AsBool() || reference.name == kRootCa) return;
    if (!reference.name.empty()) found_.push_back(std::move(reference));
  }

  void AddVolume(const json::Value& volume) {
    const json::Value& map = volume["configMap"];
    const json::Value& secret = volume["secret"];
    Add(map, {false, map["name"].ToString(), "", true});
    Add(secret, {true, secret["secretName"].ToString(), "", true});
    for (const json::Value& source : volume["projected"]["sources"].items()) {
      Add(source["configMap"], {false, source["configMap"]["name"].ToString(), "", true});
      Add(source["secret"], {true, source["secret"]["name"].ToString(), "", true});
    }
  }

  void AddContainer(const json::Value& container) {
    for (const json::Value& from : container["envFrom"].items()) {
      Add(from["configMapRef"], {false, from["configMapRef"]["name"].ToString(), ""});
      Add(from["secretRef"], {true, from["secretRef"]["name"].ToString(), ""});
    }
    for (const json::Value& variable : container["env"].items()) {
      const json::Value& map = variable["valueFrom"]["configMapKeyRef"];
      const json::Value& secret = variable["valueFrom"]["secretKeyRef"];
      Add(map, {false, map["name"].ToString(), map["key"].ToString()});
      Add(secret, {true, secret["name"].ToString(), secret["key"].ToString()});
    }
  }

  std::vector<Reference> found_;
};

bool HasKey(const kube::Object& object, const std::string& key) {
  return key.empty() || object.root()["data"].Has(key) || object.root()["binaryData"].Has(key);
}

MissingReference Describe(const Reference& reference, const kube::ObjectPtr& object,
                          const std::string& ns) {
  if (reference.in_volume) return {"ContainerCreating", ""};
  if (object == nullptr) {
    return {"CreateContainerConfigError", absl::StrCat(reference.is_secret ? "secret" : "configmap",
                                                       " \"", reference.name, "\" not found")};
  }
  return {"CreateContainerConfigError",
          absl::StrCat("couldn't find key ", reference.key, " in ",
                       reference.is_secret ? "Secret " : "ConfigMap ", ns, "/", reference.name)};
}

}  // namespace

absl::StatusOr<std::optional<MissingReference>> FindMissingReference(Backend& backend,
                                                                     const kube::Object& pod) {
  const std::string ns(pod.ns());
  for (const Reference& reference : References().Of(pod.spec())) {
    const kube::Resource& kind = reference.is_secret ? kinds::Secrets() : kinds::ConfigMaps();
    ASSIGN_OR_RETURN(const kube::ObjectPtr object,
                     FindObject(backend, kind.gvr(), {ns, reference.name}));
    if (object == nullptr || !HasKey(*object, reference.key)) {
      return std::optional(Describe(reference, object, ns));
    }
  }
  return std::optional<MissingReference>();
}

}  // namespace sandbox
