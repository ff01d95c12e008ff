#include "orchestrator/report/html.h"

#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/report/advice.h"
#include "orchestrator/report/alike.h"
#include "orchestrator/report/html_rack.h"

namespace cupel::report {
namespace {

using burnin::Decision;

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--ink:#1d2329;--dim:#5c6670;--line:#d5dae0;--paper:#fff;--soft:#f4f6f8;
--pass:#1a7f4b;--fail:#c0342b;--inconclusive:#9a6700;--slot:#e9edf1}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--dim:#9aa5af;--line:#39424b;--paper:#14181c;--soft:#1c2227;
--pass:#46b97b;--fail:#f2736a;--inconclusive:#d9a440;--slot:#252c33}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1100px;margin:0 auto;padding:28px 20px 60px}h1{font-size:26px;margin:0 0 4px}
h2{font-size:18px;margin:34px 0 10px}p{margin:4px 0}.dim{color:var(--dim)}
.tally{display:flex;gap:12px;margin:18px 0;flex-wrap:wrap}
.tally div{border:1px solid var(--line);border-radius:8px;padding:10px 18px;min-width:120px}
.tally b{display:block;font-size:28px;line-height:1.2}
.pass{color:var(--pass)}.fail{color:var(--fail)}.inconclusive{color:var(--inconclusive)}
.racks{display:flex;gap:28px;flex-wrap:wrap}.rack text{font:12px system-ui,sans-serif}
.rack .name{font-weight:600}.rack rect.frame{fill:none;stroke:var(--line);stroke-width:2}
.rack rect.free{fill:var(--slot)}.rack a rect{stroke:var(--paper);stroke-width:2}
.rack rect.pass{fill:var(--pass)}.rack rect.fail{fill:var(--fail)}.rack rect.inconclusive{fill:var(--inconclusive)}
.rack a text{fill:#fff}.rack .unit,.rack .name{fill:var(--dim)}
table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:5px 10px;
border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--dim);font-weight:600}
details{border:1px solid var(--line);border-radius:8px;margin:10px 0;background:var(--soft)}
summary{cursor:pointer;padding:10px 14px;font-weight:600}details>div{padding:0 14px 14px;overflow-x:auto}
code{font:13px ui-monospace,monospace;word-break:break-all}ul{margin:6px 0;padding-left:20px}
td code{white-space:nowrap}td code.hash{white-space:normal}td:first-child,td:nth-child(2){white-space:nowrap}
@media(prefers-color-scheme:dark){.rack a text{fill:#10151a}}
@media print{details{break-inside:avoid}}
)css";

std::string word(Decision decision) { return std::string{to_string(decision)}; }

std::string tally(const RunSummary& summary) {
  std::string text = "<div class=tally>";
  for (const auto decision : {Decision::pass, Decision::fail, Decision::inconclusive})
    text +=
        fmt::format("<div><b class={0}>{1}</b>{0}</div>", word(decision), summary.count(decision));
  return text + "</div>";
}

std::string header(const RunSummary& summary) {
  const auto& run = summary.run;
  auto text = fmt::format("<h1>Run {}: {}</h1><p class=dim>{} &middot; began {}", run.id,
                          escaped(run.playbook), escaped(summary.site), utc(run.began));
  if (run.ended != engine::WallTime{})
    text += fmt::format(" &middot; ended {} after {}", utc(run.ended),
                        span_text(run.ended - run.began));
  return text + fmt::format(" &middot; {}</p>", to_string(run.phase));
}

std::string cause_row(const burnin::Cause& cause, std::string_view kind, std::string_view action) {
  return fmt::format("<tr{}><td>{}<td class={}>{}<td>{}<td>{}<td>{}<td>{}<td><code>{}</code></tr>",
                     kind, escaped(cause.part), word(cause.decision), escaped(cause.criterion),
                     escaped(cause.measured), escaped(cause.wanted),
                     escaped(stages_text(cause.stages)), escaped(action),
                     escaped(cause.evidence.substr(0, 12)));
}

/// Each with what it explains below it: nothing is left out.
std::string causes(const NodeSummary& node) {
  if (node.causes.empty()) return {};
  std::string text =
      "<table><tr><th>Part<th>Criterion<th>Measured<th>Wanted<th>Seen in<th>What to do"
      "<th>Evidence</tr>";
  for (const auto& [cause, consequences] : alike(burnin::explained(node.causes))) {
    text += cause_row(cause, "", action_for(cause.remedy, 0, node.record.node));
    for (const auto& each : alike(consequences))
      text += cause_row(each, " class=dim", "follows from " + each.consequence_of);
  }
  return text + "</table>";
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
  std::string text =
      "<details><summary>The numbers against their criteria</summary><div><table>"
      "<tr><th>Stage<th>Part<th>Measure<th>Measured<th>Wanted<th>Source of the "
      "number<th>Evidence</tr>";
  for (const auto& each : alike(node.record.verdict->checked))
    text += fmt::format(
        "<tr><td>{}<td>{}<td>{}<td class={}>{}<td>{}<td class=dim>{}"
        "<td><code>{}</code></tr>",
        escaped(each.stage), escaped(each.part), escaped(each.measure), each.met ? "pass" : "fail",
        escaped(each.measured), escaped(each.wanted), escaped(each.source),
        evidence_of(node, each.stage).substr(0, 12));
  return text + "</table></div></details>";
}

std::string steps(const NodeSummary& node) {
  std::string text =
      "<details><summary>Steps</summary><div><table>"
      "<tr><th>Step<th>Outcome<th>Took<th>Tries<th>Detail<th>Evidence (SHA-256 of its raw output, "
      "in "
      "the folder evidence of the state)</tr>";
  for (const auto& step : node.record.steps) {
    const bool over = step.ended != engine::WallTime{};
    text += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td><code class=hash>{}</code></tr>",
                        escaped(step.name),
                        escaped(step.outcome.empty() ? "not finished" : step.outcome),
                        over ? span_text(step.ended - step.began) : "", step.attempts,
                        escaped(step.detail), evidence_of(node, step.name));
  }
  return text + "</table></div></details>";
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
  return "<details><summary>Parts and serial "
         "numbers</summary><div><table><tr><th>Kind<th>Name<th>Model"
         "<th>Size<th>Firmware<th>Serial<th>Slot<th>Seen by</tr>" +
         rows + "</table></div></details>";
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

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string to_html(const RunSummary& summary) {
  std::string text =
      "<!doctype html><html lang=en><meta charset=utf-8>"
      "<meta name=viewport content=\"width=device-width\">"
      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
      "style-src 'unsafe-inline'\">";
  text += fmt::format("<title>Cupel run {}</title><style>{}</style><main>", summary.run.id, kStyle);
  text += header(summary) + tally(summary) + failures(summary) + racks_html(summary);
  for (const auto decision : {Decision::fail, Decision::inconclusive, Decision::pass})
    for (const auto& node : summary.nodes)
      if (node.decision == decision) text += node_section(node);
  return text + "</main></html>\n";
}

}  // namespace cupel::report
