#include "burnin/fabric/cable_swap.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "base/text.h"
#include "burnin/fabric/named_link.h"

namespace cupel::burnin::fabric {
namespace {

using inventory::CableEnd;
using Parts = std::set<LinkPart>;

std::string end_text(const CableEnd& end) {
  return to_string(PortId{end.device, end.hca, end.port});
}

Result<std::size_t> cable_at(const inventory::Fabric& plan, const CableEnd& end) {
  for (std::size_t i = 0; i < plan.cables.size(); ++i)
    if (plan.cables[i].from == end || plan.cables[i].to == end) return i;
  return Error{Code::kInvalid, fmt::format("the cable plan has no cable in {}", end_text(end))};
}

Recabled as_planned(const inventory::Fabric& plan) {
  Recabled made{.fabric = plan, .was = std::vector<std::size_t>(plan.cables.size())};
  std::iota(made.was.begin(), made.was.end(), std::size_t{0});
  return made;
}

Parts parts_of(const inventory::Fabric& plan, const Recabled& now, const SlowLinks& links) {
  Parts parts;
  for (const auto& end : links)
    for (auto& part : parts_of_link(plan, now, end)) parts.insert(std::move(part));
  return parts;
}

std::vector<LinkPart> common(const Parts& one, const Parts& other) {
  std::vector<LinkPart> both;
  std::ranges::set_intersection(one, other, std::back_inserter(both));
  return both;
}

/// What an exchange says of links of which one was slow; nothing where it concerns none of them.
std::optional<SwapAnswer> answer_of(const Parts& before, const Parts& moved,
                                    std::span<const Parts> after) {
  using enum SwapAnswer::Outcome;
  if (common(before, moved).empty()) return std::nullopt;
  SwapAnswer answer{.outcome = gone};
  Parts left;
  int links = 0;
  for (const auto& each : after) {
    const auto shared = common(before, each);
    if (shared.empty()) continue;
    ++links;
    left.insert(shared.begin(), shared.end());
  }
  if (links > 0) answer.outcome = links == 1 ? named : both;
  answer.parts = {left.begin(), left.end()};
  std::ranges::set_difference(before, left, std::back_inserter(answer.cleared));
  return answer;
}

std::string parts_text(const std::vector<LinkPart>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += fmt::format("{}{}",
                        i == 0                  ? ""
                        : i + 1 == parts.size() ? " or "
                                                : ", ",
                        to_string(parts[i]));
  return text;
}

}  // namespace

Result<Exchange> exchange_of(std::string_view text, const inventory::Fabric& plan) {
  const auto names = split(text, ',');
  if (names.size() != 2)
    return Error{Code::kInvalid,
                 fmt::format("'{}' is not two ports separated by a comma: leaf1-r3/7,leaf1-r3/8",
                             shortened(printable(text), 80))};
  Exchange exchange;
  TRY(exchange.one, planned_end(trimmed(names[0]), plan));
  TRY(exchange.other, planned_end(trimmed(names[1]), plan));
  return exchange;
}

Result<Recabled> exchanged(const inventory::Fabric& plan, const Exchange& exchange) {
  TRY(const auto one, cable_at(plan, exchange.one));
  TRY(const auto other, cable_at(plan, exchange.other));
  const bool lower = plan.cables[one].from == exchange.one;
  const bool same_kind = plan.cables[one].is_access() == plan.cables[other].is_access();
  if (one == other || !same_kind || lower != (plan.cables[other].from == exchange.other))
    return Error{Code::kInvalid,
                 fmt::format("the plugs of {} and {} cannot be exchanged: name two HCAs, two ports "
                             "of leaves for HCAs, two ports of leaves for uplinks, or two ports of "
                             "spines, of two cables",
                             end_text(exchange.one), end_text(exchange.other))};
  auto made = as_planned(plan);
  auto& cables = made.fabric.cables;
  if (!lower) {
    std::swap(cables[one].to, cables[other].to);
    return made;
  }
  std::swap(cables[one].from, cables[other].from);
  std::swap(cables[one], cables[other]);
  std::swap(made.was[one], made.was[other]);
  return made;
}

bool is_of_a_node(const inventory::Fabric& plan, const Exchange& exchange) {
  const auto cable = cable_at(plan, exchange.one);
  return cable && plan.cables[*cable].is_access();
}

std::string to_string(const LinkPart& part) {
  if (part.kind == LinkPart::Kind::cable)
    return "the cable that the plan has in " + end_text(part.at);
  return part.at.at_switch() ? fmt::format("port {} of {}", part.at.port, part.at.device)
                             : fmt::format("HCA {} of {}", part.at.hca, part.at.device);
}

std::vector<LinkPart> parts_of_link(const inventory::Fabric& plan, const Recabled& now,
                                    const inventory::CableEnd& end) {
  const auto at = cable_at(now.fabric, end);
  if (!at) return {};
  const auto& cable = now.fabric.cables[*at];
  return {{LinkPart::Kind::port, cable.from},
          {LinkPart::Kind::cable, plan.cables[now.was[*at]].from},
          {LinkPart::Kind::port, cable.to}};
}

std::vector<LinkPart> parts_of_links(const inventory::Fabric& plan, const SlowLinks& links) {
  Parts parts;
  for (const auto& end : links)
    if (const auto at = cable_at(plan, end)) {
      const auto& cable = plan.cables[*at];
      parts.insert({LinkPart::Kind::port, cable.from});
      parts.insert({LinkPart::Kind::cable, cable.from});
      parts.insert({LinkPart::Kind::port, cable.to});
    }
  return {parts.begin(), parts.end()};
}

std::string to_string(const SwapAnswer& answer) {
  std::string links;
  for (const auto& end : answer.was) links += (links.empty() ? "" : " | ") + end_text(end);
  switch (answer.outcome) {
    case SwapAnswer::Outcome::named:
      return fmt::format(
          "link of {}: still slow with {}; {}", links, parts_text(answer.parts),
          answer.cleared.empty() ? "nothing is cleared" : "cleared: " + parts_text(answer.cleared));
    case SwapAnswer::Outcome::gone:
      return fmt::format(
          "link of {}: no part of it is slow any more: it was a contact, or it comes and goes; "
          "watch it",
          links);
    case SwapAnswer::Outcome::both:
      return fmt::format(
          "link of {}: slow on more than one link now: more than one part is at fault, among {}",
          links, parts_text(answer.parts));
    case SwapAnswer::Outcome::open:
      return fmt::format("link of {}: {}", links, parts_text(answer.parts));
    case SwapAnswer::Outcome::contradicted:
      return fmt::format(
          "link of {}: what the exchanges leave has no part in common: it comes and goes, or more "
          "than one part is at fault",
          links);
  }
  return links;
}

Result<std::vector<SwapAnswer>> read_exchange(const inventory::Fabric& plan,
                                              const Exchange& exchange,
                                              std::span<const SlowLinks> before,
                                              std::span<const SlowLinks> after) {
  TRY(const auto now, exchanged(plan, exchange));
  const auto then = as_planned(plan);
  const auto moved = parts_of(plan, then, {exchange.one, exchange.other});
  std::vector<Parts> slow_now;
  for (const auto& links : after) slow_now.push_back(parts_of(plan, now, links));
  std::vector<SwapAnswer> answers;
  for (const auto& links : before) {
    auto answer = answer_of(parts_of(plan, then, links), moved, slow_now);
    if (!answer) continue;
    answer->was = links;
    answers.push_back(*std::move(answer));
  }
  if (!answers.empty()) return answers;
  return Error{Code::kInvalid,
               fmt::format("no link that was slow has a part in the exchange of {} and {}",
                           end_text(exchange.one), end_text(exchange.other))};
}

}  // namespace cupel::burnin::fabric
