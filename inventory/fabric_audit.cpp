#include "inventory/fabric_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/enum_words.h"
#include "base/text.h"
#include "inventory/device_places.h"
#include "inventory/link_names.h"
#include "inventory/move_finding.h"

namespace cupel::inventory {
namespace {

/// What was seen, in the words of the plan, and what the two say of each other.
class Comparison {
 public:
  Comparison(const Fabric& plan, const SeenFabric& seen, const HcaGuids& guids)
      : plan_{plan},
        map_{plan},
        names_{plan, seen, guids},
        seen_{seen},
        placed_(plan.cables.size()) {
    audit_.planned = plan.cables.size();
    audit_.unknown = seen.doubts;
    for (auto& finding : names_.findings()) audit_.findings.push_back(std::move(finding));
    place_links();
    place_cables();
    list_devices();
    find_unclear();
  }

  FabricAudit judge() {
    find_places();
    judge_absent();
    judge_exchanged();
    judge_exchanged_rails();
    judge_unclear();
    judge_moves();
    judge_missing();
    judge_extra();
    judge_speed();
    return std::move(audit_);
  }

 private:
  struct Link {
    EndPair ends;
    const SeenLink* seen = nullptr;
    bool settled = false;  // right, or a finding covers it
    bool unclear = false;  // one end may be a planned HCA under another name
  };

  /// Where a planned cable's lower end is connected to; nothing: nowhere.
  struct Placed {
    std::optional<CableEnd> at{};
    const SeenLink* link = nullptr;
    bool reported = false;  // a finding covers it
  };

  /// What ends at a device: indices of the plan's cables, and of links_.
  struct OfDevice {
    std::vector<std::size_t> cables{}, links{};
  };

  void place_links() {
    std::size_t doubled = 0;
    for (const auto& link : seen_.links) {
      if (names_.ignored(link.from) || names_.ignored(link.to)) continue;
      const auto from = names_.end(link.from), to = names_.end(link.to);
      if (!from || !to) {
        // Which of the two devices of one name this is, is not known.
        const auto& known = from ? from : to;
        const auto* cable = known ? map_.cable_at(*known) : nullptr;
        if (cable != nullptr)
          placed_[static_cast<std::size_t>(cable - plan_.cables.data())].reported = true;
        continue;
      }
      if (link_at_.contains(*from) || link_at_.contains(*to)) {
        ++doubled;
        continue;
      }
      link_at_.emplace(*from, links_.size());
      link_at_.emplace(*to, links_.size());
      links_.push_back({{*from, *to}, &link});
    }
    if (doubled > 0)
      audit_.unknown.push_back(fmt::format(
          "{} links are at ports for which the report has another link already", doubled));
  }

  void place_cables() {
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      const auto& [from, to] = std::pair{plan_.cables[i].from, plan_.cables[i].to};
      const auto found = link_at_.find(from);
      if (found == link_at_.end()) continue;
      auto& link = links_[found->second];
      placed_[i].at = other(link, from);
      placed_[i].link = link.seen;
      if (*placed_[i].at != to) continue;
      ++audit_.right;
      link.settled = true;
    }
  }

  void list_devices() {
    for (std::size_t i = 0; i < plan_.cables.size(); ++i)
      for (const auto device : devices_of(plan_.cables[i].from, plan_.cables[i].to))
        of_device_[device].cables.push_back(i);
    for (std::size_t i = 0; i < links_.size(); ++i)
      for (const auto device : devices_of(links_[i].ends.one, links_[i].ends.other))
        of_device_[device].links.push_back(i);
  }

  /// Each once.
  static std::set<std::string_view> devices_of(const CableEnd& one, const CableEnd& other) {
    return {one.device, other.device};
  }

  static const CableEnd& other(const Link& link, const CableEnd& end) {
    return link.ends.one == end ? link.ends.other : link.ends.one;
  }
  const CableEnd* connected_to(const CableEnd& end) const {
    const auto found = link_at_.find(end);
    return found == link_at_.end() ? nullptr : &other(links_[found->second], end);
  }
  bool is_right(std::size_t i) const { return placed_[i].at == plan_.cables[i].to; }
  bool is_open(std::size_t i) const { return !is_right(i) && !placed_[i].reported; }
  bool is_of_plan(std::string_view device) const {
    return map_.find_switch(device) != nullptr || map_.find_node(device) != nullptr;
  }
  std::string text(const CableEnd& end) const { return end_text(map_, end); }
  std::string there(const CableEnd& end) const {
    const auto* found = connected_to(end);
    return found == nullptr ? "nothing" : text(*found);
  }
  void add(CableFinding finding) { audit_.findings.push_back(std::move(finding)); }

