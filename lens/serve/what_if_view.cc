// "What if": the plan of `karmada-lens plan` about the live fleet. The simulation needs nothing of
// the control plane but what it reads.

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status.h"
#include "config/served/served_release.h"
#include "lens/plan/fleet_edit.h"
#include "lens/plan/live_reader.h"
#include "lens/plan/plan.h"
#include "lens/plan/report.h"
#include "lens/serve/bounds.h"
#include "lens/serve/commands.h"
#include "lens/serve/shown.h"
#include "lens/serve/views.h"

namespace lens::serve {
namespace {

constexpr size_t kMostEdits = 20;

// Each value counts once: otherwise the answer would have its changes and notes twice.
std::vector<std::string> Values(const Parameters& parameters, const char* name) {
  std::vector<std::string> values;
  for (std::string& value : parameters.All(name)) {
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      values.push_back(std::move(value));
    }
  }
  return values;
}

absl::StatusOr<std::vector<plan::FleetEdit>> EditsOf(const Parameters& parameters) {
  std::vector<plan::FleetEdit> edits;
  for (const auto& [name, make] :
       std::initializer_list<std::pair<const char*, plan::FleetEdit (*)(absl::string_view)>>{
           {"without", plan::Without},
           {"lost", plan::Lost},
           {"drain", plan::Drained},
           {"cordon", plan::Cordoned},
           {"uncordon", plan::Uncordoned}}) {
    for (const std::string& cluster : Values(parameters, name)) {
      if (cluster.empty()) {
        return absl::InvalidArgumentError(absl::StrCat("the parameter ", name, " has no value"));
      }
      edits.push_back(make(cluster));
    }
  }
  for (const auto& [name, parse] : std::initializer_list<
           std::pair<const char*, absl::StatusOr<plan::FleetEdit> (*)(absl::string_view)>>{
           {"taint", plan::ParseTaint},
           {"label", plan::ParseLabel},
           {"capacity", plan::ParseCapacity}}) {
    for (const std::string& text : Values(parameters, name)) {
      ASSIGN_OR_RETURN(plan::FleetEdit edit, parse(text));
      edits.push_back(std::move(edit));
    }
  }
  if (edits.empty()) {
    return absl::InvalidArgumentError("say what would change, such as drain=member1");
  }
  if (edits.size() > kMostEdits) {
    return absl::InvalidArgumentError(absl::StrCat("at most ", kMostEdits, " changes at once"));
  }
  return edits;
}

// The command that asks the same in a terminal.
std::string CommandOf(const Parameters& parameters) {
  std::string command = "karmada-lens plan";
  for (const char* name :
       {"without", "lost", "drain", "cordon", "uncordon", "taint", "label", "capacity"}) {
    for (const std::string& value : Values(parameters, name)) {
      // What begins as a flag does would be one behind a blank.
      absl::StrAppend(&command, " --", name, absl::StartsWith(value, "-") ? "=" : " ",
                      ShellWord(value));
    }
  }
  return command;
}

bool Changes(const json::Value& one) {
  const auto clusters = one["clusters"].items();
  return one["whatIf"]["verdict"].AsString("unchanged") != "unchanged" ||
         std::any_of(clusters.begin(), clusters.end(),
                     [](const json::Value& place) { return place["action"].AsString() != "none"; });
}

// Keeps the templates that change, without whole manifests, and counts the others.
json::Value Shown(json::Value plan) {
  json::Value templates = json::Value::Array();
  int64_t unchanged = 0, left_out = 0;
  for (const json::Value& one : plan["templates"].items()) {
    if (!Changes(one)) {
      ++unchanged;
    } else if (templates.size() == kMostTemplatesOfGroup) {
      ++left_out;
    } else {
      json::Value shown = one;
      json::Value clusters = json::Value::Array();
      for (json::Value place : one["clusters"].items()) {
        place.Erase("manifest");
        place.Set("diff", Shortened(place["diff"].AsString()));
        clusters.Append(std::move(place));
      }
      shown.Set("clusters", std::move(clusters));
      shown.Set("type", TypeOf(one["apiVersion"].AsString(), one["kind"].AsString()));
      templates.Append(std::move(shown));
    }
  }
  plan.Set("templates", std::move(templates));
  plan.Set("unchanged", unchanged);
  plan.Set("leftOut", left_out);
  return plan;
}

}  // namespace

absl::StatusOr<json::Value> WhatIfView(const Asked& asked) {
  ASSIGN_OR_RETURN(std::vector<plan::FleetEdit> edits, EditsOf(asked.parameters));
  ASSIGN_OR_RETURN(const auto served, asked.viewer.Served(asked.stop));
  const absl::Time read_at = absl::Now();
  plan::PlanRequest request;
  request.edits = std::move(edits);
  request.daemon = asked.daemon;
  if (!request.daemon.wanted_release.has_value()) {
    const absl::StatusOr<config::Release> release =
        config::ServedRelease(asked.viewer.client()).Ask(asked.stop);
    if (release.ok()) request.daemon.wanted_release = *release;
  }
  plan::LiveReader reader(asked.viewer.client(), *served);
  request.live = &reader;
  ASSIGN_OR_RETURN(const plan::Plan made, plan::MakePlan(request, asked.stop));
  json::Value answer = Shown(plan::JsonOf(made));
  answer.Set("command", absl::StrCat(CommandOf(asked.parameters), asked.flags.flags));
  answer.Set("readAt", kube::FormatTime(read_at));
  return answer;
}

}  // namespace lens::serve
