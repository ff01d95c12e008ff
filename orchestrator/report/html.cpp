#include "orchestrator/report/html.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/verdict_text.h"
#include "orchestrator/report/advice.h"
#include "orchestrator/report/fold_equal.h"
#include "orchestrator/report/html_front.h"
#include "orchestrator/report/html_rack.h"
#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

using burnin::Decision;

std::string word(Decision decision) { return std::string{to_string(decision)}; }

std::string cause_row(const burnin::Cause& cause, std::string_view kind, std::string_view action) {
  return fmt::format("<tr{}><td>{}<td class={}>{}<td>{}<td>{}<td>{}<td>{}<td><code>{}</code></tr>",
                     kind, broken_at_commas(cause.part), word(cause.decision),
                     escaped(cause.criterion), escaped(measured_text(cause)),
                     escaped(wanted_text(cause)), escaped(stages_text(cause.stages)),
                     escaped(action), escaped(cause.evidence.substr(0, 12)));
}

/// Each with what it explains below it: nothing is left out.
std::string causes(const NodeSummary& node) {
  if (node.causes.empty()) return {};
  auto text = table_begin({{"Part", 12},
                           {"Criterion", 16},
                           {"Measured", 16},
                           {"Expected", 13},
                           {"Seen in", 12},
                           {"What to do", 21},
                           {"Evidence", 10}});
  for (const auto& [cause, consequences] : fold_equal(burnin::explained(node.causes))) {
    text += cause_row(cause, "", action_for(cause.remedy, 0, node.record.node));
    for (const auto& each : fold_equal(consequences))
      text += cause_row(each, " class=dim", "follows from " + each.consequence_of);
  }
  return text.append(kTableEnd);
}

std::string failures(const RunSummary& summary) {
  std::string text;
  for (const auto& group : failures_of(summary)) {
    if (group.nodes.size() < 2) continue;
    text += fmt::format("<li>{}<ul>", escaped(to_text(group)));
    for (const auto& cluster : group.clusters)
      text += fmt::format("<li><b>{}</b> <span class=dim>(by accident: {:.1g})</span>",
                          escaped(to_text(group, cluster)), cluster.chance);
    text += "</ul>";
  }
  return text.empty() ? text : "<h2>Failures alike</h2><ul>" + text + "</ul>";
}

/// SHA-256 of a step's raw output; empty where it left none.
std::string evidence_of(const NodeSummary& node, const std::string& step) {
  const auto found = node.record.evidence.find(step);
  return found == node.record.evidence.end() ? std::string{} : escaped(found->second);
}

std::string checked(const NodeSummary& node) {
  if (!node.record.verdict || node.record.verdict->checked.empty()) return {};
  auto text = table_begin({{"Stage", 9},
                           {"Part", 15},
                           {"Measure", 16},
                           {"Measured", 11},
                           {"Expected", 13},
                           {"Source of the number", 26},
                           {"Evidence", 10}});
  for (const auto& each : fold_equal(node.record.verdict->checked))
    text += fmt::format(
        "<tr><td>{}<td>{}<td>{}<td class={}>{}<td>{}<td class=dim>{}"
        "<td><code>{}</code></tr>",
        escaped(each.stage), broken_at_commas(each.parts), escaped(each.measure),
        each.met ? "pass" : "fail", escaped(each.measured), escaped(each.wanted),
        escaped(each.source), evidence_of(node, each.stage).substr(0, 12));
  return folded(node.record.node + ".numbers", "The numbers against their criteria",
                text.append(kTableEnd));
}

std::string steps(const NodeSummary& node) {
  auto text = table_begin({{"Step", 15},
                           {"Outcome", 9},
                           {"Took", 9},
                           {"Tries", 6},
                           {"Detail", 33},
                           {"Evidence (SHA-256 of its raw output, in the folder evidence of the "
                            "state)",
                            28}});
  for (const auto& step : node.record.steps) {
    const bool over = step.ended != engine::WallTime{};
    text += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td><code>{}</code></tr>",
                        escaped(step.name),
                        escaped(step.outcome.empty() ? "not finished" : step.outcome),
                        over ? span_text(step.ended - step.began) : "", step.attempts,
                        escaped(step.detail), evidence_of(node, step.name));
  }
  return folded(node.record.node + ".steps", "Steps", text.append(kTableEnd));
}

std::string part_rows(const std::vector<inventory::Part>& parts, std::string_view seen_by) {
  std::string text;
  for (const auto& part : parts) {
    const auto size = part.size_bytes ? plain(*part.size_bytes / (1024.0 * 1024 * 1024), 1) + " GiB"
                                      : std::string{};
    text += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td><code>{}</code><td>{}<td>{}</tr>",
                        to_string(part.kind), escaped(part.name), escaped(part.model), size,
                        escaped(part.firmware), escaped(part.serial), escaped(part.slot), seen_by);
  }
  return text;
}

std::string parts(const NodeSummary& node) {
  std::string rows = part_rows(node.record.bmc_parts, "BMC");
  for (const auto& [stage, findings] : node.record.findings)
    rows += part_rows(findings.parts, escaped(stage));
  if (rows.empty()) return {};
  auto text = table_begin({{"Kind", 9},
                           {"Name", 14},
                           {"Model", 18},
                           {"Size", 8},
                           {"Firmware", 13},
                           {"Serial", 16},
                           {"Slot", 12},
                           {"Seen by", 10}});
  return folded(node.record.node + ".parts", "Parts and serial numbers",
                (text + rows).append(kTableEnd));
}

std::string console(const NodeSummary& node) {
  if (node.console.empty()) return {};
  std::string text = "<p class=dim>Serial console:";
  for (const auto& each : node.console)
    text +=
        fmt::format(" <a href=\"file://{0}\">{0}</a> ({1} bytes)", escaped(each.file), each.bytes);
  return text + "</p>";
}

std::string node_section(const NodeSummary& node) {
  const auto& name = node.record.node;
  auto text =
      fmt::format("<section id=\"{0}\"><h2>{0} <span class={1}>{1}</span></h2><p class=dim>{2}",
                  escaped(name), word(node.decision), escaped(node.profile));
  if (!node.position.rack.empty())
    text +=
        fmt::format(" &middot; rack {}, unit {}", escaped(node.position.rack), node.position.unit);
  if (!node.record.hand_off.empty())
    text += fmt::format(" &middot; Slurm: {} {}", escaped(node.record.hand_off),
                        escaped(node.record.hand_off_detail));
  return text + "</p>" + causes(node) + checked(node) + steps(node) + parts(node) + console(node) +
         "</section>";
}

}  // namespace

std::string to_html(const RunSummary& summary) {
  std::string text =
      "<!doctype html><html lang=en><meta charset=utf-8>"
      "<meta name=viewport content=\"width=device-width\">"
      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
      "style-src 'unsafe-inline'\">";
  text += fmt::format("<title>{}Cupel run {}</title><style>{}</style><main>",
                      summary.rehearsal ? "REHEARSAL: " : "", summary.run.id, kStyle);
  text += front_html(summary) + failures(summary) + racks_html(summary) + terms_html(summary);
  for (const auto decision : {Decision::fail, Decision::inconclusive, Decision::pass})
    for (const auto& node : summary.nodes)
      if (node.decision == decision) text += node_section(node);
  return text + "</main></html>\n";
}

}  // namespace cupel::report
