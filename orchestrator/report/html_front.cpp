#include "orchestrator/report/html_front.h"

#include <fmt/format.h>

#include "inventory/node_range.h"
#include "orchestrator/report/html_text.h"
#include "orchestrator/report/rehearsal.h"
#include "orchestrator/report/serials.h"
#include "orchestrator/report/untested.h"

namespace cupel::report {
namespace {

using burnin::Decision;

constexpr std::string_view kNotRecorded = "not recorded";

std::string watermark(const RunSummary& summary) {
  if (!summary.rehearsal) return {};
  return fmt::format("<div class=watermark data-text=REHEARSAL></div><p class=rehearsal>{}</p>",
                     kRehearsal);
}

std::string header(const RunSummary& summary) {
  const auto& run = summary.run;
  auto text = fmt::format("<h1>{}Run {}: {}</h1><p class=dim>{} &middot; began {}",
                          summary.rehearsal ? "REHEARSAL: " : "", run.id, escaped(run.playbook),
                          escaped(summary.site), utc(run.began));
  if (run.ended != engine::WallTime{})
    text += fmt::format(" &middot; ended {} after {}", utc(run.ended), span_text(summary.took));
  text += fmt::format(" &middot; {}</p>", to_string(run.phase));
  if (!summary.provenance.clock_sets.empty())
    text += fmt::format(
        "<p class=inconclusive>The clock of the admin node was set during the run, or the machine "
        "slept: {}. Times of day are those of the clock; durations are not affected.</p>",
        escaped(clock_text(summary.provenance)));
  return text;
}

std::string tally(const RunSummary& summary) {
  std::string text = "<div class=tally>";
  for (const auto decision : {Decision::pass, Decision::fail, Decision::inconclusive})
    text += fmt::format("<div><b class={0}>{1}</b>{0}</div>", to_string(decision),
                        summary.count(decision));
  return text + "</div>";
}

std::string or_not_recorded(const std::string& text) {
  return escaped(text.empty() ? std::string{kNotRecorded} : text);
}

std::string row(std::string_view what, const std::string& value) {
  return fmt::format("<tr><th>{}<td>{}</tr>", what, value);
}

std::string rows(std::string_view what, const Pairs& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs)
    text += row(fmt::format("{} {}", what, escaped(name)),
                fmt::format("<code>{}</code>", or_not_recorded(value)));
  return text;
}

std::string hash_row(std::string_view what, const std::string& hash) {
  return row(what, fmt::format("<code>{}</code>", or_not_recorded(hash)));
}

std::string versions(const Provenance& made) {
  std::string text;
  const auto known = [&](std::string_view name) {
    for (const auto& [each, value] : made.versions)
      if (each == name) return value;
    return std::string{};
  };
  text += row("Cupel", or_not_recorded(known("cupel")));
  for (const auto* name : {"cupel-node", "cupel-burn"})
    text += hash_row(fmt::format("SHA-256 of {}", name), known(name));
  return text;
}

std::string facts(const RunSummary& summary) {
  const auto& made = summary.provenance;
  const auto& run = summary.run;
  auto text = std::string{
      "<section id=run><h2>What was run</h2><table class=facts><colgroup><col "
      "style=\"width:26%\"></colgroup>"};
  text += row("Site", escaped(summary.site));
  text += row("Begun by",
              fmt::format("{} on {}", or_not_recorded(made.begun_by), or_not_recorded(made.host)));
  text += row("Began", utc(run.began));
  text += row("Ended", run.ended == engine::WallTime{} ? "not ended" : utc(run.ended));
  text += row("Playbook", escaped(run.playbook));
  text += rows("Parameter", made.parameters);
  text += hash_row("SHA-256 of the playbook", made.playbook_sha256);
  text += hash_row("SHA-256 of the inventory and its profiles",
                   made.inventory_sha256.empty() ? run.inventory_digest : made.inventory_sha256);
  text += rows("SHA-256 of profile", made.profiles);
  text += versions(made);
  text +=
      row("Journal", fmt::format("{} events; hash of the last, in which all are: <code>{}</code>",
                                 made.events, escaped(made.head)));
  return text + "</table></section>";
}

std::string node_row(const NodeSummary& node) {
  const auto& record = node.record;
  const auto model = record.facts.find("system.model");
  const auto gpus = parts_with_serial(record, inventory::PartKind::gpu).size();
  const auto unit = node.position.unit > 0 ? std::to_string(node.position.unit) : std::string{};
  const auto serial = chassis_serial(record);
  return fmt::format(
      "<tr><td><a href=\"#{0}\">{0}</a><td>{1}<td>{2}<td>{3}<td>{4}<td>{5}<td class={6}>{6}</tr>",
      escaped(record.node), escaped(node.position.rack), unit,
      escaped(model == record.facts.end() ? "" : model->second),
      serial.empty() ? std::string{"not reported"} : escaped(serial), gpus,
      to_string(node.decision));
}

std::string nodes(const RunSummary& summary) {
  std::string text =
      "<section id=nodes><h2>Nodes</h2>" + table_begin({{"Node", 20},
                                                        {"Rack", 10},
                                                        {"Unit", 6},
                                                        {"Model", 18},
                                                        {"Serial number of the chassis", 20},
                                                        {"GPUs with a serial number", 14},
                                                        {"Verdict", 12}});
  for (const auto& node : summary.nodes) text += node_row(node);
  return text.append(kTableEnd) + "</section>";
}

std::string people(const RunSummary& summary) {
  const auto& deeds = summary.provenance.deeds;
  std::string text = "<section id=decisions><h2>Decisions</h2>";
  if (deeds.empty())
    return text + "<p>No person skipped, approved, retried or released anything.</p></section>";
  text += table_begin(
      {{"When", 16}, {"Who", 10}, {"What", 14}, {"Node", 14}, {"Step", 16}, {"Reason", 30}});
  for (const auto& deed : deeds)
    text +=
        fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>", utc(deed.at), escaped(deed.by),
                    escaped(deed.what), escaped(deed.node), escaped(deed.step),
                    deed.why.empty() ? std::string{"none given"} : escaped(deed.why));
  return text.append(kTableEnd) + "</section>";
}

