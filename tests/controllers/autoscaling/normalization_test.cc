// Rows after the published behaviour: "Configurable scaling behavior" in the documentation of
// Kubernetes' autoscaler.
#include "controllers/autoscaling/normalization.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/federated_hpa.h"
#include "base/json.h"

namespace {

using api::ScalingBehavior;
using autoscaling::History;
using autoscaling::NormalizationRequest;
using autoscaling::Normalize;
using autoscaling::Normalized;
using base::SteadyTime;

constexpr absl::Duration kFlag = absl::Minutes(5);
const SteadyTime kNow = SteadyTime::At(absl::Hours(10));

// Returns spec.behavior of a FederatedHPA, as the loop reads it; nullopt for "".
std::optional<ScalingBehavior> BehaviorOf(const std::string& behavior) {
  kube::Object hpa;
  if (!behavior.empty()) hpa.Set({"spec", "behavior"}, *json::Parse(behavior));
  return api::FederatedHpaView(hpa).Behavior();
}

NormalizationRequest RequestOf(int64_t current, int64_t desired, const std::string& behavior) {
  NormalizationRequest request;
  request.current = current;
  request.desired = desired;
  request.min = 1;
  request.max = 100;
  request.behavior = BehaviorOf(behavior);
  request.down_window = kFlag;
  request.now = kNow;
  return request;
}

// Something that happened some seconds ago.
struct Earlier {
  int seconds;
  int64_t value;
};

struct Row {
  std::string what;
  std::string behavior;
  int64_t current, desired;
  std::vector<Earlier> recommended;
  std::vector<Earlier> changed;  // By how many replicas.
  int64_t wanted;
  std::string able, limited;  // The reasons.
};

History HistoryOf(const Row& row) {
  History history;
  // Old entries must still be there, so nothing is forgotten while they are recorded.
  for (const Earlier& e : row.recommended) {
    history.Recommend(e.value, kNow - absl::Seconds(e.seconds), SteadyTime::InfinitePast());
  }
  const auto longest = BehaviorOf(R"({"scaleUp": {"policies":
      [{"type": "Pods", "value": 1, "periodSeconds": 1800}]}})");
  for (const Earlier& e : row.changed) {
    history.Scaled(0, e.value, longest, kNow - absl::Seconds(e.seconds));
  }
  return history;
}

constexpr char kReady[] = "ReadyForNewScale";
constexpr char kUpHeld[] = "ScaleUpStabilized";
constexpr char kDownHeld[] = "ScaleDownStabilized";
constexpr char kWithin[] = "DesiredWithinRange";

void Check(const Row& row) {
  CAPTURE(row.what);
  History history = HistoryOf(row);
  const Normalized result = Normalize(RequestOf(row.current, row.desired, row.behavior), history);
  CHECK(result.replicas == row.wanted);
  CHECK(result.able.reason == row.able);
  CHECK(result.able.status == "True");
  CHECK(result.limited.reason == row.limited);
  CHECK(result.limited.status == (row.limited == kWithin ? "False" : "True"));
}

}  // namespace

TEST_CASE("without a behavior, fewer replicas wait for the window, and more at most double") {
  Check(GENERATE(values<Row>({
      {"no history", "", 10, 6, {}, {}, 6, kReady, kWithin},
      {"no change", "", 10, 10, {}, {}, 10, kReady, kWithin},
      {"up", "", 10, 15, {}, {}, 15, kReady, kWithin},
      {"up to twice as many", "", 10, 20, {}, {}, 20, kReady, kWithin},
      {"up beyond twice as many", "", 10, 25, {}, {}, 20, kReady, "ScaleUpLimit"},
      {"up from one: to four", "", 1, 10, {}, {}, 4, kReady, "ScaleUpLimit"},
      {"up from three: to six", "", 3, 10, {}, {}, 6, kReady, "ScaleUpLimit"},
      {"up beyond the maximum", "", 60, 110, {}, {}, 100, kReady, "TooManyReplicas"},
      {"down below the minimum", "", 3, 0, {}, {}, 1, kReady, "TooFewReplicas"},
      {"down, a higher number was asked for",
       "",
       10,
       4,
       {{60, 8}, {200, 6}},
       {},
       8,
       kDownHeld,
       kWithin},
      {"down, at the edge of the window", "", 10, 4, {{300, 8}}, {}, 8, kDownHeld, kWithin},
      {"down, that was too long ago", "", 10, 4, {{301, 8}, {600, 10}}, {}, 4, kReady, kWithin},
      {"up, a higher number was asked for", "", 10, 12, {{60, 18}}, {}, 18, kDownHeld, kWithin},
  })));
}

