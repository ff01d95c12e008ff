#pragma once
// From which bit error ratio on a link is bad, by its speed, FEC and medium. Pure data.
// Source: NVIDIA UFM SDK (ufm_sdk_3.0), PDR plugin, Field_BER_Thresholds.csv, version V06.
#include <optional>
#include <string>
#include <string_view>

namespace cupel::burnin {

enum class Fec { unknown, none, kp4, kp4_plr, ll, ll_plr, ll50_plr, rs528, other };
/// `active`: a cable in one piece, copper or optical: mlxlink has one word for both.
enum class Medium { unknown, passive_copper, active_copper, optical, active };
/// The generation of the chip that receives: by its structures.
enum class Chip { unknown, nm16, nm7 };
enum class Ber { raw, effective, symbol };  // before FEC, after FEC, after retransmission

/// mlxlink's names: "RS-FEC - (544,514) + PLR", "Active cable (active copper / optics)". Empty:
/// unknown.
Fec fec_of(std::string_view name);
Medium medium_of(std::string_view cable_type);
/// By the version of its firmware: "20.35.1012" is a ConnectX-6. Unknown for chips that are not in
/// the table. Source: NVIDIA, release notes of the firmware of each chip.
Chip chip_of(std::string_view firmware);
std::string_view to_string(Ber ber);
std::string_view to_string(Medium medium);

/// A BER below `strict` is good in each row that the link can be of, from `lax` on it is bad in
/// each. Between them the rows differ: which one applies is unknown.
struct BerLimit {
  double strict = 0;
  double lax = 0;
  friend bool operator==(const BerLimit&, const BerLimit&) = default;
};

/// Of what a link is known to be.
struct LinkKind {
  std::string speed{};
  Fec fec = Fec::unknown;
  Medium medium = Medium::unknown;
  Chip chip = Chip::unknown;
};

/// Nothing where the table has no row for it, as for Ethernet and for XDR.
std::optional<BerLimit> ber_limit(const LinkKind& kind, Ber ber);

/// Gb/s on the wire of one lane, FEC included: 106.25 for NDR; nothing for what is no speed of
/// InfiniBand. Source: InfiniBand Trade Association, roadmap.
std::optional<double> lane_gbit(std::string_view speed);

}  // namespace cupel::burnin