std::string untested(const RunSummary& summary) {
  auto text = "<section id=untested><h2>What was not tested</h2>" +
              table_begin({{"What", 34}, {"Why", 40}, {"Nodes", 26}});
  std::string never;
  for (const auto& each : untested_of(summary)) {
    if (each.nodes.empty()) {
      never += fmt::format("{}{}", never.empty() ? "" : ", ", escaped(each.what));
      continue;
    }
    text += fmt::format("<tr><td>{}<td>{}<td>{}</tr>", escaped(each.what), escaped(each.why),
                        broken_at_commas(inventory::fold(each.nodes)));
  }
  if (!never.empty()) text += fmt::format("<tr><td>{}<td>{}<td>all</tr>", never, kNotInPlaybook);
  return text.append(kTableEnd) + "</section>";
}

std::string sign_off(const RunSummary& summary) {
  if (summary.rehearsal)
    return "<section id=acceptance><h2>Acceptance</h2><p class=rehearsal>A rehearsal is not "
           "signed.</p></section>";
  auto text = "<section id=acceptance><h2>Acceptance</h2><div class=sign>" +
              table_begin({{"", 18}, {"Name", 28}, {"Date", 18}, {"Signature", 36}});
  for (const auto* who : {"For the supplier", "For the customer"})
    text += fmt::format("<tr><th>{}<td><td><td></tr>", who);
  return text.append(kTableEnd) + "</div></section>";
}

}  // namespace

std::string front_html(const RunSummary& summary) {
  return watermark(summary) + header(summary) + tally(summary);
}

std::string nodes_html(const RunSummary& summary) { return nodes(summary); }

std::string terms_html(const RunSummary& summary) {
  return untested(summary) + facts(summary) + people(summary) + sign_off(summary);
}

}  // namespace cupel::report
