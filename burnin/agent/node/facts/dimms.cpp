#include "burnin/agent/node/facts/dimms.h"

#include <array>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/agent/node/facts/host_parts.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kTable = "/sys/firmware/dmi/tables/DMI";
constexpr unsigned kMemoryDevice = 17, kEndOfTable = 127;
constexpr std::size_t kHeader = 4;

/// One structure: its formatted part, and its strings behind it.
struct Structure {
  std::string_view fixed{}, strings{};

  /// Nothing where it is too short.
  std::optional<unsigned> number(std::size_t at, std::size_t bytes) const {
    if (at + bytes > fixed.size()) return std::nullopt;
    unsigned value = 0;
    for (std::size_t i = bytes; i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(fixed[at + i]);
    return value;
  }
  /// The text whose number stands there, without what vendors write where nothing is known.
  std::string text(std::size_t at) const {
    const auto which = number(at, 1).value_or(0);
    auto rest = strings;
    for (unsigned i = 1; which > 0 && !rest.empty(); ++i) {
      const auto end = std::min(rest.find('\0'), rest.size());
      const auto word = trimmed(rest.substr(0, end));
      if (i == which) return is_filler(word) ? std::string{} : printable(word);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
  }
};

/// Takes the first structure off the table; nothing where it is not whole.
std::optional<Structure> take(std::string_view& table) {
  if (table.size() < kHeader) return std::nullopt;
  const auto length = static_cast<unsigned char>(table[1]);
  if (length < kHeader || length > table.size()) return std::nullopt;
  const auto end = table.find(std::string_view{"\0\0", 2}, length);
  if (end == table.npos) return std::nullopt;
  const Structure one{table.substr(0, length), table.substr(length, end - length)};
  table.remove_prefix(end + 2);
  return one;
}

/// 7.18.4: KiB or MiB; from 32 GiB - 1 MiB on in a field of its own.
std::optional<double> size_of(const Structure& device) {
  constexpr unsigned kUnknown = 0xFFFF, kElsewhere = 0x7FFF, kInKiB = 0x8000;
  const auto reported = device.number(0x0C, 2);
  if (!reported || *reported == kUnknown) return std::nullopt;
  if (*reported == kElsewhere) {
    const auto more = device.number(0x1C, 4);
    return more ? std::optional{(*more & 0x7FFFFFFF) * kMiB} : std::nullopt;
  }
  return (*reported & kInKiB) != 0 ? (*reported & kElsewhere) * kKiB : *reported * kMiB;
}

/// 7.18.2.
std::string type_of(const Structure& device) {
  constexpr std::array<std::pair<unsigned, const char*>, 10> kTypes{{{0x18, "DDR3"},
                                                                     {0x1A, "DDR4"},
                                                                     {0x1E, "LPDDR4"},
                                                                     {0x20, "HBM"},
                                                                     {0x21, "HBM2"},
                                                                     {0x22, "DDR5"},
                                                                     {0x23, "LPDDR5"},
                                                                     {0x24, "HBM3"},
                                                                     {0x25, "MRDIMM"},
                                                                     {0x1F, "NVDIMM"}}};
  const auto reported = device.number(0x12, 1);
  for (const auto& [code, name] : kTypes)
    if (reported == code) return name;
  return {};
}

/// 0: unknown; 0xFFFF: in a field of its own (7.18.5).
std::optional<double> speed_of(const Structure& device) {
  constexpr unsigned kElsewhere = 0xFFFF;
  auto reported = device.number(0x20, 2);
  if (reported == kElsewhere) reported = device.number(0x58, 4);
  return reported && *reported > 0 ? std::optional<double>{*reported & 0x7FFFFFFF} : std::nullopt;
}

}  // namespace

std::vector<Dimm> parse_dimms(std::string_view table) {
  std::vector<Dimm> dimms;
  while (const auto one = take(table)) {
    const auto type = one->number(0, 1);
    if (type == kEndOfTable || dimms.size() == kMostDimms) break;
    if (type != kMemoryDevice) continue;
    dimms.push_back({.slot = one->text(0x10),
                     .bank = one->text(0x11),
                     .type = type_of(*one),
                     .manufacturer = one->text(0x17),
                     .serial = one->text(0x18),
                     .part = one->text(0x1A),
                     .bytes = size_of(*one),
                     .speed = speed_of(*one)});
  }
  return dimms;
}

bool has_dimm_table(const Tree& tree) {
  return !parse_dimms(tree.bytes(kTable).value_or("")).empty();
}

void add_dimms(const Tree& tree, Report& report) {
  const auto table = tree.bytes(kTable);
  const auto dimms = parse_dimms(table.value_or(""));
  report.line.array("dimms");
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) report.line.add(key, std::string_view{text});
  };
  for (const auto& dimm : dimms) {
    report.line.object();
    add("slot", dimm.slot);
    add("bank", dimm.bank);
    add("type", dimm.type);
    add("manufacturer", dimm.manufacturer);
    add("serial", dimm.serial);
    add("part_number", dimm.part);
    report.add("bytes", dimm.bytes);
    report.add("speed", dimm.speed);
    report.line.end();
  }
  report.line.end();
  if (dimms.empty())
    report.unknown("DIMMs", std::string{kTable},
                   table                 ? "the table tells of no memory device"
                   : tree.exists(kTable) ? "not readable: root reads it"
                                         : "absent");
}

}  // namespace cupel::agent
