#pragma once
// FRU data as it lies in an EEPROM: FRU 0 is the machine, then one for each power supply. Serial
// numbers are those that Redfish shows. Source: Platform Management FRU Information Storage
// Definition 1.0, revision 1.3.
#include <string>
#include <vector>

#include "rehearsal/hardware.h"
#include "rehearsal/ipmi/bytes.h"

namespace cupel::rehearsal::ipmi {

struct Fru {
  std::uint8_t id = 0;
  std::string name{};
  std::uint8_t entity = 0, instance = 1;
  Bytes bytes{};  // empty: the bay is
};

/// `whole`: with every part in its place; `hardware`: what is there.
std::vector<Fru> frus_of(const Hardware& whole, const Hardware& hardware);

}  // namespace cupel::rehearsal::ipmi
