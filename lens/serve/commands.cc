#include "lens/serve/commands.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
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

// "kubectl -n shop get deployments.apps web". `plane` are the flags that name the control plane.
std::string Get(const std::string& plane, const kube::Resource& resource,
                const kube::ObjectKey& key) {
  const std::string& group = resource.gvk.group;
  const std::string name = ShellWord(key.name);
  // A name that begins as a flag does would be one.
  const bool looks_like_flag = absl::StartsWith(key.name, "-");
  return absl::StrCat(
      "kubectl", plane, key.ns.empty() ? "" : absl::StrCat(" -n ", ShellWord(key.ns)), " get ",
      resource.plural, group.empty() ? "" : ".", group,
      looks_like_flag ? absl::StrCat(" -o yaml -- ", name) : absl::StrCat(" ", name, " -o yaml"));
}

std::string GetInMember(const std::string& plane, const std::string& cluster,
                        const std::string& path) {
  return absl::StrCat(
      "kubectl", plane, " get --raw ",
      ShellWord(absl::StrCat("/apis/", api::Clusters().gvk.ApiVersion(), "/",
                             api::Clusters().plural, "/", cluster, "/proxy", path)));
}

// Two digits for each byte, so that one which follows it is no part of it.
std::string HexEscaped(absl::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (!absl::ascii_isprint(byte)) {
      absl::StrAppend(&escaped, "\\x", absl::Hex(byte, absl::kZeroPad2));
    } else {
      absl::StrAppend(&escaped, c == '\'' || c == '\\' ? "\\" : "", absl::string_view(&c, 1));
    }
  }
  return escaped;
}

}  // namespace

std::string ShellWord(absl::string_view text) {
  bool is_plain = !text.empty(), is_printable = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    is_plain = is_plain && (absl::ascii_isalnum(byte) || kPlain.find(c) != absl::string_view::npos);
    is_printable = is_printable && absl::ascii_isprint(byte);
  }
  if (is_plain) return std::string(text);
  // In $'...' each other byte is written as \xNN.
  if (!is_printable) return absl::StrCat("$'", HexEscaped(text), "'");
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
  const std::string& plane = chain.asked.flags;
  commands.Append(Command("The object in the control plane", Get(plane, resource, key)));
  if (chain.binding != nullptr) {
    const bool has_ns = !chain.binding->ns().empty();
    commands.Append(Command(
        "Its binding", Get(plane, has_ns ? api::ResourceBindings() : api::ClusterResourceBindings(),
                           chain.binding->key())));
  }
  const auto path = kube::ObjectPath(resource, key, "");
  for (const auto& [cluster, work] : chain.works) {
    commands.Append(
        Command(absl::StrCat("Its Work for ", cluster), Get(plane, api::Works(), work->key())));
    if (!path.ok()) continue;
    commands.Append(
        Command(absl::StrCat("The object in ", cluster), GetInMember(plane, cluster, *path)));
  }
  return commands;
}

}  // namespace lens::serve
