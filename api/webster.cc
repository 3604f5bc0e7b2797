#include "api/webster.h"

#include <algorithm>

#include "api/names.h"

namespace api {

namespace {

struct Party {
  TargetCluster share;
  int64_t weight = 0;

  double Quotient(int64_t held) const {
    return static_cast<double>(weight) / static_cast<double>(2 * held + 1);
  }
  double Quotient() const { return Quotient(share.replicas); }
};

// Gives each party the seats whose quotient exceeds a threshold. The seat-by-seat method gives out
// seats in falling order of quotients, so it passes through this state, provided that the threshold
// leaves seats over: with T = total/(2(S-P)) the parties get at most S - P/2 together.
int64_t GiveClearSeats(int64_t seats, double total_weight, std::vector<Party>& parties) {
  const int64_t spare = seats - static_cast<int64_t>(parties.size());
  if (spare <= 0) return 0;
  const double threshold = total_weight / (2.0 * static_cast<double>(spare));
  int64_t given = 0;
  for (Party& party : parties) {
    auto held = static_cast<int64_t>((static_cast<double>(party.weight) / threshold + 1) / 2);
    while (held > 0 && party.Quotient(held - 1) <= threshold) --held;
    while (party.Quotient(held) > threshold) ++held;
    party.share.replicas = held;
    given += held;
  }
  return given;
}

// Returns whether `a` gets the next seat rather than `b`.
bool GoesFirst(const Party& a, const Party& b, bool larger_name_first) {
  if (a.Quotient() != b.Quotient()) return a.Quotient() > b.Quotient();
  if (a.share.replicas != b.share.replicas) return a.share.replicas < b.share.replicas;
  return larger_name_first ? a.share.name > b.share.name : a.share.name < b.share.name;
}

}  // namespace

std::vector<TargetCluster> DivideByWeight(int64_t seats, absl::Span<const TargetCluster> parties,
                                          absl::string_view uid) {
  std::vector<Party> running;
  double total_weight = 0;
  for (const TargetCluster& party : parties) {
    running.push_back({{party.name, 0}, std::max<int64_t>(party.replicas, 0)});
    total_weight += static_cast<double>(running.back().weight);
  }
  if (total_weight > 0) {
    const bool larger_name_first = !uid.empty() && Fnv1a32(uid) % 2 == 1;
    const auto goes_first = [&](const Party& a, const Party& b) {
      return GoesFirst(a, b, larger_name_first);
    };
    for (int64_t given = GiveClearSeats(seats, total_weight, running); given < seats; ++given) {
      ++std::min_element(running.begin(), running.end(), goes_first)->share.replicas;
    }
  }
  std::vector<TargetCluster> shares;
  shares.reserve(running.size());
  for (Party& party : running) shares.push_back(std::move(party.share));
  std::sort(shares.begin(), shares.end(),
            [](const TargetCluster& a, const TargetCluster& b) { return a.name < b.name; });
  return shares;
}

}  // namespace api
