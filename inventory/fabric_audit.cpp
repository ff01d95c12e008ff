#include "inventory/fabric_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_set>

#include "base/enum_words.h"
#include "base/text.h"
#include "inventory/cable_moves.h"
#include "inventory/link_names.h"

namespace cupel::inventory {
namespace {

/// What was seen, in the words of the plan, and what the two say of each other.
class Comparison {
 public:
  Comparison(const Fabric& plan, const SeenFabric& seen, const HcaGuids& guids)
      : plan_{plan}, map_{plan}, names_{plan, seen, guids}, seen_{seen} {
    audit_.planned = plan.cables.size();
    audit_.unknown = seen.doubts;
    for (auto& finding : names_.findings()) audit_.findings.push_back(std::move(finding));
    place_cables();
  }

  FabricAudit judge() {
    judge_absent();
    judge_exchanged_nodes();
    judge_exchanged_switches();
    judge_moves();
    judge_lower_ends();
    judge_missing();
    judge_extra();
    judge_speed();
    return std::move(audit_);
  }

 private:
  /// Where a planned cable's lower end is connected to; nothing: nowhere.
  struct Placed {
    std::optional<CableEnd> at{};
    const SeenLink* link = nullptr;
    bool told = false;  // a finding covers it
  };

  void place_cables() {
    for (const auto& link : seen_.links) {
      const auto from = names_.end(link.from), to = names_.end(link.to);
      if (!from || !to) continue;
      connected_.try_emplace(*from, std::pair{*to, &link});
      connected_.try_emplace(*to, std::pair{*from, &link});
    }
    placed_.resize(plan_.cables.size());
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      const auto found = connected_.find(plan_.cables[i].from);
      if (found == connected_.end()) continue;
      placed_[i].at = found->second.first;
      placed_[i].link = found->second.second;
      if (*placed_[i].at == plan_.cables[i].to) ++audit_.right;
    }
  }

  bool misplaced(std::size_t i) const {
    return placed_[i].at && !placed_[i].told && *placed_[i].at != plan_.cables[i].to;
  }
  std::string text(const CableEnd& end) const { return end_text(map_, end); }
  void add(CableFinding finding) { audit_.findings.push_back(std::move(finding)); }

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
    const auto silent = [&](const std::vector<std::size_t>& cables) {
      return std::ranges::none_of(cables, [&](auto i) { return placed_[i].at.has_value(); });
    };
    const auto cover = [&](const std::vector<std::size_t>& cables) {
      for (const auto i : cables) placed_[i].told = placed_[i].told || !placed_[i].at;
    };
    for (const auto& [name, cables] : by_switch) {
      cover(cables);
      add({CableFault::switch_absent,
           {std::string{name}, "", 0},
           fmt::format("switch {} is not in the report; {} planned cables end there", name,
                       cables.size()),
           "Check that it has power and that the name in its node description is the plan's. If "
           "the "
           "report shows half a fabric, look again from a host on the other half."});
    }
    for (const auto& [name, cables] : by_node) {
      if (cables.size() < 2 || !silent(cables)) continue;
      const auto left = std::ranges::count_if(cables, [&](auto i) { return !placed_[i].told; });
      cover(cables);
      if (left == 0) continue;
      const auto ports = fmt::format("{} to {}", text(plan_.cables[cables.front()].to),
                                     text(plan_.cables[cables.back()].to));
      add({CableFault::node_absent,
           {std::string{name}, "", 0},
           fmt::format("{}: none of its {} HCAs has a link ({})", name, cables.size(), ports),
           "Check that it has power, that the driver is loaded (ibstat), and that its node "
           "descriptions carry the host's name."});
    }
  }

  /// The planned cable whose port that is, where it is misplaced too; its index.
  std::optional<std::size_t> owner_of(const CableEnd& port) const {
    const auto* owner = map_.cable_at(port);
    if (!owner) return std::nullopt;
    return static_cast<std::size_t>(owner - plan_.cables.data());
  }

