#include "burnin/fabric/odd_links.h"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "base/text.h"
#include "burnin/fabric/ber_limits.h"

namespace cupel::burnin {
namespace {

struct Value {
  std::string kind{};   // those of one kind are compared
  std::string value{};  // empty: not reported
};

struct Aspect {
  LinkFault fault;
  std::string_view name;
  /// Of one end of a link; the first end stands for the link where both have the same.
  std::function<Value(const LinkLook&, const LookedLink&, const PortId&)> value;
  bool both_ends;
};

/// Hosts of other kinds have other HCAs under the same name.
std::string kind_of(const LookedLink& link) {
  if (link.from.hca.empty()) return "links between switches";
  return "links of " + link.from.hca +
         (link.hca_type == 0 ? "" : fmt::format(" with DeviceID {:#x}", link.hca_type));
}

/// Without the length that part numbers of cables have in them: "MFA7U10-H015" is "MFA7U10-H...",
/// half metres being "H01A". Of other vendors a number that is the cable's length is left out.
std::string part_of(const CableModule& module) {
  auto part = module.part;
  constexpr std::size_t kDigits = 3;
  const auto is_digit = [](char one) { return one >= '0' && one <= '9'; };
  const bool in_one_piece = !lower_case(module.type).contains("separated");
  for (std::size_t at = part.find('-'); at != part.npos; at = part.find('-', at + 1)) {
    if (at + 1 + kDigits >= part.size() || is_digit(part[at + 1])) continue;
    const auto length = std::string_view{part}.substr(at + 2, kDigits);
    if (is_digit(length[0]) && is_digit(length[1]) && (is_digit(length[2]) || length[2] == 'A'))
      return part.replace(at + 2, kDigits, "...");
  }
  if (!in_one_piece || module.metres <= 0) return part;
  for (std::size_t at = 0; at < part.size(); ++at) {
    if (!is_digit(part[at])) continue;
    const auto end = part.find_first_not_of("0123456789", at);
    const auto digits = part.substr(at, end - at);
    if (number<double>(digits) == module.metres) return part.replace(at, digits.size(), "...");
    if (end == part.npos) break;
    at = end;
  }
  return part;
}

/// A link with more than the others has no defect.
bool is_more(LinkFault fault, const std::string& value, const std::string& usual) {
  if (fault == LinkFault::odd_speed) {
    const auto own = lane_gbit(value), others = lane_gbit(usual);
    return own && others && *own > *others;
  }
  const auto lanes = [](const std::string& text) {  // "4x"
    return number<int>(std::string_view{text}.substr(0, text.find('x'))).value_or(0);
  };
  return fault == LinkFault::odd_width && lanes(value) > lanes(usual);
}

const MlxlinkReport* report_of(const LinkLook& look, const PortId& port) {
  const auto found = look.reports.find(port);
  return found == look.reports.end() ? nullptr : &found->second;
}

std::string side(const PortId& port) { return port.hca.empty() ? "switches" : "HCAs"; }

const std::vector<Aspect>& aspects() {
  static const std::vector<Aspect> all{
      {LinkFault::odd_width, "width",
       [](const LinkLook&, const LookedLink& link, const PortId&) {
         return Value{kind_of(link), link.width == 0 ? "" : fmt::format("{}x", link.width)};
       },
       false},
      {LinkFault::odd_speed, "speed",
       [](const LinkLook&, const LookedLink& link, const PortId&) {
         return Value{kind_of(link), link.speed};
       },
       false},
      {LinkFault::odd_firmware, "firmware",
       [](const LinkLook& look, const LookedLink&, const PortId& port) {
         const auto* report = report_of(look, port);
         if (report == nullptr) return Value{};
         const auto& version = report->firmware;
         return Value{side(port) + " with " + version.substr(0, version.find('.')), version};
       },
       true},
      {LinkFault::odd_firmware, "firmware of the transceiver",
       [](const LinkLook& look, const LookedLink&, const PortId& port) {
         const auto* report = report_of(look, port);
         if (report == nullptr || report->module.part.empty()) return Value{};
         return Value{"transceivers " + report->module.part, report->module.firmware};
       },
       true},
      {LinkFault::odd_cable, "cable or transceiver",
       [](const LinkLook& look, const LookedLink& link, const PortId& port) {
         const auto* report = report_of(look, port);
         if (report == nullptr) return Value{};
         // Near racks have copper, far ones optics: only cables of one type are compared.
         return Value{fmt::format("{} of {}{}{}", side(port), kind_of(link),
                                  report->module.type.empty() ? "" : ", ", report->module.type),
                      part_of(report->module)};
       },
       true}};
  return all;
}

using Tally = std::map<std::string, std::map<std::string, std::size_t>>;

/// The value of at least four and three quarters; empty without one.
std::string usual(const std::map<std::string, std::size_t>& values) {
  constexpr std::size_t kLeast = 4, kQuarters = 4;
  std::size_t all = 0;
  for (const auto& [value, count] : values) all += count;
  for (const auto& [value, count] : values)
    if (count >= kLeast && count * kQuarters >= all * (kQuarters - 1)) return value;
  return {};
}

void each_end(const LookedLink& link, bool both, const std::function<void(const PortId&)>& with) {
  with(link.from);
  if (both) with(link.to);
}

void judge(const LinkLook& look, const Aspect& aspect, std::vector<OddLink>& odd) {
  Tally tally;
  for (const auto& link : look.links)
    each_end(link, aspect.both_ends, [&](const PortId& port) {
      const auto [kind, value] = aspect.value(look, link, port);
      if (!value.empty()) ++tally[kind][value];
    });
  for (std::size_t i = 0; i < look.links.size(); ++i)
    each_end(look.links[i], aspect.both_ends, [&](const PortId& port) {
      const auto [kind, value] = aspect.value(look, look.links[i], port);
      if (value.empty()) return;
      const auto most = usual(tally[kind]);
      if (most.empty() || most == value || is_more(aspect.fault, value, most)) return;
      const auto where = aspect.both_ends ? " at " + to_string(port) : std::string{};
      odd.push_back({i,
                     {aspect.fault, fmt::format("{} {}{}; {} of the {} have {}", aspect.name, value,
                                                where, tally[kind][most], kind, most)}});
    });
}

}  // namespace

std::vector<OddLink> odd_links(const LinkLook& look) {
  std::vector<OddLink> odd;
  for (const auto& aspect : aspects()) judge(look, aspect, odd);
  return odd;
}

}  // namespace cupel::burnin
