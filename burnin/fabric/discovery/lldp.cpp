#include "burnin/fabric/discovery/lldp.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kLargest = 64u << 20;
constexpr std::size_t kMost = 100'000;
constexpr std::size_t kLongest = 256;  // an LLDP TLV has 511 bytes at most (IEEE 802.1AB, 8.4)

std::string cleaned(std::string_view text) {
  return std::string{
      trimmed(shortened(printable(valid_utf8(text.substr(0, 4 * kLongest))), kLongest))};
}

/// json0 puts everything into arrays of one.
const json::value* inner(const json::value* value) {
  while (value != nullptr && value->is_array())
    value = value->get_array().empty() ? nullptr : &value->get_array().front();
  return value;
}

const json::value* member(const json::value* value, std::string_view key) {
  value = inner(value);
  return value == nullptr ? nullptr : inner(find(*value, key));
}

/// A text, or the text in {"value": ...}.
std::string word(const json::value* value) {
  value = inner(value);
  if (value != nullptr && value->is_object()) value = inner(find(*value, "value"));
  if (value == nullptr || !value->is_string()) return {};
  return cleaned({value->get_string().data(), value->get_string().size()});
}

std::string remote_port(const json::value* port) {
  const auto* id = member(port, "id");
  const auto type = word(member(id, "type"));
  const auto descr = word(member(port, "descr"));
  return descr.empty() || type == "ifname" ? word(id) : descr;
}

LldpNeighbour neighbour(std::string_view port, const json::value& interface) {
  LldpNeighbour found{.port = cleaned(port)};
  const auto* chassis = member(&interface, "chassis");
  // "-f json" has the system's name as the key.
  const bool keyed = chassis != nullptr && chassis->is_object() &&
                     chassis->get_object().size() == 1 && find(*chassis, "id") == nullptr;
  if (keyed) {
    const auto& [name, inside] = *chassis->get_object().begin();
    found.device = cleaned(name);
    chassis = inner(&inside);
  } else {
    found.device = word(member(chassis, "name"));
  }
  found.chassis = word(member(chassis, "id"));
  found.remote = remote_port(member(&interface, "port"));
  return found;
}

/// {"name": "swp1", ...} of json0, {"swp1": {...}} of json.
void add_interface(const json::value& entry, std::vector<LldpNeighbour>& all) {
  if (!entry.is_object() || all.size() > kMost) return;
  if (const auto name = text_at(entry, "name")) {
    all.push_back(neighbour(*name, entry));
    return;
  }
  for (const auto& [name, inside] : entry.get_object())
    if (inside.is_object() && all.size() <= kMost) all.push_back(neighbour(name, inside));
}

}  // namespace

Result<std::vector<LldpNeighbour>> parse_lldpctl(std::string_view text) {
  if (text.size() > kLargest) return Error{Code::kMalformed, "lldpctl printed more than 64 MiB"};
  std::vector<LldpNeighbour> all;
  if (!trimmed(text).empty()) {
    TRY(const auto document, parse_json(text));
    const auto* lldp = member(&document, "lldp");
    if (lldp == nullptr && (!document.is_object() || find(document, "lldp") == nullptr))
      return Error{Code::kMalformed,
                   "it is JSON, and not the output of lldpctl -f json0: the key lldp is not there"};
    const auto* interfaces = lldp == nullptr ? nullptr : find(*lldp, "interface");
    if (interfaces != nullptr && interfaces->is_array())
      for (const auto& entry : interfaces->get_array()) add_interface(entry, all);
    else if (interfaces != nullptr)
      add_interface(*interfaces, all);
  }
  std::erase_if(all, [](const LldpNeighbour& one) {
    return one.port.empty() || (one.device.empty() && one.chassis.empty());
  });
  if (all.size() > kMost)
    return Error{Code::kMalformed, "lldpctl printed more than 100,000 neighbours"};
  if (all.empty())
    return Error{Code::kNoMeasurement,
                 "lldpctl reported no neighbour: lldpd does not run, or has heard of none yet. "
                 "Check lldpcli show interfaces, and LLDP on the switch"};
  return all;
}

}  // namespace cupel::burnin
