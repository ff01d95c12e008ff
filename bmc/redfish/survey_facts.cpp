// What documents tell in the same words everywhere, and what parts of a kind tell at all.
#include <array>

#include "base/text.h"
#include "bmc/redfish/survey.h"
#include "bmc/redfish/uri.h"
#include "inventory/identity.h"

namespace cupel::bmc::redfish {

constexpr std::size_t kMostRows = 2000;

std::span<const std::string_view> facts_of(inventory::PartKind kind) {
  using enum inventory::PartKind;
  using Words = std::string_view;
  static constexpr std::array<Words, 7> kGpu{"serial", "model", "part number", "firmware",
                                             "health", "size",  "PCIe link"};
  static constexpr std::array<Words, 3> kCpu{"model", "cores", "health"};
  static constexpr std::array<Words, 5> kDimm{"serial", "manufacturer", "part number", "size",
                                              "health"};
  static constexpr std::array<Words, 5> kDrive{"serial", "model", "firmware", "size", "health"};
  static constexpr std::array<Words, 5> kPsu{"serial", "model", "part number", "firmware",
                                             "health"};
  static constexpr std::array<Words, 6> kAdapter{"serial",   "model",  "manufacturer",
                                                 "firmware", "health", "PCIe link"};
  static constexpr std::array<Words, 7> kNic{"serial", "model", "manufacturer", "firmware",
                                             "health", "MACs",  "PCIe link"};
  static constexpr std::array<Words, 3> kSwitch{"model", "firmware", "health"};
  static constexpr std::array<Words, 1> kFan{"health"};
  static constexpr std::array<Words, 2> kPcie{"health", "PCIe link"};
  static constexpr std::array<Words, 4> kSystem{"model", "manufacturer", "part number", "health"};
  static constexpr std::array<Words, 2> kBmc{"model", "health"};
  switch (kind) {
    case gpu:
      return kGpu;
    case cpu:
      return kCpu;
    case dimm:
      return kDimm;
    case nvme:
    case drive:
      return kDrive;
    case psu:
      return kPsu;
    case hca:
    case dpu:
      return kAdapter;
    case nic:
      return kNic;
    case switch_chip:
      return kSwitch;
    case fan:
      return kFan;
    case pcie:
      return kPcie;
    case system:
      return kSystem;
    case bmc:
      return kBmc;
    case firmware:
      return {};
  }
  __builtin_unreachable();
}

bool tells(const inventory::Part& part, std::string_view fact) {
  if (fact == "serial") return !part.serial.empty();
  if (fact == "model") return !part.model.empty();
  if (fact == "manufacturer") return !part.manufacturer.empty();
  if (fact == "part number") return !part.part_number.empty();
  if (fact == "firmware") return !part.firmware.empty();
  if (fact == "health") return !part.health.empty();
  if (fact == "size") return part.size_bytes.has_value();
  if (fact == "cores") return part.count.has_value();
  if (fact == "MACs") return !part.macs.empty();
  return part.pcie.has_value();
}

std::string reported(const json::value& body, std::string_view path) {
  constexpr std::array<std::string_view, 12> kNothing{"n/a",
                                                      "na",
                                                      "nil",
                                                      "none",
                                                      "null",
                                                      "unknown",
                                                      "n.a.",
                                                      "not available",
                                                      "not applicable",
                                                      "not specified",
                                                      "undefined",
                                                      "to be filled by o.e.m."};
  const auto text = text_at(body, path);
  if (!text) return {};
  const std::string readable{trimmed(printable(shortened(*text, 256)))};
  const auto lower = lower_case(readable);
  if (std::ranges::find(kNothing, lower) != kNothing.end()) return {};
  if (readable.size() >= 8 && readable.find_first_not_of('0') == std::string::npos) return {};
  // An erased memory: bytes of 0xFF, which document.cpp replaced.
  if (readable.find_first_not_of("\uFFFD ") == std::string::npos) return {};
  // Of Dell, SKU is the service tag.
  if (path == "SerialNumber" || path == "SKU") return inventory::reported_serial(readable);
  return readable;
}

std::string link_at(const json::value& body, std::string_view path) {
  const auto* value = find(body, path);
  if (value == nullptr) return {};
  const auto uri = path_of(text_at(*value, "@odata.id").value_or(""));
  return is_on_the_bmc(uri) ? uri : std::string{};
}

std::vector<std::string> links_at(const json::value& body, std::string_view path) {
  std::vector<std::string> found;
  const auto* value = find(body, path);
  const auto* list = value == nullptr ? nullptr : value->if_array();
  if (list == nullptr) return found;
  for (const auto& one : *list) {
    auto uri = path_of(text_at(one, "@odata.id").value_or(""));
    if (!uri.empty()) found.push_back(std::move(uri));
  }
  return found;
}

std::vector<Document> rows_of(Survey& survey, const Document& from, std::string_view array,
                              std::string_view fact) {
  std::vector<Document> rows;
  const auto* list = find(from.body, array);
  if (list == nullptr || !list->is_array()) {
    const auto why = "lists no " + std::string{array};
    survey.unknown(std::string{fact}, from.uri,
                   list == nullptr ? why : why + ", only something else");
    return rows;
  }
  for (const auto& one : list->get_array()) {
    if (rows.size() >= kMostRows) {
      const auto why = "more than " + std::to_string(kMostRows) + " rows: the rest is not read";
      survey.not_whole(from.uri, why);
      survey.unknown(std::string{fact}, from.uri, why);
      break;
    }
    auto place = from.uri + "#/" + std::string{array} + "/" + std::to_string(rows.size());
    const auto own = text_at(one, "@odata.id").value_or("");
    if (is_on_the_bmc(own) && normal(own) == normal(from.uri) && own != from.uri) place = own;
    if (!one.is_object()) survey.not_whole(place, "a row that is none", true);
    if (!one.is_object()) survey.unknown(std::string{fact}, place, "a row that is none");
    rows.push_back({std::move(place), one.is_object() ? one : json::value{}});
  }
  return rows;
}

bool is_absent(const json::value& body) { return text_at(body, "Status/State") == "Absent"; }

bool natural_less(std::string_view left, std::string_view right) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_at_front = [&](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && digit(text[end])) ++end;
    auto digits = text.substr(0, end);
    text.remove_prefix(end);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return digits;
  };
  while (!left.empty() && !right.empty()) {
    if (digit(left.front()) && digit(right.front())) {
      const auto a = number_at_front(left), b = number_at_front(right);
      if (a.size() != b.size()) return a.size() < b.size();
      if (a != b) return a < b;
      continue;
    }
    if (left.front() != right.front()) return left.front() < right.front();
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  return left.size() < right.size();
}

inventory::Part part_of(inventory::PartKind kind, std::string name, const Document& from) {
  inventory::Part part{.kind = kind, .name = std::move(name), .source = from.uri};
  part.model = reported(from.body, "Model");
  part.manufacturer = reported(from.body, "Manufacturer");
  part.serial = reported(from.body, "SerialNumber");
  part.part_number = reported(from.body, "PartNumber");
  part.firmware = reported(from.body, "FirmwareVersion");
  part.health = reported(from.body, "Status/Health");
  for (const auto* where : {"Location/PartLocation/ServiceLabel",
                            "PhysicalLocation/PartLocation/ServiceLabel", "Location"}) {
    if (part.slot.empty()) part.slot = reported(from.body, where);
  }
  // Each module of a GB200 has a GPU_0 and a GPU_1.
  const auto within = reported(from.body, "Location/PartLocationContext");
  if (!within.empty() && !part.slot.empty()) part.slot = within + "/" + part.slot;
  return part;
}

}  // namespace cupel::bmc::redfish
