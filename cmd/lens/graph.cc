// Draws a graph of files or of a live control plane, whichever is asked for: with --filename the
// files are simulated (lens/plan), else the control plane is read. KIND/NAME cuts out the part
// around one object; that an object is absent and that it could not be read are different errors.
// What could not be read is warned of, and the rest is drawn. Nothing is written to the control
// plane.

#include "cmd/lens/graph.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/resources.h"
#include "base/enumerated.h"
#include "base/status.h"
#include "cmd/lens/files.h"
#include "cmd/lens/flags.h"
#include "config/flag_types.h"
#include "config/support.h"
#include "kube/discovery/rest_mapper.h"
#include "lens/graph/disk.h"
#include "lens/graph/live.h"
#include "lens/graph/render.h"
#include "lens/graph/svg.h"
#include "sandbox/kinds/custom_definitions.h"
#include "sandbox/kinds/resource_info.h"
#include "sandbox/sim/kinds.h"
#include "tool/flags.h"
#include "tool/live_objects.h"

namespace cmd::lens {
namespace {

namespace graph = ::lens::graph;

constexpr char kExamples[] = R"(Examples:
  %prog% graph -f deploy/                          # a tree
  %prog% graph -f deploy/ deployment/web -n shop   # what has to do with one object
  %prog% graph -f deploy/ -o svg > graph.svg       # a picture
  %prog% graph -f deploy/ -o dot | dot -Tpdf -o graph.pdf
  %prog% graph --kubeconfig karmada.config         # of a live control plane
  %prog% graph --kubeconfig karmada.config deployment/web -n shop)";

enum class Format { kText, kDot, kSvg, kJson };
constexpr auto kFormats = base::Enumerate<Format>({{Format::kText, "text"},
                                                   {Format::kDot, "dot"},
                                                   {Format::kSvg, "svg"},
                                                   {Format::kJson, "json"}});

struct GraphOptions {
  FileOptions files;
  std::string reference;  // KIND/NAME, or "".
  tool::LiveOptions live{.program = "karmada-lens"};
  interpreter::customized::MergeOptions merge;  // Of a live control plane.
  Format format = Format::kText;
};

void Add(kube::Resource resource, std::vector<std::string> short_names, kube::Discovery& kinds) {
  kinds.resources.push_back({std::move(resource), {"get"}, std::move(short_names), true});
}

void AddAll(const std::vector<sandbox::ResourceInfo>& infos, kube::Discovery& kinds) {
  for (const sandbox::ResourceInfo& info : infos) Add(info.resource, info.short_names, kinds);
}

// The short names of the kinds that a graph shows beside templates.
std::vector<std::string> ShortNamesOf(absl::string_view resource) {
  if (resource == "propagationpolicies") return {"pp"};
  if (resource == "clusterpropagationpolicies") return {"cpp"};
  return {};
}

// Returns what a server would serve that has the objects, with the names by which kubectl's users
// call it: Kubernetes' own kinds, Karmada's, those that definitions among the objects define, and
// those of the objects themselves.
kube::Discovery KindsFor(const std::vector<::lens::plan::InputObject>& objects) {
  kube::Discovery kinds;
  AddAll(sandbox::BuiltinResources(), kinds);
  for (const config::KindSupport& kind : config::Kinds()) {
    const kube::Gvk gvk{std::string(kind.group), std::string(kind.version), std::string(kind.kind)};
    Add({gvk, std::string(kind.resource), true}, ShortNamesOf(kind.resource), kinds);
  }
  for (const ::lens::plan::InputObject& read : objects) {
    if (read.object.gvk() == sandbox::kinds::Definitions().gvk) {
      AddAll(sandbox::ServedBy(read.object), kinds);
    }
  }
  // A custom resource without its definition has the plural that most have.
  for (const ::lens::plan::InputObject& read : objects) {
    const std::string plural = absl::StrCat(absl::AsciiStrToLower(read.object.kind()), "s");
    Add({read.object.gvk(), plural, true}, {}, kinds);
  }
  return kinds;
}

// Returns whether a node is what KIND/NAME means: "Deployment shop/web" is an object web of the
// kind Deployment in any namespace, unless one is given.
bool IsMeant(const graph::Node& node, const tool::LiveReference& wanted, const std::string& ns) {
  if (node.type == graph::NodeType::kCluster) {
    return absl::EqualsIgnoreCase(wanted.type, "cluster") && node.name == wanted.name;
  }
  // Names of nodes are "<Kind> <namespace>/<name>", or "<Kind> <name>" without a namespace.
  const std::vector<std::string> words = absl::StrSplit(node.name, absl::MaxSplits(' ', 1));
  const std::string kind = absl::AsciiStrToLower(words[0]);
  if (absl::AsciiStrToLower(wanted.type) != kind) return false;
  const std::string name = words.size() < 2 ? "" : words[1];
  if (name == wanted.name) return true;  // Without a namespace.
  return ns.empty() ? absl::EndsWith(name, absl::StrCat("/", wanted.name))
                    : name == absl::StrCat(ns, "/", wanted.name);
}

// Returns the part of the graph that has to do with the nodes that `wanted` accepts.
absl::StatusOr<graph::Graph> Part(const graph::Graph& whole, const GraphOptions& options,
                                  const std::function<bool(const graph::Node&)>& wanted) {
  graph::Graph part = graph::PartAround(whole, wanted);
  if (!part.nodes.empty()) return part;
  const std::string& ns = options.live.ns;
  const std::string what = absl::StrCat(options.reference.empty() ? "template" : options.reference,
                                        ns.empty() ? "" : absl::StrCat(" in namespace ", ns));
  // What could not be read may hold the object.
  if (whole.unread.empty()) return absl::NotFoundError(absl::StrCat("there is no ", what));
  return absl::PermissionDeniedError(absl::StrCat("no ", what, " was found, but not everything ",
                                                  "could be read: ", whole.unread[0]));
}

// Without KIND/NAME that is the whole graph.
absl::StatusOr<graph::Graph> PartOfFiles(const graph::Graph& whole, const GraphOptions& options,
                                         const kube::Discovery& kinds) {
  if (options.reference.empty()) return whole;
  ASSIGN_OR_RETURN(tool::LiveReference wanted, tool::ParseLiveReference(options.reference));
  // A kind that is not known is looked for as it is written.
  const auto found = tool::FindResource(kinds, wanted.type);
  if (found.ok()) wanted.type = found->gvk.kind;
  return Part(whole, options,
              [&](const graph::Node& node) { return IsMeant(node, wanted, options.live.ns); });
}

std::string Rendered(const graph::Graph& graph, Format format, const tool::Colours& colours) {
  switch (format) {
    case Format::kText:
      return graph::TreeOf(graph, colours);
    case Format::kDot:
      return graph::DotOf(graph);
    case Format::kSvg:
      return graph::SvgOf(graph);
    case Format::kJson:
      return tool::Formatted(graph::JsonOf(graph), tool::Format::kJson);
  }
  return "";
}

absl::StatusOr<graph::Graph> OfFiles(const GraphOptions& options, tool::Console& console) {
  if (!options.live.kubeconfig.empty() || !options.live.context.empty()) {
    return absl::InvalidArgumentError(
        "--filename is about files, --kubeconfig and --context about a live control plane: leave "
        "one of them out");
  }
  if (options.reference.empty() && !options.live.ns.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--namespace=", options.live.ns, " has no effect without KIND/NAME"));
  }
  if (options.merge.combined) {
    return absl::InvalidArgumentError(
        "--combined-customizations is about a live control plane: with files give "
        "--feature-gates=CombinedCustomizations=true");
  }
  ASSIGN_OR_RETURN(const auto request, ReadFiles(options.files, console));
  tool::ShowProgress(console, "simulating");
  ASSIGN_OR_RETURN(const graph::Graph whole, graph::GraphOfFiles(request, {}));
  return PartOfFiles(whole, options, KindsFor(request.objects));
}

// Returns whether the node is a template of the namespace: "Deployment shop/web" is one of shop.
bool IsIn(const graph::Node& node, const std::string& ns) {
  return node.type == graph::NodeType::kTemplate &&
         absl::StrContains(node.name, absl::StrCat(" ", ns, "/"));
}

absl::StatusOr<graph::Graph> OfControlPlane(const GraphOptions& options, tool::Console& console) {
  tool::ShowProgress(console, "reading");
  tool::LiveReference reference;
  if (!options.reference.empty()) {
    ASSIGN_OR_RETURN(reference, tool::ParseLiveReference(options.reference));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<tool::LiveConnection> live, tool::Connect(options.live));
  graph::LiveQuestion question{.ns = live->ns, .merge = options.merge};
  if (!options.reference.empty()) {
    ASSIGN_OR_RETURN(question.resource, tool::FindResource(live->discovery, reference.type));
    question.key = {question.resource.namespaced ? live->ns : "", reference.name};
  }
  ASSIGN_OR_RETURN(const graph::Graph whole,
                   graph::GraphOfLive(live->client, live->discovery, question, {}));
  // live->ns is never empty (the context's namespace); options.live.ns is what the user typed.
  if (options.reference.empty() && options.live.ns.empty()) return whole;
  const bool is_cluster = question.resource.gvk == api::Clusters().gvk;
  const std::string name =
      is_cluster ? question.key.name
                 : absl::StrCat(question.resource.gvk.kind, " ", question.key.ToString());
  return Part(whole, options, [&](const graph::Node& node) {
    return options.reference.empty() ? IsIn(node, options.live.ns) : node.name == name;
  });
}

// Returns an error for a flag that says something about files when there are none.
absl::Status CheckFileFlags(const CLI::App& app) {
  if (app.count("--filename") > 0) return absl::OkStatus();
  for (const absl::string_view name :
       {absl::string_view("--recursive"), absl::string_view("--clusters"),
        absl::string_view("--crds"), config::kReleaseFlag,
        absl::string_view("--skipped-propagating-apis"),
        absl::string_view("--skipped-propagating-namespaces"),
        absl::string_view("--feature-gates")}) {
    if (app.count(std::string(name)) == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has an effect on files only: give --filename, too"));
  }
  return absl::OkStatus();
}

absl::StatusOr<tool::ExitCode> RunGraph(const GraphOptions& options, tool::Console& console) {
  const bool of_files = !options.files.files.empty();
  const absl::StatusOr<graph::Graph> graph =
      of_files ? OfFiles(options, console) : OfControlPlane(options, console);
  tool::ShowProgress(console, "");
  if (!graph.ok()) return graph.status();
  for (const std::string& unread : graph->unread) {
    console.err << console.err_colours.Yellow("warning:") << " not read: " << tool::OneLine(unread)
                << "\n";
  }
  console.out << Rendered(*graph, options.format, console.out_colours);
  return tool::ExitCode::kFine;
}

}  // namespace

void AddGraph(tool::CommandLine& line) {
  CLI::App& app = line.Add("graph", "Show what templates need and where they go", kExamples);
  auto options = std::make_shared<GraphOptions>();
  app.add_option_function<std::vector<std::string>>(
         "KIND/NAME",
         [options](const std::vector<std::string>& words) {
           options->reference = absl::StrJoin(words, "/");
         },
         "show only what has to do with this object; KIND NAME is the same")
      ->expected(1, 2);
  AddFileFlags(app, options->files)->required(false);
  tool::AddLiveFlags(app, options->live);
  AddCombinedFlag(app, options->merge);
  config::AddChoice(app, "-o,--output", options->format, kFormats, "how to print the graph")
      ->type_name("FORMAT");
  line.OnRun(app, [options, &app](tool::Console& console) -> absl::StatusOr<tool::ExitCode> {
    RETURN_IF_ERROR(CheckFileFlags(app));
    return RunGraph(*options, console);
  });
}

}  // namespace cmd::lens