  void find_places() {
    std::vector<EndPair> all;
    for (const auto& link : links_)
      if (names_.understood(link.seen->from) && names_.understood(link.seen->to))
        all.push_back(link.ends);
    for (const auto& [device, place] : places_of(map_, all))
      places_.emplace(std::string{device}, std::string{place});
    for (const auto& [device, place] : places_)
      if (!is_of_plan(device)) renamed_.emplace(place, device);
  }

  /// Nothing of such a device is judged further.
  void settle(std::string_view device) {
    const auto found = of_device_.find(device);
    if (found == of_device_.end()) return;
    for (const auto i : found->second.cables) placed_[i].reported = true;
    for (const auto i : found->second.links) links_[i].settled = true;
  }

  void judge_absent() {
    std::map<std::string_view, std::vector<std::size_t>> by_switch, by_node;
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      const auto& cable = plan_.cables[i];
      if (!names_.seen_switch(cable.to.device)) by_switch[cable.to.device].push_back(i);
      if (cable.is_access())
        by_node[cable.from.device].push_back(i);
      else if (!names_.seen_switch(cable.from.device))
        by_switch[cable.from.device].push_back(i);
    }
    for (const auto& [name, cables] : by_switch) judge_absent_switch(name, cables);
    for (const auto& [name, cables] : by_node)
      if (cables.size() > 1 &&
          std::ranges::none_of(cables, [&](auto i) { return placed_[i].at.has_value(); }))
        judge_absent_node(name, cables);
  }

  void cover(const std::vector<std::size_t>& cables) {
    for (const auto i : cables) placed_[i].reported = placed_[i].reported || !placed_[i].at;
  }

  void judge_absent_switch(std::string_view name, const std::vector<std::size_t>& cables) {
    absent_.emplace(name);
    if (const auto other = renamed_.find(name); other != renamed_.end()) {
      add({CableFault::switch_absent,
           {std::string{name}, "", 0},
           fmt::format("switch {} is not in the report, and {} has its links, port by port", name,
                       other->second),
           fmt::format("Move no cable: give {} the name {}, or give the inventory its GUID "
                       "(switches: guid), and look again.",
                       other->second, name)});
      settle(name);
      settle(other->second);
      return;
    }
    cover(cables);
    if (!seen_.whole) return;
    add({CableFault::switch_absent,
         {std::string{name}, "", 0},
         fmt::format("switch {} is not in the report; {} planned cables end there", name,
                     cables.size()),
         "Check that it has power and that the name in its node description is the plan's. If the "
         "report shows half a fabric, look again from a host on the other half."});
  }

  void judge_absent_node(std::string_view name, const std::vector<std::size_t>& cables) {
    const auto left = std::ranges::count_if(cables, [&](auto i) { return !placed_[i].reported; });
    absent_.emplace(name);
    const auto renamed = renamed_.find(name);
    if (renamed == renamed_.end() && is_unclear(name, cables)) {
      unclear_nodes_.emplace(name);
      return;
    }
    cover(cables);
    if (left == 0 || (!seen_.whole && renamed == renamed_.end())) return;
    const auto ports = fmt::format("{} to {}", text(plan_.cables[cables.front()].to),
                                   text(plan_.cables[cables.back()].to));
    CableFinding finding{
        CableFault::node_absent,
        {std::string{name}, "", 0},
        fmt::format("{}: none of its {} HCAs has a link ({})", name, cables.size(), ports),
        "Check that it has power, that the driver is loaded (ibstat), and that its node "
        "descriptions carry the host's name."};
    if (renamed != renamed_.end()) {
      finding.what += fmt::format("; {} is in its ports", renamed->second);
      finding.instruction = fmt::format(
          "Move no cable: {} is rather its other name. Set the host name, restart "
          "rdma-ndd, and look again.",
          renamed->second);
      settle(renamed->second);
    }
    add(std::move(finding));
  }

