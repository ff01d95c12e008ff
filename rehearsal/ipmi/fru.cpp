#include "rehearsal/ipmi/fru.h"

#include <algorithm>

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kFormat = 0x01, kEnglish = 0x19, kRackMount = 0x17;
constexpr std::size_t kStep = 8;

/// Section 13: type 11b is text, and a lone C1h would be the end of the fields.
void put_field(Bytes& into, std::string_view text) {
  constexpr std::size_t kMost = 63;
  std::string whole{text.substr(0, kMost)};
  if (whole.size() == 1) whole += ' ';
  put8(into, 0xC0u | static_cast<unsigned>(whole.size()));
  put(into, whole);
}

/// Ends the fields, fills up to whole steps, and puts length and checksum where they belong.
Bytes closed(Bytes area) {
  put8(area, 0xC1);
  while ((area.size() + 1) % kStep != 0) put8(area, 0);
  area[1] = static_cast<std::uint8_t>((area.size() + 1) / kStep);
  put8(area, checksum(area));
  return area;
}

Bytes chassis_area(const Hardware& hardware) {
  Bytes area{kFormat, 0, kRackMount};
  put_field(area, "965-24387-0003-000");
  put_field(area, hardware.serial);
  return closed(area);
}

Bytes board_area(const Hardware& hardware) {
  // Minutes since 1996-01-01 00:00: 2023-02-28.
  constexpr std::uint32_t kMade = 14'284'800;
  Bytes area{kFormat, 0, kEnglish, kMade & 0xFF, kMade >> 8 & 0xFF, kMade >> 16 & 0xFF};
  put_field(area, hardware.manufacturer);
  put_field(area, hardware.model);
  put_field(area, hardware.serial);
  put_field(area, "699-24387-0003-000");
  put_field(area, "");
  return closed(area);
}

Bytes product_area(std::string_view maker, std::string_view model, std::string_view part,
                   std::string_view version, std::string_view serial) {
  Bytes area{kFormat, 0, kEnglish};
  for (const auto field : {maker, model, part, version, serial}) put_field(area, field);
  put_field(area, "");  // asset tag
  put_field(area, "");  // file
  return closed(area);
}

/// Section 8: where each area begins, in steps of eight bytes.
Bytes eeprom(const Bytes& chassis, const Bytes& board, const Bytes& product) {
  Bytes all{kFormat, 0, 0, 0, 0, 0, 0};
  std::size_t at = kStep;
  const auto place = [&](std::size_t index, const Bytes& area) {
    if (area.empty()) return;
    all[index] = static_cast<std::uint8_t>(at / kStep);
    at += area.size();
  };
  place(2, chassis);
  place(3, board);
  place(4, product);
  put8(all, checksum(all));
  put(all, chassis);
  put(all, board);
  put(all, product);
  return all;
}

}  // namespace

std::vector<Fru> frus_of(const Hardware& whole, const Hardware& hardware) {
  constexpr std::uint8_t kSupply = 0x0A, kSystemBoard = 0x07;
  std::vector<Fru> all{
      {.id = 0,
       .name = "SYSTEM",
       .entity = kSystemBoard,
       .bytes = eeprom(chassis_area(hardware), board_area(hardware),
                       product_area(hardware.manufacturer, hardware.model, "965-24387-0003-000",
                                    "A00", hardware.serial))}};
  for (const auto& bay : whole.psus) {
    const auto found = std::ranges::find(hardware.psus, bay.name, &Psu::name);
    Fru fru{.id = static_cast<std::uint8_t>(all.size()), .name = bay.name, .entity = kSupply};
    std::ranges::transform(fru.name, fru.name.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
    fru.instance = fru.id;
    if (found != hardware.psus.end())
      fru.bytes = eeprom(
          {}, {},
          product_area("Delta", found->model, "ECD16020137", found->firmware, found->serial));
    all.push_back(std::move(fru));
  }
  return all;
}

}  // namespace cupel::rehearsal::ipmi
