#include "inventory/move_finding.h"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::inventory {
namespace {

class MoveText {
 public:
  MoveText(const FabricMap& map, const MoveGroup& group, std::span<const EndPair> planned)
      : map_{map}, group_{group}, steps_{group.steps}, planned_{planned} {}

  CableFinding begin() const {
    const bool swap = group_.cycle && steps_.size() == 2;
    CableFinding finding{.fault = swap ? CableFault::swapped : CableFault::moved,
                         .cable = planned_[steps_.front().planned].one};
    for (const auto& step : steps_) {
      if (!finding.what.empty()) finding.what += "; ";
      const auto stays = text(step.stays), at = text(step.at), expected = text(step.expected);
      finding.what +=
          is_kept_at_lower_end(step)
              ? fmt::format("{} is in {}, belongs in {}", stays, at, expected)
              : fmt::format("the cable in {} leads to {}, belongs in {}", stays, at, expected);
    }
    return finding;
  }

  void add_cycle(CableFinding& finding) const {
    const auto& first = steps_.front();
    finding.moves.push_back({first.stays, first.at, std::nullopt});
    for (std::size_t i = 1; i < steps_.size(); ++i)
      finding.moves.push_back({steps_[i].stays, steps_[i].at, steps_[i].expected});
    finding.moves.push_back({first.stays, std::nullopt, first.expected});
    finding.instruction = steps_.size() == 2 ? swap_text() : cycle_text();
  }

  /// A link without a place is in the way: its ports are freed.
  void add_unplugged(const EndPair& link, CableFinding& finding) const {
    finding.instruction +=
        fmt::format("First unplug the cable between {} and {}. ", text(link.one), text(link.other));
    const auto free = [&](const CableEnd& end, const CableEnd& other) {
      if (std::ranges::find(steps_, end, &PlugStep::expected) != steps_.end())
        finding.moves.push_back({other, end, std::nullopt});
    };
    free(link.one, link.other);
    free(link.other, link.one);
  }

  void add_occupant(const CableEnd& occupant, CableFinding& finding) const {
    const auto& port = steps_.front().expected;
    finding.instruction += fmt::format("First unplug {} from {}. ", text(occupant), text(port));
    finding.moves.push_back({occupant, port, std::nullopt});
  }

  void add_steps(CableFinding& finding) const {
    for (const auto& step : steps_) {
      const bool begins = finding.instruction.empty() || finding.instruction.ends_with(' ');
      finding.instruction += fmt::format("{}Move the plug in {} to {}.", begins ? "" : " ",
                                         text(step.at), text(step.expected));
      finding.moves.push_back({step.stays, step.at, step.expected});
    }
  }

 private:
  std::string text(const CableEnd& end) const { return end_text(map_, end); }
  bool is_kept_at_lower_end(const PlugStep& step) const {
    return step.stays == planned_[step.planned].one;
  }

  std::string swap_text() const {
    auto words = fmt::format("Swap the plugs in {} and {}.", text(steps_.front().at),
                             text(steps_.front().expected));
    const auto& end = steps_.front().stays;
    const bool of_one_node = std::ranges::all_of(steps_, [&](const PlugStep& step) {
      return is_kept_at_lower_end(step) && !step.stays.at_switch() &&
             step.stays.device == end.device;
    });
    if (of_one_node)
      words += fmt::format(" Or swap them at {}: {} and {}.", end.device, end.hca,
                           steps_.back().stays.hca);
    return words;
  }

  std::string cycle_text() const {
    auto words = fmt::format("Unplug {}.", text(steps_.front().at));
    for (std::size_t i = 1; i < steps_.size(); ++i)
      words +=
          fmt::format(" Move the plug in {} to {}.", text(steps_[i].at), text(steps_[i].expected));
    return words + fmt::format(" Plug the first one into {}.", text(steps_.front().expected));
  }

  const FabricMap& map_;
  const MoveGroup& group_;
  const std::vector<PlugStep>& steps_;
  std::span<const EndPair> planned_;
};

}  // namespace

CableFinding finding_of_moves(const FabricMap& map, const MoveGroup& group,
                              std::span<const EndPair> planned, std::span<const EndPair> links,
                              const std::optional<CableEnd>& occupant) {
  const MoveText text{map, group, planned};
  auto finding = text.begin();
  if (group.cycle) {
    text.add_cycle(finding);
    return finding;
  }
  for (const auto link : group.unplug) text.add_unplugged(links[link], finding);
  if (occupant) text.add_occupant(*occupant, finding);
  text.add_steps(finding);
  return finding;
}

}  // namespace cupel::inventory
