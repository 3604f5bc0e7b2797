#include "cmd/lens/graph.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "cmd/lens/files.h"
#include "lens/graph/disk.h"
#include "lens/graph/render.h"
#include "lens/graph/svg.h"
#include "tool/flags.h"
#include "tool/live_objects.h"

namespace cmd::lens {
namespace {

namespace graph = ::lens::graph;

constexpr char kExamples[] = R"(Examples:
  %prog% graph -f deploy/                          # a tree
  %prog% graph -f deploy/ deployment/web -n shop   # what has to do with one object
  %prog% graph -f deploy/ -o svg > graph.svg       # a picture
  %prog% graph -f deploy/ -o dot | dot -Tpdf -o graph.pdf)";

struct GraphOptions {
  FileOptions files;
  std::string reference;  // KIND/NAME, or "".
  std::string ns;
  std::string format = "text";
};

// Returns whether a node is what KIND/NAME means: "Deployment shop/web" is "deployment/web" and
// "deployments/web", in any namespace unless one is given.
bool IsMeant(const graph::Node& node, const tool::LiveReference& wanted, const std::string& ns) {
  if (node.type == graph::NodeType::kCluster) {
    return absl::EqualsIgnoreCase(wanted.type, "cluster") && node.name == wanted.name;
  }
  const std::vector<std::string> words = absl::StrSplit(node.name, absl::MaxSplits(' ', 1));
  const std::string kind = absl::AsciiStrToLower(words[0]);
  const std::string type = absl::AsciiStrToLower(wanted.type);
  if (type != kind && type != kind + "s") return false;
  const std::string name = words.size() < 2 ? "" : words[1];
  if (name == wanted.name) return true;  // Without a namespace.
  return ns.empty() ? absl::EndsWith(name, absl::StrCat("/", wanted.name))
                    : name == absl::StrCat(ns, "/", wanted.name);
}

absl::StatusOr<graph::Graph> Part(const graph::Graph& whole, const GraphOptions& options) {
  if (options.reference.empty()) return whole;
  ASSIGN_OR_RETURN(const tool::LiveReference wanted, tool::ParseLiveReference(options.reference));
  graph::Graph part = graph::PartAround(
      whole, [&](const graph::Node& node) { return IsMeant(node, wanted, options.ns); });
  if (!part.nodes.empty()) return part;
  return absl::NotFoundError(
      absl::StrCat("there is no ", options.reference,
                   options.ns.empty() ? "" : absl::StrCat(" in namespace ", options.ns)));
}

std::string Rendered(const graph::Graph& graph, const std::string& format,
                     const tool::Colours& colours) {
  if (format == "dot") return graph::DotOf(graph);
  if (format == "svg") return graph::SvgOf(graph);
  if (format == "json") return tool::Formatted(graph::JsonOf(graph), tool::Format::kJson);
  return graph::TreeOf(graph, colours);
}

absl::StatusOr<tool::ExitCode> RunGraph(const GraphOptions& options, tool::Console& console) {
  if (options.reference.empty() && !options.ns.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--namespace=", options.ns, " has no effect without KIND/NAME"));
  }
  ASSIGN_OR_RETURN(const auto request, ReadFiles(options.files, console));
  tool::ShowProgress(console, "simulating");
  const absl::StatusOr<graph::Graph> whole = graph::GraphOfFiles(request, {});
  tool::ShowProgress(console, "");
  if (!whole.ok()) return whole.status();
  ASSIGN_OR_RETURN(const graph::Graph part, Part(*whole, options));
  console.out << Rendered(part, options.format, console.out_colours);
  return tool::ExitCode::kFine;
}

}  // namespace

void AddGraph(tool::CommandLine& line) {
  CLI::App& app = line.Add("graph", "Show what templates need and where they go", kExamples);
  auto options = std::make_shared<GraphOptions>();
  app.add_option("KIND/NAME", options->reference, "show only what has to do with this object");
  AddFileFlags(app, options->files);
  app.add_option("-n,--namespace", options->ns, "the namespace of KIND/NAME");
  app.add_option("-o,--output", options->format, "how to print the graph")
      ->check(CLI::IsMember({"text", "dot", "svg", "json"}))
      ->default_str("text")
      ->type_name("FORMAT");
  line.OnRun(app, [options](tool::Console& console) { return RunGraph(*options, console); });
}

}  // namespace cmd::lens
