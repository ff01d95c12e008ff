#include "orchestrator/report/html.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "base/digest.h"
#include "base/text.h"
#include "orchestrator/report/html_distributions.h"
#include "orchestrator/report/html_front.h"
#include "orchestrator/report/html_links.h"
#include "orchestrator/report/html_node.h"
#include "orchestrator/report/html_power.h"
#include "orchestrator/report/html_rack.h"
#include "orchestrator/report/html_text.h"
#include "orchestrator/report/html_timeline.h"
#include "orchestrator/report/slow.h"

namespace cupel::report {
namespace {

using burnin::Decision;

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
  if (text.empty()) return text;
  return "<section id=failures><h2>Failures alike</h2><ul>" + text + "</ul></section>";
}

/// Chapters that are there, then the nodes, those that did not pass first.
std::string contents(std::string_view page, const RunSummary& summary) {
  constexpr auto kChapters = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"nodes", "Nodes"},
      {"failures", "Failures alike"},
      {"slow", "Slow"},
      {"racks", "Racks"},
      {"time-line", "Time line"},
      {"power", "Power"},
      {"distributions", "Distributions"},
      {"links", "Links"},
      {"untested", "What was not tested"},
      {"run", "What was run"},
      {"decisions", "Decisions"},
      {"acceptance", "Acceptance"},
      {"sources", "Sources of the numbers"},
  });
  std::string text =
      "<nav class=contents aria-label=Contents><label>Search <input id=search type=search "
      "placeholder=\"node, serial number, measure\"></label><output id=found></output><ul>";
  for (const auto& [id, title] : kChapters)
    if (page.contains(fmt::format("<section id={}>", id)))
      text += fmt::format("<li><a href=\"#{}\">{}</a>", id, title);
  for (const auto decision : {Decision::fail, Decision::inconclusive, Decision::pass}) {
    std::string names;
    for (const auto& node : summary.nodes)
      if (node.decision == decision)
        names += fmt::format(" <a href=\"#{0}\">{0}</a>", escaped(node.record.node));
    if (!names.empty())
      text += fmt::format("<li class=names><b class={0}>{0}</b>{1}", to_string(decision), names);
  }
  return text + "</ul></nav>";
}

/// The page's only script may run, and no other one: its hash stands in the policy.
std::string script_source() {
  const auto hex = sha256_hex(kScript);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return base64(bytes);
}

}  // namespace

std::string to_html(const RunSummary& summary) {
  const SourceList sources{summary};
  std::string text = fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8>"
      "<meta name=viewport content=\"width=device-width\">"
      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'sha256-{}'\">",
      script_source());
  text += fmt::format("<title>{}Cupel run {}</title><style>{}</style><main>",
                      summary.rehearsal ? "REHEARSAL: " : "", summary.run.id, kStyle);
  const auto chapters = nodes_html(summary) + failures(summary) + slow_html(summary) +
                        racks_html(summary) + time_line_html(summary) + power_html(summary) +
                        distributions_html(summary) + links_html(summary) + terms_html(summary) +
                        sources.html();
  text += front_html(summary) + contents(chapters, summary) + chapters;
  for (const auto decision : {Decision::fail, Decision::inconclusive, Decision::pass})
    for (const auto& node : summary.nodes)
      if (node.decision == decision) text += node_section(node, sources);
  return text + fmt::format("</main><script>{}</script></html>\n", kScript);
}

}  // namespace cupel::report
