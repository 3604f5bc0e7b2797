#include "lens/serve/commands.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/resources.h"
#include "kube/client/url.h"

namespace lens::serve {
namespace {

constexpr absl::string_view kPlain = "-_./:@%+=,";

json::Value Command(absl::string_view what, absl::string_view command) {
  return json::Value::Object({{"what", what}, {"command", command}});
}

// "kubectl -n shop get deployments.apps web".
std::string Get(const kube::Resource& resource, const kube::ObjectKey& key) {
  const std::string& group = resource.gvk.group;
  return absl::StrCat("kubectl", key.ns.empty() ? "" : absl::StrCat(" -n ", ShellWord(key.ns)),
                      " get ", resource.plural, group.empty() ? "" : ".", group, " ",
                      ShellWord(key.name), " -o yaml");
}

std::string GetInMember(const std::string& cluster, const std::string& path) {
  return absl::StrCat(
      "kubectl get --raw ",
      ShellWord(absl::StrCat("/apis/", api::Clusters().gvk.ApiVersion(), "/",
                             api::Clusters().plural, "/", cluster, "/proxy", path)));
}

}  // namespace

std::string ShellWord(absl::string_view text) {
  bool is_plain = !text.empty();
  for (const char c : text) {
    const bool is_letter = absl::ascii_isalnum(static_cast<unsigned char>(c));
    is_plain = is_plain && (is_letter || kPlain.find(c) != absl::string_view::npos);
  }
  if (is_plain) return std::string(text);
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", R"('\'')"}}), "'");
}

json::Value CommandsFor(const why::Chain& chain, const kube::Resource& resource) {
  const kube::ObjectKey& key = chain.asked.key;
  json::Value commands = json::Value::Array();
  const std::string named = ShellWord(absl::StrCat(chain.asked.gvk.kind, "/", key.name));
  commands.Append(
      Command("The same in a terminal",
              absl::StrCat("karmada-lens why ", named,
                           key.ns.empty() ? "" : absl::StrCat(" -n ", ShellWord(key.ns)),
                           chain.asked.flags)));
  commands.Append(Command("The object in the control plane", Get(resource, key)));
  if (chain.binding != nullptr) {
    const bool has_ns = !chain.binding->ns().empty();
    commands.Append(Command("Its binding",
                            Get(has_ns ? api::ResourceBindings() : api::ClusterResourceBindings(),
                                chain.binding->key())));
  }
  const auto path = kube::ObjectPath(resource, key, "");
  for (const auto& [cluster, work] : chain.works) {
    commands.Append(
        Command(absl::StrCat("Its Work for ", cluster), Get(api::Works(), work->key())));
    if (!path.ok()) continue;
    commands.Append(Command(absl::StrCat("The object in ", cluster), GetInMember(cluster, *path)));
  }
  return commands;
}

}  // namespace lens::serve