TEST_CASE("a behavior has a window for each direction") {
  constexpr char kWindows[] = R"({"scaleUp": {"stabilizationWindowSeconds": 60},
                                  "scaleDown": {"stabilizationWindowSeconds": 120}})";
  Check(GENERATE_COPY(values<Row>({
      {"no history, up", kWindows, 10, 15, {}, {}, 15, kReady, kWithin},
      {"up, the lowest of the window counts",
       kWindows,
       10,
       15,
       {{30, 12}, {50, 14}},
       {},
       12,
       kUpHeld,
       kWithin},
      {"up, but less was asked for than there is",
       kWindows,
       10,
       15,
       {{30, 8}},
       {},
       10,
       kUpHeld,
       kWithin},
      {"up, that was too long ago", kWindows, 10, 15, {{60, 12}}, {}, 15, kReady, kWithin},
      {"down, the highest of the window counts",
       kWindows,
       10,
       5,
       {{30, 7}, {100, 8}},
       {},
       8,
       kDownHeld,
       kWithin},
      {"down, but more was asked for than there is",
       kWindows,
       10,
       5,
       {{30, 12}},
       {},
       10,
       kDownHeld,
       kWithin},
      {"down, that was too long ago", kWindows, 10, 5, {{120, 8}}, {}, 5, kReady, kWithin},
      // Without a window of its own a behavior takes the flag for fewer, and none for more.
      {"down, by the flag", R"({"scaleUp": {}})", 10, 5, {{299, 8}}, {}, 8, kDownHeld, kWithin},
      {"down, beyond the flag", R"({"scaleUp": {}})", 10, 5, {{300, 8}}, {}, 5, kReady, kWithin},
      {"up, no window", R"({"scaleDown": {}})", 10, 12, {{1, 5}}, {}, 12, kReady, kWithin},
      {"down, no window",
       R"({"scaleDown": {"stabilizationWindowSeconds": 0}})",
       10,
       5,
       {{1, 10}},
       {},
       5,
       kReady,
       kWithin},
  })));
}

