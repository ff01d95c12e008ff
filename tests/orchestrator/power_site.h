#pragma once
// A site with a power tree, made by hand: rooms, racks, breakers and nodes for tests of who may
// begin when.
#include <fmt/format.h>

#include <deque>

#include "inventory/model.h"
#include "playbooks/plan.h"

namespace cupel::test {

struct SiteShape {
  int racks = 1;
  int nodes = 4;             // of each rack
  int breakers = 1;          // of each PDU; nodes are dealt to them in turn
  int pdus = 1;              // of each rack; a node has a feed on each
  double breaker_watts = 0;  // 0: without a limit worth the name
  double pdu_watts = 0;
  double rack_watts = 0;
  double room_watts = 0;
  double idle = 2000;
  double loaded = 10000;
};

inline inventory::Inventory site_of(const SiteShape& shape) {
  using Kind = inventory::PowerNode::Kind;
  constexpr double kAmple = 1e9;
  const auto watts = [](double given) { return given > 0 ? given : kAmple; };
  inventory::Inventory site;
  auto& profile = site.profiles["gpu"];
  profile.name = "gpu";
  profile.draw = {shape.idle, shape.loaded};
  site.power.push_back({Kind::room, "hall", watts(shape.room_watts)});
  for (int r = 1; r <= shape.racks; ++r) {
    const auto rack = fmt::format("a{:02}", r);
    site.racks.push_back({rack, "hall"});
    site.power.push_back({Kind::rack, rack, watts(shape.rack_watts), "hall"});
    for (int p = 1; p <= shape.pdus; ++p) {
      const auto pdu = fmt::format("{}/p{}", rack, p);
      site.power.push_back({Kind::pdu, pdu, watts(shape.pdu_watts), rack});
      for (int b = 1; b <= shape.breakers; ++b)
        site.power.push_back(
            {Kind::breaker, fmt::format("{}/b{}", pdu, b), watts(shape.breaker_watts), pdu});
    }
    for (int n = 1; n <= shape.nodes; ++n) {
      inventory::Node node;
      node.name = fmt::format("{}-n{:02}", rack, n);
      node.profile = "gpu";
      node.rack = rack;
      for (int p = 1; p <= shape.pdus; ++p)
        node.feeds.push_back(fmt::format("{}/p{}/b{}", rack, p, (n - 1) % shape.breakers + 1));
      site.nodes.push_back(std::move(node));
    }
  }
  return site;
}

inline playbooks::PlannedStep step_of(std::string name, double load,
                                      std::chrono::seconds expected = std::chrono::minutes{10}) {
  playbooks::PlannedStep step;
  step.kind = playbooks::StepKind::stage;
  step.name = std::move(name);
  step.load = load;
  step.expected = expected;
  step.deadline = 4 * expected;
  return step;
}

}  // namespace cupel::test
