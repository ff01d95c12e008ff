#pragma once
// A maintenance window that is closed now, on whatever day a test runs.
#include <array>
#include <chrono>
#include <string>

namespace cupel::test {

/// "Thu 00:00 +6h", of the day after the day after tomorrow.
inline std::string closed_window() {
  using namespace std::chrono;
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  const weekday day{floor<days>(system_clock::now() + hours{72})};
  return std::string{kDays.at(day.c_encoding())} + " 00:00 +6h";
}

}  // namespace cupel::test