  /// Two nodes, each in the ports of the other: their names or their places are exchanged.
  void judge_exchanged_nodes() {
    std::map<std::string_view, std::vector<std::size_t>> by_node;
    for (std::size_t i = 0; i < plan_.cables.size(); ++i)
      if (plan_.cables[i].is_access()) by_node[plan_.cables[i].from.device].push_back(i);
    std::map<std::string_view, std::string_view> in_place_of;
    for (const auto& [node, cables] : by_node)
      if (const auto other = whole_place(cables)) in_place_of[node] = *other;
    for (const auto& [node, other] : in_place_of) {
      const auto back = in_place_of.find(other);
      if (node >= other || back == in_place_of.end() || back->second != node) continue;
      for (const auto& name : {node, other})
        for (const auto i : by_node[name]) placed_[i].told = true;
      add({CableFault::nodes_exchanged,
           {std::string{node}, "", 0},
           fmt::format("{} and {} are in each other's ports on all {} rails", node, other,
                       by_node[node].size()),
           fmt::format("Compare the serial numbers of {} and {} with their places first: host "
                       "names, or machines, are exchanged rather than {} cables.",
                       node, other, 2 * by_node[node].size())});
    }
  }

  /// The node in whose ports all these cables of one node are, rail by rail.
  std::optional<std::string_view> whole_place(const std::vector<std::size_t>& cables) const {
    std::optional<std::string_view> place;
    if (cables.size() < 2) return std::nullopt;
    for (const auto i : cables) {
      if (!misplaced(i)) return std::nullopt;
      const auto owner = owner_of(*placed_[i].at);
      if (!owner || plan_.cables[*owner].from.hca != plan_.cables[i].from.hca) return std::nullopt;
      const std::string_view device = plan_.cables[*owner].from.device;
      if (place && *place != device) return std::nullopt;
      place = device;
    }
    return place;
  }

