// How the cost of something grows with its size, for what must take linear time.
//
//   CHECK(tests::CostOfFourfold(2000, [](int n) { Read(TextOf(n)); }) < tests::kBarelyLinear);
#ifndef TESTS_SUPPORT_COST_GROWTH_H_
#define TESTS_SUPPORT_COST_GROWTH_H_

#include <algorithm>
#include <ctime>
#include <functional>

namespace tests {

// Between 4, which is linear, and 16, which is square.
inline constexpr double kBarelyLinear = 9;

// The processor time of work(4 * size) over that of work(size); the least of three tries, since
// other work on the machine disturbs one or the other. REQUIRES: work(size) takes milliseconds.
inline double CostOfFourfold(int size, const std::function<void(int)>& work) {
  const auto cost = [&](int n) {
    const std::clock_t began = std::clock();
    work(n);
    return static_cast<double>(std::max<std::clock_t>(std::clock() - began, 1));
  };
  double least = cost(4 * size) / cost(size);
  for (int tries = 1; tries < 3 && least >= kBarelyLinear; ++tries) {
    least = std::min(least, cost(4 * size) / cost(size));
  }
  return least;
}

}  // namespace tests

#endif  // TESTS_SUPPORT_COST_GROWTH_H_