  /// Devices in each other's places: their names are exchanged, or they are.
  void judge_exchanged() {
    std::map<std::string_view, std::string_view> places;
    for (const auto& [device, place] : places_)
      if (is_of_plan(device)) places.emplace(device, place);
    for (const auto& exchange : exchanges_of(places)) {
      const auto& devices = exchange.devices;
      if (!exchange.closed && !absent_.contains(devices.back())) continue;
      const bool nodes = map_.find_node(devices.front()) != nullptr;
      std::size_t cables = 0, right = 0;
      for (const auto device : devices)
        for (const auto i : of_device_[device].cables) count_in_place(i, device, cables, right);
      add({nodes ? CableFault::nodes_exchanged : CableFault::switches_exchanged,
           {std::string{devices.front()}, "", 0},
           exchange_text(exchange, nodes, right, cables),
           fmt::format("Compare the serial numbers of {} with their places first: {} are exchanged "
                       "rather than {} cables.",
                       fmt::join(devices, ", "),
                       nodes ? "host names, or machines," : "their names, or switches,", right),
           {},
           {devices.begin() + 1, devices.end()}});
      if (right < cables && exchange.closed)
        audit_.unknown.push_back(
            fmt::format("{} other cables of {}: look again when their names are right",
                        cables - right, fmt::join(devices, ", ")));
      std::erase_if(audit_.findings, [&](const CableFinding& finding) {
        const bool absent =
            finding.fault == CableFault::node_absent || finding.fault == CableFault::switch_absent;
        return absent && finding.cable.device == devices.back();
      });
      for (const auto device : devices) settle(device);
    }
  }

  /// Of the planned cables of `device` those that another device has in its place.
  void count_in_place(std::size_t i, std::string_view device, std::size_t& cables,
                      std::size_t& right) const {
    const auto& cable = plan_.cables[i];
    const bool lower = cable.from.device == device;
    if (!lower && cable.to.device != device) return;
    ++cables;
    const auto& own = lower ? cable.from : cable.to;
    const auto* found = connected_to(lower ? cable.to : cable.from);
    if (found == nullptr || found->hca != own.hca || found->port != own.port) return;
    const auto place = places_.find(found->device);
    right += place != places_.end() && place->second == device ? 1 : 0;
  }

  std::string exchange_text(const Exchange& exchange, bool nodes, std::size_t right,
                            std::size_t cables) const {
    const auto& devices = exchange.devices;
    const auto of_each = right / std::max<std::size_t>(exchange.closed ? devices.size() : 1, 1);
    if (exchange.closed && devices.size() == 2)
      return nodes ? fmt::format("{} and {} are in each other's ports on {}{} rails", devices[0],
                                 devices[1], right == cables ? "all " : "", of_each)
                   : fmt::format("{} and {} have each other's {} cables, port by port", devices[0],
                                 devices[1], right);
    std::string chain;
    for (std::size_t i = 0; i + 1 < devices.size() + (exchange.closed ? 1 : 0); ++i)
      chain += fmt::format("{}{} is in the ports of {}", chain.empty() ? "" : ", ", devices[i],
                           devices[(i + 1) % devices.size()]);
    return exchange.closed ? chain
                           : chain + fmt::format(", and {} is not in the report", devices.back());
  }

