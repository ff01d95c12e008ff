#include "burnin/fabric/odd_links.h"

#include <fmt/format.h>

#include <functional>
#include <map>

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

std::string kind_of(const LookedLink& link) {
  return link.from.hca.empty() ? "links between switches" : "links of " + link.from.hca;
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
         return Value{side(port) + " of " + kind_of(link), report->module.part};
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
      if (most.empty() || most == value) return;
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
