#include "orchestrator/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "burnin/verdict_text.h"
#include "inventory/node_range.h"
#include "orchestrator/report/advice.h"
#include "orchestrator/report/fold_equal.h"
#include "orchestrator/report/rehearsal.h"
#include "orchestrator/report/serials.h"
#include "orchestrator/report/slow.h"
#include "orchestrator/report/untested.h"

namespace cupel::report {
namespace {

using burnin::Decision;

std::string row(std::initializer_list<std::string> cells) {
  std::string text = "|";
  for (const auto& each : cells) text += " " + each + " |";
  return text + "\n";
}

std::string head(std::initializer_list<std::string> titles) {
  std::string under = "|";
  for (std::size_t i = 0; i < titles.size(); ++i) under += "---|";
  return row(titles) + under + "\n";
}

std::string causes_of(const NodeSummary& node) {
  std::string text;
  for (const auto& [cause, consequences] : fold_equal(burnin::explained(node.causes))) {
    const auto action = action_for(cause.remedy, 0, node.record.node);
    text += fmt::format("- **{}** {}", plain_text(cause.part.empty() ? "the node" : cause.part),
                        plain_text(cause.criterion));
    const auto measured = measured_text(cause), expected = expectation_text(cause);
    if (!measured.empty()) text += ": " + plain_text(measured);
    if (!expected.empty()) text += ", expected " + plain_text(expected);
    text += "\n";
    if (!action.empty()) text += fmt::format("  - to do: {}\n", plain_text(action));
    if (!consequences.empty())
      text += fmt::format("  - explains {}\n", plain_text(consequences_text(consequences)));
    if (!cause.evidence.empty()) text += fmt::format("  - evidence `{}`\n", cause.evidence);
  }
  return text;
}

std::string bad_nodes(const RunSummary& summary) {
  std::string text;
  for (const auto decision : {Decision::fail, Decision::inconclusive})
    for (const auto& node : summary.nodes) {
      if (node.decision != decision) continue;
      text += fmt::format("### {}: {}\n\n", plain_text(node.record.node), to_string(decision));
      if (!node.position.rack.empty())
        text += fmt::format("Rack {}, unit {}, chassis {}.\n\n", plain_text(node.position.rack),
                            node.position.unit, plain_text(chassis_serial(node.record)));
      text += causes_of(node) + "\n";
    }
  return text.empty() ? text : "## What did not pass\n\n" + text;
}

std::string slow_markdown(const RunSummary& summary) {
  constexpr std::size_t kMost = 200;
  const auto parts = slow_parts(summary);
  if (parts.empty()) return {};
  const auto shown = std::min(parts.size(), kMost);
  auto text = "## Slow, which fails nothing\n\n" + head({"node", "slow"});
  for (const auto& [node, each] : std::span{parts}.first(shown))
    text += row({plain_text(node->record.node), plain_text(slow_text(*each))});
  if (shown < parts.size()) text += fmt::format("\nand {} more.\n", parts.size() - shown);
  return text + "\n";
}

std::string node_table(const RunSummary& summary) {
  auto text = "## Nodes\n\n" + head({"node", "rack", "unit", "chassis", "verdict", "hand-off"});
  for (const auto& node : summary.nodes)
    text += row({plain_text(node.record.node), plain_text(node.position.rack),
                 node.position.unit > 0 ? std::to_string(node.position.unit) : std::string{},
                 plain_text(chassis_serial(node.record)), std::string{to_string(node.decision)},
                 plain_text(node.record.hand_off)});
  return text + "\n";
}

std::string not_tested(const RunSummary& summary) {
  auto text = "## What was not tested\n\n" + head({"what", "why", "nodes"});
  for (const auto& each : untested_of(summary))
    text +=
        row({plain_text(each.what), plain_text(each.why),
             each.nodes.empty() ? std::string{"all"} : plain_text(inventory::fold(each.nodes))});
  return text + "\n";
}

std::string decisions(const RunSummary& summary) {
  if (summary.provenance.deeds.empty()) return {};
  auto text = "## Decisions\n\n" + head({"when", "who", "what", "node", "step", "reason"});
  for (const auto& deed : summary.provenance.deeds)
    text += row({utc(deed.at), plain_text(deed.by), plain_text(deed.what), plain_text(deed.node),
                 plain_text(deed.step), plain_text(deed.why)});
  return text + "\n";
}

}  // namespace

std::string plain_text(std::string_view text) {
  const auto whole = printable(text);
  std::string safe;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const char c = whole[i];
    if (std::string_view{"\\`*_{}[]<>()#+!|~&@$"}.contains(c)) safe += '\\';
    safe += c;
    // What looks like an address would become a link.
    const auto rest = std::string_view{whole}.substr(i + 1);
    if ((c == ':' && rest.starts_with("//")) || (c == 'w' && rest.starts_with("ww.")))
      safe += "\u2060";
  }
  return safe;
}

std::string to_markdown(const RunSummary& summary) {
  const auto& run = summary.run;
  auto text = fmt::format("# Run {}: {}\n\n", run.id, plain_text(run.playbook));
  if (summary.rehearsal) text += fmt::format("**{}**\n\n", kRehearsal);
  text += fmt::format("{}, began {}", plain_text(summary.site), utc(run.began));
  if (run.ended != engine::WallTime{})
    text += fmt::format(", ended {} after {}", utc(run.ended), span_text(summary.took));
  text += fmt::format(", {}.\n\n", to_string(run.phase));
  text += head({"pass", "fail", "inconclusive"}) +
          row({std::to_string(summary.count(Decision::pass)),
               std::to_string(summary.count(Decision::fail)),
               std::to_string(summary.count(Decision::inconclusive))}) +
          "\n";
  std::string alike;
  for (const auto& group : failures_of(summary)) {
    if (group.nodes.size() < 2) continue;
    alike += fmt::format("- {}\n", plain_text(to_text(group)));
    for (const auto& cluster : group.clusters)
      alike += fmt::format("  - {}\n", plain_text(to_text(group, cluster)));
  }
  if (!alike.empty()) text += "## Failures alike\n\n" + alike + "\n";
  text += bad_nodes(summary) + slow_markdown(summary) + node_table(summary) + not_tested(summary) +
          decisions(summary);
  return text + fmt::format("Journal: {} events; the hash of the last, in which all are: `{}`\n",
                            summary.provenance.events, summary.provenance.head);
}

}  // namespace cupel::report