  /// All nodes of a group have two of their rails crossed, and the uplinks of the leaves are right.
  void judge_exchanged_rails() {
    std::map<std::pair<std::string_view, std::string_view>, std::vector<std::size_t>> moved;
    std::map<std::string_view, std::size_t> connected;
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      const auto& expected = plan_.cables[i].to;
      if (!placed_[i].at || !plan_.cables[i].is_access()) continue;
      ++connected[expected.device];
      const auto& at = *placed_[i].at;
      if (is_open(i) && at.device != expected.device && at.port == expected.port)
        moved[{expected.device, at.device}].push_back(i);
    }
    constexpr std::size_t kTooManyForAccidents = 3;
    for (const auto& [pair, cables] : moved) {
      const auto& [one, other] = pair;
      const auto back = moved.find({other, one});
      if (one >= other || back == moved.end() || cables.size() < kTooManyForAccidents) continue;
      if (cables.size() != connected[one] || back->second.size() != connected[other]) continue;
      for (const auto* list : {&cables, &std::as_const(back->second)})
        for (const auto i : *list) {
          placed_[i].reported = true;
          links_[link_at_.at(plan_.cables[i].from)].settled = true;
        }
      add({CableFault::switches_exchanged,
           {std::string{one}, "", 0},
           fmt::format("{} and {} have each other's {} cables of nodes, port by port", one, other,
                       cables.size() + back->second.size()),
           fmt::format("Compare the plan with the machines first: the order of the HCAs (hcas, or "
                       "rails of the profile), or the names of {} and {}, are exchanged rather "
                       "than the cables.",
                       one, other)});
    }
  }

  /// An HCA that may be a planned one under another name.
  bool is_unclear(const Link& link) const {
    for (const auto* seen : {&link.seen->from, &link.seen->to}) {
      if (!names_.understood(*seen)) return true;
      const auto own = names_.end(*seen);
      if (names_.named_as_planned(*seen) || !own || is_of_plan(own->device)) continue;
      const auto* cable = map_.cable_at(other(link, *own));
      if (cable != nullptr && !link_at_.contains(cable->from)) return true;
    }
    return false;
  }

  void find_unclear() {
    for (auto& link : links_) {
      link.unclear = is_unclear(link);
      if (!link.unclear) continue;
      for (const auto* end : {&link.ends.one, &link.ends.other}) {
        if (const auto* node = map_.find_node(end->device)) unclear_nodes_.insert(node->name);
        if (const auto* cable = map_.cable_at(*end))
          unclear_.insert(static_cast<std::size_t>(cable - plan_.cables.data()));
      }
    }
  }

  /// Whether HCAs without a name of the plan may be those of this node.
  bool is_unclear(std::string_view node, const std::vector<std::size_t>& cables) const {
    const auto at_its_ports =
        std::ranges::count_if(cables, [&](auto i) { return unclear_.contains(i); });
    return unclear_nodes_.contains(node) ||
           2 * static_cast<std::size_t>(at_its_ports) >= cables.size();
  }

  void judge_unclear() {
    std::size_t count = 0, cables = 0;
    std::string example;
    for (auto& link : links_) {
      if (link.settled || !link.unclear) continue;
      link.settled = true;
      if (count++ > 0) continue;
      const bool from = link.ends.one.at_switch();
      const auto& device = seen_.devices[(from ? link.seen->to : link.seen->from).device];
      example = fmt::format("'{}' in {}", device.description,
                            text(from ? link.ends.one : link.ends.other));
    }
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      const auto& cable = plan_.cables[i];
      if (placed_[i].at || placed_[i].reported || !cable.is_access()) continue;
      if (!unclear_.contains(i) && !unclear_nodes_.contains(cable.from.device)) continue;
      placed_[i].reported = true;
      ++cables;
    }
    if (count == 0) return;
    audit_.unknown.push_back(
        fmt::format("{} HCAs have no name of the plan ({}): the {} planned cables that may be "
                    "theirs are not judged. Run rdma-ndd, so that node descriptions are NODE HCA, "
                    "and look again",
                    count, example, cables));
  }

  /// Whether the link can be a planned cable in a wrong port. A host that the plan does not have
  /// keeps its cable: where that belongs is not known.
  bool can_move(const Link& link) const {
    if (link.settled) return false;
    bool concerns = false;
    for (const auto* end : {&link.ends.one, &link.ends.other}) {
      if (!end->at_switch() && map_.find_node(end->device) == nullptr) return false;
      concerns = concerns || map_.cable_at(*end) != nullptr || map_.find_switch(end->device);
    }
    return concerns;
  }

  /// What is in the way of the first plug: a cable of which the plan does not know where it
  /// belongs.
  std::optional<CableEnd> occupant_of(const MoveGroup& group) {
    const auto found = link_at_.find(group.steps.front().expected);
    if (group.cycle || !group.unplug.empty() || found == link_at_.end()) return std::nullopt;
    auto& link = links_[found->second];
    link.settled = true;
    return other(link, group.steps.front().expected);
  }

  void judge_moves() {
    std::vector<EndPair> planned, wrong, all_planned, all_links;
    std::vector<std::size_t> cables, links;
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      all_planned.push_back({plan_.cables[i].from, plan_.cables[i].to});
      if (!is_open(i)) continue;
      planned.push_back(all_planned.back());
      cables.push_back(i);
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      all_links.push_back(links_[i].ends);
      if (!can_move(links_[i])) continue;
      wrong.push_back(links_[i].ends);
      links.push_back(i);
    }
    PlugModel model{all_planned, all_links};
    for (const auto& group : plan_moves(planned, wrong).groups) {
      for (const auto& step : group.steps) {
        placed_[cables[step.planned]].reported = true;
        links_[link_at_.at(step.at)].settled = true;
      }
      for (const auto link : group.unplug) links_[links[link]].settled = true;
      auto finding = finding_of_moves(map_, group, planned, wrong, occupant_of(group));
      // Of a report that is cut off it is not known which ports are free.
      if ((!seen_.whole && !group.cycle) || !model.improves(finding.moves))
        audit_.unknown.push_back(finding.what + ": which ports are free is not known");
      else
        add(std::move(finding));
    }
  }

  void judge_missing() {
    std::size_t unknown = 0;
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      if (!is_open(i)) continue;
      const auto& cable = plan_.cables[i];
      const auto* lower = connected_to(cable.from);
      const auto* upper = connected_to(cable.to);
      if (!seen_.whole && (lower == nullptr || upper == nullptr)) {
        ++unknown;
        continue;
      }
      add({CableFault::missing, cable.from,
           lower == nullptr
               ? fmt::format("{} has no link; it belongs in {}, which has {}", text(cable.from),
                             text(cable.to), there(cable.to))
               : fmt::format("no cable connects {}, which has {}, with {}, which has {}",
                             text(cable.from), there(cable.from), text(cable.to), there(cable.to)),
           fmt::format(
               "{}lug it in at both ends, {} and {}. If it is: reseat and clean both plugs, "
               "then replace the transceivers, then the cable.",
               lower == nullptr && upper == nullptr
                   ? "P"
                   : "When the other findings here are done and both ports are free, p",
               text(cable.from), text(cable.to))});
    }
    if (unknown > 0)
      audit_.unknown.push_back(fmt::format(
          "{} planned cables are not in the part of the report that is there", unknown));
  }

  /// Links at ports of the plan that no planned cable can be.
  void judge_extra() {
    for (const auto& link : links_) {
      if (link.settled) continue;
      const auto& [one, other] = link.ends;
      const auto* planned = map_.cable_at(one);
      const auto& port = planned != nullptr ? one : other;
      if (planned == nullptr) planned = map_.cable_at(other);
      const bool at_switch = map_.find_switch(one.device) || map_.find_switch(other.device);
      const bool between_nodes = planned != nullptr && !one.at_switch() && !other.at_switch();
      if (!at_switch && !between_nodes) continue;
      add({CableFault::extra, one,
           fmt::format("{} and {} are connected, which the plan does not have", text(one),
                       text(other)),
           planned == nullptr
               ? "Unplug it, or add it to the plan."
               : fmt::format("Unplug it: the plan has {} for {}.", text(port),
                             text(planned->from == port ? planned->to : planned->from))});
    }
  }

  void judge_speed() {
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      const auto& cable = plan_.cables[i];
      const auto* link = placed_[i].link;
      if (!link) continue;
      const bool narrow = link->width > 0 && link->width < cable.width;
      const bool slow = !cable.speed.empty() && !link->speed.empty() &&
                        lower_case(cable.speed) != lower_case(link->speed);
      if (!narrow && !slow) continue;
      add({CableFault::slow, cable.from,
           fmt::format("{} in {} runs at {}x {}, planned {}x {}", text(cable.from),
                       text(*placed_[i].at), link->width, link->speed, cable.width,
                       cable.speed.empty() ? link->speed : cable.speed),
           "Reseat both plugs; then clean them; then replace the transceivers at both ends; then "
           "the cable."});
    }
  }

  const Fabric& plan_;
  FabricMap map_;
  LinkNames names_;
  const SeenFabric& seen_;
  FabricAudit audit_{};
  std::vector<Link> links_{};
  std::unordered_map<CableEnd, std::size_t, CableEndHash> link_at_{};  // by both of its ends
  std::vector<Placed> placed_{};                                       // as the plan's cables
  std::unordered_map<std::string_view, OfDevice> of_device_{};
  std::map<std::string, std::string, std::less<>> places_{};   // in whose place a device is
  std::map<std::string, std::string, std::less<>> renamed_{};  // of a place: a device not planned
  std::set<std::string, std::less<>> absent_{};
  std::set<std::size_t> unclear_{};  // planned cables at whose port an unclear HCA is
  std::set<std::string, std::less<>> unclear_nodes_{};  // that have unclear HCAs
};

}  // namespace

std::string_view to_string(CableFault fault) { return enum_word<'-'>(fault); }

std::size_t FabricAudit::moves() const {
  std::size_t count = 0;
  for (const auto& finding : findings)
    for (const auto& move : finding.moves)
      if (move.to) ++count;
  return count;
}

std::string end_text(const FabricMap& map, const CableEnd& end) {
  if (end.at_switch()) {
    const auto* at = map.find_switch(end.device);
    return fmt::format("{} port {}", end.device,
                       at ? port_label(*at, end.port) : fmt::format("{}", end.port));
  }
  auto text = fmt::format("{} {}", end.device, end.hca);
  if (end.port > 1) text += fmt::format(" port {}", end.port);
  if (const int rail = map.rail_of(end.device, end.hca); rail >= 0)
    text += fmt::format(" (rail {})", rail + 1);
  return text;
}

FabricAudit audit_fabric(const Fabric& plan, const SeenFabric& seen, const HcaGuids& guids) {
  return Comparison{plan, seen, guids}.judge();
}

}  // namespace cupel::inventory