TEST_CASE("policies limit how much changes in their periods") {
  const auto up = [](const std::string& rules) { return R"({"scaleUp": )" + rules + "}"; };
  const auto down = [](const std::string& rules) {
    return R"({"scaleDown": {"stabilizationWindowSeconds": 0, )" + rules + "}}";
  };
  const std::string four = R"({"type": "Pods", "value": 4, "periodSeconds": 60})";
  const std::string tenth = R"({"type": "Percent", "value": 10, "periodSeconds": 60})";
  const std::string both = "\"policies\": [" + four + ", " + tenth + "]";
  const std::string pods = "\"policies\": [" + four + "]";
  const std::string percent = "\"policies\": [" + tenth + "]";
  Check(GENERATE_COPY(values<Row>({
      // The defaults: four, or as many as there are, in 15 seconds; down to nothing.
      {"up by default", R"({"scaleDown": {}})", 3, 50, {}, {}, 7, kReady, "ScaleUpLimit"},
      {"up by default, many", R"({"scaleDown": {}})", 10, 50, {}, {}, 20, kReady, "ScaleUpLimit"},
      {"up by default, again within the period",
       R"({"scaleDown": {}})",
       20,
       50,
       {},
       {{10, 10}},
       20,
       kReady,
       "ScaleUpLimit"},
      {"up by default, again after it",
       R"({"scaleDown": {}})",
       20,
       50,
       {},
       {{15, 10}},
       40,
       kReady,
       "ScaleUpLimit"},
      {"down by default", R"({"scaleUp": {}})", 80, 2, {}, {}, 2, kReady, kWithin},

      {"up by pods", up("{" + pods + "}"), 10, 50, {}, {}, 14, kReady, "ScaleUpLimit"},
      {"up by pods, some came already",
       up("{" + pods + "}"),
       12,
       50,
       {},
       {{59, 2}},
       14,
       kReady,
       "ScaleUpLimit"},
      {"up by pods, all came already",
       up("{" + pods + "}"),
       14,
       50,
       {},
       {{59, 4}},
       14,
       kReady,
       "ScaleUpLimit"},
      {"up by pods, more came than may",
       up("{" + pods + "}"),
       20,
       50,
       {},
       {{59, 10}},
       20,
       kReady,
       "ScaleUpLimit"},
      {"up by pods, some went",
       up("{" + pods + "}"),
       10,
       50,
       {},
       {{30, -3}},
       17,
       kReady,
       "ScaleUpLimit"},
      {"up by percent, rounded up",
       up("{" + percent + "}"),
       11,
       50,
       {},
       {},
       13,
       kReady,
       "ScaleUpLimit"},
      {"up by percent, from one",
       up("{" + percent + "}"),
       1,
       50,
       {},
       {},
       2,
       kReady,
       "ScaleUpLimit"},
      {"up, the larger change", up("{" + both + "}"), 100, 99, {}, {}, 99, kReady, kWithin},
      {"up, the larger change: percent",
       up("{" + both + "}"),
       60,
       90,
       {},
       {},
       66,
       kReady,
       "ScaleUpLimit"},
      {"up, the smaller change",
       up(R"({"selectPolicy": "Min", )" + both + "}"),
       60,
       90,
       {},
       {},
       64,
       kReady,
       "ScaleUpLimit"},
      {"up is disabled",
       up(R"({"selectPolicy": "Disabled"})"),
       10,
       50,
       {},
       {},
       10,
       kReady,
       "ScaleUpLimit"},
      {"up within the rate", up("{" + pods + "}"), 10, 13, {}, {}, 13, kReady, kWithin},
      {"up, the maximum is nearer",
       up("{" + pods + "}"),
       98,
       150,
       {},
       {},
       100,
       kReady,
       "TooManyReplicas"},

      {"down by pods", down(pods), 20, 5, {}, {}, 16, kReady, "ScaleDownLimit"},
      {"down by pods, some went already",
       down(pods),
       18,
       5,
       {},
       {{30, -2}},
       16,
       kReady,
       "ScaleDownLimit"},
      {"down by percent, rounded down", down(percent), 25, 5, {}, {}, 22, kReady, "ScaleDownLimit"},
      {"down, the larger change", down(both), 25, 5, {}, {}, 21, kReady, "ScaleDownLimit"},
      {"down, the smaller change",
       down(R"("selectPolicy": "Min", )" + both),
       25,
       5,
       {},
       {},
       22,
       kReady,
       "ScaleDownLimit"},
      {"down is disabled",
       down(R"("selectPolicy": "Disabled")"),
       25,
       5,
       {},
       {},
       25,
       kReady,
       "ScaleDownLimit"},
      {"down, the minimum is nearer", down(pods), 3, 0, {}, {}, 1, kReady, "TooFewReplicas"},
  })));
}

TEST_CASE("after a restart the present number holds back fewer replicas for a window") {
  History history;
  history.Begin(10, kNow);
  NormalizationRequest request = RequestOf(10, 4, "");
  CHECK(Normalize(request, history).replicas == 10);
  request.now = kNow + kFlag;
  history.Begin(10, request.now);  // A later pass records nothing.
  CHECK(Normalize(request, history).replicas == 10);
  request.now = kNow + kFlag + absl::Seconds(1);
  CHECK(Normalize(request, history).replicas == 4);
  // More replicas need no history.
  History empty;
  empty.Begin(10, kNow);
  CHECK(Normalize(RequestOf(10, 15, ""), empty).replicas == 15);
}

TEST_CASE("the history keeps what a window or a policy asks about, and no more") {
  History history;
  NormalizationRequest request = RequestOf(10, 10, "");
  for (int i = 0; i < 1000; ++i) {
    Normalize(request, history);
    request.now = request.now + absl::Seconds(15);
  }
  CHECK(history.recommendations().size() == 21);
  const auto behavior = BehaviorOf(R"({"scaleUp": {}})");
  for (int i = 0; i < 1000; ++i) {
    history.Scaled(0, 1, behavior, kNow + absl::Seconds(i));
  }
  // The longest period is 15 seconds; at its edge a change does not count any more.
  CHECK(history.ChangeSince(SteadyTime::InfinitePast()) == 16);
  CHECK(history.ChangeSince(kNow + absl::Seconds(999 - 15)) == 15);
  history.Scaled(0, 7, std::nullopt, kNow + absl::Seconds(1000));
  CHECK(history.ChangeSince(SteadyTime::InfinitePast()) == 16);
}
