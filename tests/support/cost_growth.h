// Measures how the cost of a function grows with its input, for functions that must take linear
// time.
//
//   CHECK(tests::CostOfFourfold(2000, [](int n) { Read(TextOf(n)); }) < tests::kBarelyLinear);
#ifndef TESTS_SUPPORT_COST_GROWTH_H_
#define TESTS_SUPPORT_COST_GROWTH_H_

#include <algorithm>
#include <ctime>
#include <functional>

namespace tests {

// Between 4, which is linear, and 16, which is quadratic.
inline constexpr double kBarelyLinear = 9;

// Returns the CPU time of work(4 * size) divided by that of work(size); the lowest of three tries,
// because other processes disturb the measurement. REQUIRES: work(size) takes milliseconds.
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
