#include "burnin/fabric/ber_limits.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cupel::burnin {
namespace {

struct Row {
  Chip chip;
  std::string_view speed;
  Fec fec;
  double raw_copper, raw_optical, effective, symbol;  // the column "Error"
};

// Each stands for four rows of the table: DACs and ACC (copper), Active and Active_DiD (optical).
constexpr std::array kRows{
    Row{Chip::nm7, "NDR", Fec::ll50_plr, 1e-6, 1e-5, 1e-11, 1e-14},
    Row{Chip::nm7, "NDR", Fec::kp4_plr, 1e-6, 1e-5, 1e-11, 1e-14},
    Row{Chip::nm7, "NDR", Fec::kp4, 1e-7, 1e-5, 1e-13, 1e-13},
    Row{Chip::nm7, "HDR", Fec::kp4_plr, 1e-7, 1e-7, 1e-13, 1e-14},
    Row{Chip::nm7, "HDR", Fec::kp4, 1e-7, 1e-7, 1e-13, 1e-13},
    Row{Chip::nm7, "HDR", Fec::ll_plr, 1e-7, 1e-7, 1e-13, 1e-14},
    Row{Chip::nm7, "EDR", Fec::ll, 1e-12, 1e-12, 1e-13, 1e-13},
    Row{Chip::nm7, "EDR", Fec::rs528, 1e-12, 1e-12, 1e-13, 1e-13},
    Row{Chip::nm7, "EDR", Fec::none, 1e-13, 1e-13, 1e-13, 1e-13},
    Row{Chip::nm16, "HDR", Fec::kp4_plr, 1e-5, 1e-5, 1e-13, 1e-13},
    Row{Chip::nm16, "HDR", Fec::kp4, 1e-5, 1e-5, 1e-13, 1e-13},
    Row{Chip::nm16, "HDR", Fec::ll_plr, 1e-5, 1e-5, 1e-13, 1e-13},
    Row{Chip::nm16, "HDR", Fec::ll, 1e-5, 1e-5, 1e-13, 1e-13},
    Row{Chip::nm16, "EDR", Fec::ll, 1e-12, 1e-12, 1e-13, 1e-13},
    Row{Chip::nm16, "EDR", Fec::rs528, 1e-9, 1e-9, 1e-13, 1e-13},
    Row{Chip::nm16, "EDR", Fec::none, 1e-13, 1e-13, 1e-13, 1e-13},
};

bool may_be_copper(Medium medium) { return medium != Medium::optical; }
bool may_be_optical(Medium medium) {
  return medium != Medium::passive_copper && medium != Medium::active_copper;
}

void widen(std::optional<BerLimit>& limit, double value) {
  if (!limit) limit = BerLimit{value, value};
  limit->strict = std::min(limit->strict, value);
  limit->lax = std::max(limit->lax, value);
}

}  // namespace

Fec fec_of(std::string_view name) {
  if (name.empty()) return Fec::unknown;
  if (name == "No FEC" || name == "No_FEC" || name == "NO_FEC") return Fec::none;
  if (name.contains("nterleaved")) return Fec::other;
  const bool retransmits = name.contains("PLR");
  if (name.contains("544,514")) return retransmits ? Fec::kp4_plr : Fec::kp4;
  if (name.contains("272,257") && retransmits) return Fec::ll50_plr;
  if (name.contains("271,257")) return retransmits ? Fec::ll_plr : Fec::ll;
  if (name.contains("528,514")) return Fec::rs528;
  return Fec::other;
}

Chip chip_of(std::string_view firmware) {
  // ConnectX-6, ConnectX-6 Dx, BlueField-2, ConnectX-6 Lx, Quantum; ConnectX-7, Quantum-2,
  // BlueField-3.
  constexpr std::array<std::string_view, 5> k16{"20", "22", "24", "26", "27"};
  constexpr std::array<std::string_view, 3> k7{"28", "31", "32"};
  const auto family = firmware.substr(0, firmware.find('.'));
  if (family.size() == firmware.size()) return Chip::unknown;
  if (std::ranges::find(k16, family) != k16.end()) return Chip::nm16;
  return std::ranges::find(k7, family) != k7.end() ? Chip::nm7 : Chip::unknown;
}

Medium medium_of(std::string_view cable_type) {
  if (cable_type.contains("active copper / optics")) return Medium::active;
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
    case Medium::active:
      return "active cable";
    case Medium::unknown:
      break;
  }
  return "unknown medium";
}

std::optional<BerLimit> ber_limit(const LinkKind& kind, Ber ber) {
  std::optional<BerLimit> limit;
  for (const auto& row : kRows) {
    const bool can_be = row.speed == kind.speed &&
                        (kind.fec == Fec::unknown || kind.fec == row.fec) &&
                        (kind.chip == Chip::unknown || kind.chip == row.chip);
    if (!can_be) continue;
    switch (ber) {
      case Ber::raw:
        if (may_be_copper(kind.medium)) widen(limit, row.raw_copper);
        if (may_be_optical(kind.medium)) widen(limit, row.raw_optical);
        break;
      case Ber::effective:
        widen(limit, row.effective);
        break;
      case Ber::symbol:
        widen(limit, row.symbol);
        break;
    }
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
