#include "bmc/ipmi/fru.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "bmc/ipmi/sdr.h"
#include "inventory/identity.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kEndOfFields = 0xc1;
constexpr std::size_t kMostFields = 32;

/// An area that starts at a multiple of 8, without its checksum. Errors: kMalformed.
Result<View> area_at(View bytes, std::uint8_t eighths) {
  const auto at = std::size_t{eighths} * 8;
  if (at + 2 > bytes.size()) return Error{Code::kMalformed, "behind the end"};
  const auto length = std::size_t{bytes[at + 1]} * 8;
  if (length < 8 || at + length > bytes.size())
    return Error{Code::kMalformed, "longer than the whole"};
  const auto area = bytes.subspan(at, length);
  if (checksum(area) != 0) return Error{Code::kMalformed, "a wrong checksum"};
  if ((area[0] & 0x0f) != 1) return Error{Code::kMalformed, "a version other than 1"};
  return area.first(length - 1);
}

std::string field_text(std::uint8_t type_and_length, View bytes) {
  switch (type_and_length >> 6) {
    case 0: {  // binary
      std::string text;
      for (const auto each : bytes) text += hex(each, 2).substr(2);
      return text;
    }
    case 1:
      return bcd_plus(bytes);
    case 2:
      return six_bit_ascii(bytes);
    default:
      return latin1(bytes);
  }
}

/// The fields up to the end mark; an area that lacks the mark ends where it ends.
std::vector<std::string> fields_of(View bytes) {
  std::vector<std::string> fields;
  Reader reader{bytes};
  while (!reader.rest().empty() && fields.size() < kMostFields) {
    const auto type_and_length = reader.u8();
    if (type_and_length == kEndOfFields) break;
    const auto field = reader.take(type_and_length & 0x3f);
    if (!reader.ok()) break;
    fields.push_back(field_text(type_and_length, field));
  }
  fields.resize(kMostFields);
  return fields;
}

FruChassis chassis_of(View area) {
  auto fields = fields_of(area.subspan(3));
  return {
      .type = area[2], .part_number = fields[0], .serial = inventory::reported_serial(fields[1])};
}

FruBoard board_of(View area) {
  auto fields = fields_of(area.subspan(6));
  Reader reader{area.subspan(3)};
  return {.made = reader.u24(),
          .manufacturer = fields[0],
          .product = fields[1],
          .serial = inventory::reported_serial(fields[2]),
          .part_number = fields[3]};
}

FruProduct product_of(View area) {
  auto fields = fields_of(area.subspan(3));
  return {.manufacturer = fields[0],
          .name = fields[1],
          .part_number = fields[2],
          .version = fields[3],
          .serial = inventory::reported_serial(fields[4]),
          .asset_tag = fields[5]};
}

const std::string& first_of(const std::string& one, const std::string& other) {
  return one.empty() ? other : one;
}

}  // namespace

std::string Fru::manufacturer() const {
  return first_of(product ? product->manufacturer : "", board ? board->manufacturer : "");
}
std::string Fru::model() const {
  return first_of(product ? product->name : "", board ? board->product : "");
}
std::string Fru::serial() const {
  return first_of(product ? product->serial : "", board ? board->serial : "");
}
std::string Fru::part_number() const {
  return first_of(product ? product->part_number : "", board ? board->part_number : "");
}

Result<Fru> parse_fru(View bytes) {
  if (bytes.size() < kFruHeader) return Error{Code::kMalformed, "a FRU without a whole header"};
  const auto header = bytes.first(kFruHeader);
  const bool blank = std::ranges::all_of(header, [&](auto each) { return each == header[0]; });
  if (blank) return Error{Code::kNotFound, "an empty FRU"};
  if (checksum(header) != 0) return Error{Code::kMalformed, "a FRU header with a wrong checksum"};
  if ((header[0] & 0x0f) != 1) return Error{Code::kMalformed, "a FRU of a version other than 1"};
  Fru fru;
  const auto area = [&](std::size_t at, const char* name, auto& into, auto parse) {
    if (header[at] == 0) return;
    const auto found = area_at(bytes, header[at]);
    if (found)
      into = parse(*found);
    else
      fru.damaged.push_back(std::string{name} + ": " + found.error().what);
  };
  area(2, "chassis", fru.chassis, chassis_of);
  area(3, "board", fru.board, board_of);
  area(4, "product", fru.product, product_of);
  return fru;
}

}  // namespace cupel::bmc::ipmi
