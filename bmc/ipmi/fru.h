#pragma once
// FRU inventory: who made a part, and its numbers. Pure; reading it from a BMC is fru_reader.h.
// Source: Platform Management FRU Information Storage Definition v1.0, r1.3.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

struct FruChassis {
  std::uint8_t type = 0;  // SMBIOS: 17h is a rack mount chassis
  std::string part_number{}, serial{};
  friend bool operator==(const FruChassis&, const FruChassis&) = default;
};

struct FruBoard {
  std::uint32_t made = 0;  // minutes since 1996-01-01 00:00; 0: not reported
  std::string manufacturer{}, product{}, serial{}, part_number{};
  friend bool operator==(const FruBoard&, const FruBoard&) = default;
};

struct FruProduct {
  std::string manufacturer{}, name{}, part_number{}, version{}, serial{}, asset_tag{};
  friend bool operator==(const FruProduct&, const FruProduct&) = default;
};

struct Fru {
  std::optional<FruChassis> chassis{};
  std::optional<FruBoard> board{};
  std::optional<FruProduct> product{};
  std::vector<std::string> damaged{};  // areas that are not used: "board: a wrong checksum"
  friend bool operator==(const Fru&, const Fru&) = default;

  /// The product's, else the board's.
  std::string manufacturer() const;
  std::string model() const;
  std::string serial() const;
  std::string part_number() const;
};

inline constexpr std::size_t kFruHeader = 8;

/// Multi-records and the internal use area are passed over; a damaged area costs that area.
/// Errors: kNotFound (all bytes the same: nobody wrote one), kMalformed (no sound header).
Result<Fru> parse_fru(View bytes);

}  // namespace cupel::bmc::ipmi