  void judge_exchanged_switches() {
    std::map<std::pair<std::string_view, std::string_view>, std::vector<std::size_t>> moved;
    std::map<std::string_view, std::size_t> connected;
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      const auto& wanted = plan_.cables[i].to;
      if (!placed_[i].at || !plan_.cables[i].is_access()) continue;
      ++connected[wanted.device];
      const auto& at = *placed_[i].at;
      if (misplaced(i) && at.device != wanted.device && at.port == wanted.port)
        moved[{wanted.device, at.device}].push_back(i);
    }
    constexpr std::size_t kTooManyForAccidents = 3;
    for (const auto& [pair, cables] : moved) {
      const auto& [one, other] = pair;
      const auto back = moved.find({other, one});
      if (one >= other || back == moved.end() || cables.size() < kTooManyForAccidents) continue;
      if (cables.size() != connected[one] || back->second.size() != connected[other]) continue;
      for (const auto* list : {&cables, &std::as_const(back->second)})
        for (const auto i : *list) placed_[i].told = true;
      add({CableFault::switches_exchanged,
           {std::string{one}, "", 0},
           fmt::format("{} and {} have each other's {} cables, port by port", one, other,
                       cables.size() + back->second.size()),
           fmt::format("Compare the serial numbers of the two switches with their places first: "
                       "the names of {} and {} are exchanged rather than the cables.",
                       one, other)});
    }
  }

  void judge_moves() {
    std::vector<Misplaced> wrong;
    for (std::size_t i = 0; i < plan_.cables.size(); ++i)
      if (misplaced(i)) {
        wrong.push_back({plan_.cables[i].from, *placed_[i].at, plan_.cables[i].to});
        placed_[i].told = true;
      }
    for (const auto& group : groups_of_moves(wrong)) add(finding_of(group));
  }

  CableFinding finding_of(const MoveGroup& group) const {
    const auto& cables = group.in_order;
    const bool swap = group.cycle && cables.size() == 2;
    CableFinding finding{.fault = swap ? CableFault::swapped : CableFault::moved,
                         .cable = cables.front().cable};
    for (const auto& one : cables) {
      if (!finding.what.empty()) finding.what += "; ";
      finding.what += fmt::format("{} is in {}, belongs in {}", text(one.cable), text(one.at),
                                  text(one.wanted));
    }
    if (!group.cycle) {
      for (const auto& one : cables) finding.moves.push_back({one.cable, one.at, one.wanted});
      finding.instruction = chain_text(cables);
      return finding;
    }
    finding.moves.push_back({cables.front().cable, cables.front().at, std::nullopt});
    for (const auto& one : cables)
      if (&one != &cables.front()) finding.moves.push_back({one.cable, one.at, one.wanted});
    finding.moves.push_back({cables.front().cable, std::nullopt, cables.front().wanted});
    finding.instruction = swap ? fmt::format("Swap the plugs in {} and {}.",
                                             text(cables.front().at), text(cables.front().wanted))
                               : cycle_text(cables);
    const auto same_node = [&](const Misplaced& one) {
      return !one.cable.at_switch() && one.cable.device == cables.front().cable.device;
    };
    if (swap && std::ranges::all_of(cables, same_node))
      finding.instruction +=
          fmt::format(" Or swap them at {}: {} and {}.", cables.front().cable.device,
                      cables.front().cable.hca, cables.back().cable.hca);
    return finding;
  }

  std::string chain_text(const std::vector<Misplaced>& cables) const {
    std::string text_of;
    if (const auto found = connected_.find(cables.front().wanted); found != connected_.end())
      text_of = fmt::format("First unplug {} from {}. ", text(found->second.first),
                            text(cables.front().wanted));
    for (const auto& one : cables)
      text_of += fmt::format("{}Move the plug in {} to {}.",
                             text_of.empty() || text_of.ends_with(' ') ? "" : " ", text(one.at),
                             text(one.wanted));
    return text_of;
  }

  std::string cycle_text(const std::vector<Misplaced>& cables) const {
    auto text_of = fmt::format("Unplug {}.", text(cables.front().at));
    for (const auto& one : cables)
      if (&one != &cables.front())
        text_of += fmt::format(" Move the plug in {} to {}.", text(one.at), text(one.wanted));
    return text_of + fmt::format(" Plug the first one into {}.", text(cables.front().wanted));
  }

  /// A cable that is right at its upper end, and whose lower plug is in a port that no cable of the
  /// plan has: of an HCA that is not planned, or of another port of the leaf.
  void judge_lower_ends() {
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      const auto& cable = plan_.cables[i];
      if (placed_[i].at || placed_[i].told) continue;
      const auto found = connected_.find(cable.to);
      if (found == connected_.end()) continue;
      const auto& [at, link] = found->second;
      const bool of_plan = map_.find_switch(at.device) || map_.find_node(at.device);
      if (!of_plan || map_.cable_at(at) || at.at_switch() != cable.from.at_switch()) continue;
      placed_[i].told = true;
      at_wrong_lower_end_.insert(link);
      add({.fault = CableFault::moved,
           .cable = cable.from,
           .what = fmt::format("the cable in {} leads to {}, belongs in {}", text(cable.to),
                               text(at), text(cable.from)),
           .instruction = fmt::format("Move the plug in {} to {}.", text(at), text(cable.from)),
           .moves = {{cable.to, at, cable.from}}});
    }
  }

  void judge_missing() {
    for (std::size_t i = 0; i < plan_.cables.size(); ++i) {
      if (placed_[i].at || placed_[i].told) continue;
      const auto& cable = plan_.cables[i];
      std::string there = "nothing";
      if (const auto found = connected_.find(cable.to); found != connected_.end())
        there = text(found->second.first);
      add({CableFault::missing, cable.from,
           fmt::format("{} has no link; it belongs in {}, which has {}", text(cable.from),
                       text(cable.to), there),
           fmt::format("Plug it in at both ends, {} and {}. If it is: reseat and clean both plugs, "
                       "then replace the transceivers, then the cable.",
                       text(cable.from), text(cable.to))});
    }
  }

  /// Links between things of the plan, or at its switches, that no planned cable accounts for.
  void judge_extra() {
    for (const auto& link : seen_.links) {
      const auto from = names_.end(link.from), to = names_.end(link.to);
      if (!from || !to || names_.ignored(link.from) || names_.ignored(link.to)) continue;
      if (at_wrong_lower_end_.contains(&link)) continue;
      const bool known = map_.cable_at(*from) || map_.cable_at(*to);
      const bool of_plan = map_.find_switch(from->device) || map_.find_switch(to->device);
      if (!of_plan || (known && accounted(*from, *to))) continue;
      add({CableFault::extra, *from,
           fmt::format("{} and {} are connected, which the plan does not have", text(*from),
                       text(*to)),
           "Unplug it, or add it to the plan."});
    }
  }

  /// Whether some planned cable's lower end is one of them: then its own finding says what is
  /// wrong.
  bool accounted(const CableEnd& one, const CableEnd& other) const {
    const auto is_lower = [&](const CableEnd& end) {
      const auto* cable = map_.cable_at(end);
      return cable && cable->from == end;
    };
    return is_lower(one) || is_lower(other);
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
  std::unordered_map<CableEnd, std::pair<CableEnd, const SeenLink*>, CableEndHash> connected_{};
  std::vector<Placed> placed_{};
  std::unordered_set<const SeenLink*> at_wrong_lower_end_{};
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
