// The names of the units. Source: IPMI 2.0, table 43-15.
#include <array>

#include "bmc/ipmi/sdr.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::array kUnits{"",
                            "°C",
                            "°F",
                            "K",
                            "V",
                            "A",
                            "W",
                            "J",
                            "C",
                            "VA",
                            "nit",
                            "lm",
                            "lx",
                            "cd",
                            "kPa",
                            "psi",
                            "N",
                            "CFM",
                            "RPM",
                            "Hz",
                            "us",
                            "ms",
                            "s",
                            "min",
                            "h",
                            "d",
                            "week",
                            "mil",
                            "in",
                            "ft",
                            "in³",
                            "ft³",
                            "mm",
                            "cm",
                            "m",
                            "cm³",
                            "m³",
                            "L",
                            "fl oz",
                            "rad",
                            "sr",
                            "rev",
                            "cycle",
                            "g",
                            "oz",
                            "lb",
                            "ft lb",
                            "oz in",
                            "G",
                            "Gb",
                            "H",
                            "mH",
                            "F",
                            "uF",
                            "ohm",
                            "S",
                            "mol",
                            "Bq",
                            "ppm",
                            "",
                            "dB",
                            "dBA",
                            "dBC",
                            "Gy",
                            "Sv",
                            "K",
                            "bit",
                            "kbit",
                            "Mbit",
                            "Gbit",
                            "byte",
                            "kB",
                            "MB",
                            "GB",
                            "word",
                            "dword",
                            "qword",
                            "line",
                            "hit",
                            "miss",
                            "retry",
                            "reset",
                            "overflow",
                            "underrun",
                            "collision",
                            "packets",
                            "messages",
                            "characters",
                            "errors",
                            "correctable errors",
                            "uncorrectable errors",
                            "fatal errors",
                            "gram"};

constexpr std::array kRates{"", "us", "ms", "s", "min", "h", "d", ""};

std::string name_of(std::uint8_t unit) {
  return unit < kUnits.size() ? kUnits[unit] : "unit " + std::to_string(unit);
}

}  // namespace

std::string Unit::text() const {
  if (percent) return "%";
  auto text = name_of(base);
  if (relation == Relation::divided) text += "/" + name_of(modifier);
  if (relation == Relation::times) text += "·" + name_of(modifier);
  if (rate != 0 && *kRates[rate] != '\0') text += std::string{"/"} + kRates[rate];
  return text;
}

}  // namespace cupel::bmc::ipmi
