#include "burnin/fabric/ber_limits.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cupel::burnin {
namespace {

struct Row {
  std::string_view speed;
  Fec fec;
  Medium medium;
  double raw, effective, symbol;  // the column "Error"
};

// The two rows of HDR over passive copper are of chips in 7 nm and in 16 nm.
constexpr std::array kRows{
    Row{"NDR", Fec::ll50_plr, Medium::passive_copper, 1e-6, 1e-11, 1e-14},
    Row{"NDR", Fec::ll50_plr, Medium::active_copper, 1e-6, 1e-11, 1e-14},
    Row{"NDR", Fec::ll50_plr, Medium::optical, 1e-5, 1e-11, 1e-14},
    Row{"NDR", Fec::kp4_plr, Medium::passive_copper, 1e-6, 1e-11, 1e-14},
    Row{"NDR", Fec::kp4_plr, Medium::optical, 1e-5, 1e-11, 1e-14},
    Row{"NDR", Fec::kp4, Medium::passive_copper, 1e-7, 1e-13, 1e-13},
    Row{"NDR", Fec::kp4, Medium::optical, 1e-5, 1e-13, 1e-13},
    Row{"HDR", Fec::kp4_plr, Medium::passive_copper, 1e-7, 1e-13, 1e-14},
    Row{"HDR", Fec::kp4_plr, Medium::passive_copper, 1e-5, 1e-13, 1e-13},
    Row{"HDR", Fec::ll_plr, Medium::optical, 1e-7, 1e-13, 1e-14},
    Row{"EDR", Fec::rs528, Medium::passive_copper, 1e-9, 1e-13, 1e-13},
};

double limit_of(const Row& row, Ber ber) {
  switch (ber) {
    case Ber::raw:
      return row.raw;
    case Ber::effective:
      return row.effective;
    case Ber::symbol:
      return row.symbol;
  }
  return row.symbol;
}

}  // namespace

Fec fec_of(std::string_view name) {
  if (name.empty()) return Fec::unknown;
  if (name.contains("nterleaved")) return Fec::other;
  const bool retransmits = name.contains("PLR");
  if (name.contains("544,514")) return retransmits ? Fec::kp4_plr : Fec::kp4;
  if (name.contains("272,257") && retransmits) return Fec::ll50_plr;
  if (name.contains("271,257") && retransmits) return Fec::ll_plr;
  if (name.contains("528,514")) return Fec::rs528;
  return Fec::other;
}

Medium medium_of(std::string_view cable_type) {
  if (cable_type.contains("assive copper")) return Medium::passive_copper;
  if (cable_type.contains("ctive copper")) return Medium::active_copper;
  if (cable_type.contains("ptical") || cable_type.contains("AOC")) return Medium::optical;
  return Medium::unknown;
}

std::string_view to_string(Ber ber) {
  switch (ber) {
    case Ber::raw:
      return "raw BER";
    case Ber::effective:
      return "effective BER";
    case Ber::symbol:
      return "symbol BER";
  }
  return "BER";
}

std::string_view to_string(Medium medium) {
  switch (medium) {
    case Medium::passive_copper:
      return "passive copper";
    case Medium::active_copper:
      return "active copper";
    case Medium::optical:
      return "optical";
    case Medium::unknown:
      break;
  }
  return "unknown medium";
}

std::optional<BerLimit> ber_limit(std::string_view speed, Fec fec, Medium medium, Ber ber) {
  std::optional<BerLimit> limit;
  for (const auto& row : kRows) {
    const bool can_be = row.speed == speed && (fec == Fec::unknown || fec == row.fec) &&
                        (medium == Medium::unknown || medium == row.medium);
    if (!can_be) continue;
    const double value = limit_of(row, ber);
    if (!limit) limit = BerLimit{value, value};
    limit->strict = std::min(limit->strict, value);
    limit->lax = std::max(limit->lax, value);
  }
  return limit;
}

std::optional<double> lane_gbit(std::string_view speed) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kRates{{{"XDR", 212.5},
                                                                       {"NDR", 106.25},
                                                                       {"HDR", 53.125},
                                                                       {"EDR", 25.78125},
                                                                       {"FDR", 14.0625},
                                                                       {"QDR", 10}}};
  const auto* found = std::ranges::find(kRates, speed, &std::pair<std::string_view, double>::first);
  return found == kRates.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace cupel::burnin
