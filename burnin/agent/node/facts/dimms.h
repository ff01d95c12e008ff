#pragma once
// The DIMMs as the firmware's own table has them, read without dmidecode. Source: SMBIOS 3.7
// (DSP0134), 6.1 (structures), 7.18 (memory device, type 17).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::agent {

struct Dimm {
  std::string slot{}, bank{}, type{}, manufacturer{}, serial{}, part{};
  std::optional<double> bytes{};  // nothing: not reported; 0: the slot is empty
  std::optional<double> speed{};  // MT/s, as it was set; nothing: not reported
};

inline constexpr std::size_t kMostDimms = 1024;

/// Of a whole table. What is cut short ends it; a field that a structure is too short for is not
/// reported. Pure.
std::vector<Dimm> parse_dimms(std::string_view table);

}  // namespace cupel::agent
