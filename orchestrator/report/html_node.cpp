#include "orchestrator/report/html_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "burnin/verdict_text.h"
#include "orchestrator/report/advice.h"
#include "orchestrator/report/fold_equal.h"
#include "orchestrator/report/html_heat.h"
#include "orchestrator/report/html_parts.h"
#include "orchestrator/report/html_text.h"
#include "orchestrator/report/part_telemetry.h"

namespace cupel::report {
namespace {

using burnin::Decision;

constexpr std::size_t kMostConsequences = 4;  // of one cause, in rows of their own

std::string word(Decision decision) { return std::string{to_string(decision)}; }

std::string cause_row(const burnin::Cause& cause, std::string_view kind, std::string_view action) {
  return fmt::format("<tr{}><td>{}<td class={}>{}<td>{}<td>{}<td>{}<td>{}<td><code>{}</code></tr>",
                     kind, broken_at_commas(cause.part), word(cause.decision),
                     escaped(cause.criterion), escaped(measured_text(cause)),
                     escaped(expectation_text(cause)), escaped(stages_text(cause.stages)),
                     escaped(action), escaped(cause.evidence.substr(0, 12)));
}

/// What follows from a cause, in one row: more than a few rows would hide the next cause.
std::string consequences_row(const std::vector<burnin::Cause>& consequences,
                             std::string_view explained_by) {
  std::string names;
  for (const auto& each : consequences)
    names += fmt::format("{}{}{}{}", names.empty() ? "" : ", ", each.criterion,
                         each.part.empty() ? "" : " of ", each.part);
  return fmt::format("<tr class=dim><td><td colspan=6>{} more findings follow from {}: {}</tr>",
                     consequences.size(), escaped(explained_by), broken_at_commas(names));
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
    const auto reported = fold_equal(consequences);
    if (reported.size() > kMostConsequences) {
      text += consequences_row(reported, reported.front().consequence_of);
      continue;
    }
    for (const auto& each : reported)
      text += cause_row(each, " class=dim", "follows from " + each.consequence_of);
  }
  return text.append(kTableEnd);
}

/// SHA-256 of a step's raw output; empty where it left none.
std::string evidence_of(const NodeSummary& node, const std::string& step) {
  const auto found = node.record.evidence.find(step);
  return found == node.record.evidence.end() ? std::string{} : escaped(found->second);
}

/// What several stages found alike: logs that gained nothing while each of them ran.
struct StagesRow {
  std::vector<std::string> stages{};
  CheckedRow row{};
};

std::vector<StagesRow> over_stages(std::span<const burnin::Checked> checked) {
  std::vector<StagesRow> rows;
  std::map<std::string, std::size_t> where;
  for (auto& each : fold_equal(checked)) {
    const auto key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", each.parts, each.measure, each.measured,
                                 each.expected, each.met, each.source);
    const auto [found, fresh] = where.try_emplace(key, rows.size());
    if (fresh) rows.push_back({{}, each});
    rows[found->second].stages.push_back(std::move(each.stage));
  }
  return rows;
}

/// "kernel-log@cpu, memory, gemm": what stands before an '@' is reported once.
std::string stages_of(const std::vector<std::string>& stages) {
  std::string text, before;
  for (const auto& stage : stages) {
    const auto at = stage.find('@') + 1;
    const auto head = at == 0 ? std::string{} : stage.substr(0, at);
    const bool same = !text.empty() && !head.empty() && head == before;
    if (!text.empty()) text += ", ";
    text += same ? stage.substr(at) : stage;
    before = head;
  }
  return text;
}

std::string numbers(const NodeSummary& node, const SourceList& sources) {
  if (!node.record.verdict || node.record.verdict->checked.empty()) return {};
  auto text = table_begin({{"Stage", 18},
                           {"Part", 16},
                           {"Measure", 19},
                           {"Measured", 15},
                           {"Expected", 16},
                           {"Source of the number", 16}});
  const auto heard = without_silent(node.record.verdict->checked);
  for (const auto& each : heard.silent)
    text += fmt::format(
        "<tr><td>{}<td>{}<td>{} measures: {}<td class=fail>nothing<td>{} numbers<td></tr>",
        escaped(stages_of(each.stages)), broken_at_commas(each.parts), each.measures.size(),
        escaped(stages_text(each.measures)), each.criteria);
  for (const auto& [stages, each] : over_stages(heard.others))
    text +=
        fmt::format("<tr><td>{}<td>{}<td>{}<td class={}>{}<td>{}<td>{}", escaped(stages_of(stages)),
                    broken_at_commas(each.parts), escaped(each.measure), each.met ? "pass" : "fail",
                    escaped(each.measured), escaped(each.expected), sources.number_of(each.source));
  return folded(node.record.node + ".numbers", "The numbers against their criteria",
                text.append(kTableEnd));
}

/// Of readings that are no step of their own: logs after each stage.
std::string other_evidence(const NodeSummary& node) {
  // Logs that gained nothing are the same bytes.
  std::map<std::string, std::vector<std::string>> readings;
  for (const auto& [name, hash] : node.record.evidence) {
    const auto is_step = [&](const record::StepRecord& step) { return step.name == name; };
    if (!std::ranges::any_of(node.record.steps, is_step)) readings[hash].push_back(name);
  }
  std::string text;
  for (const auto& [hash, names] : readings)
    text += fmt::format("{}{} <code>{}</code>", text.empty() ? "" : "; ", escaped(stages_of(names)),
                        escaped(hash));
  return text.empty() ? text : "<p class=dim>Also read: " + text + "</p>";
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
    text += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td><code>{}</code>", escaped(step.name),
                        escaped(step.outcome.empty() ? "not finished" : step.outcome),
                        over ? span_text(step.ended - step.began) : "", step.attempts,
                        escaped(step.detail), evidence_of(node, step.name));
  }
  return folded(node.record.node + ".steps", "Steps",
                text.append(kTableEnd) + other_evidence(node));
}

std::string console(const NodeSummary& node) {
  if (node.console.empty()) return {};
  std::string text = "<p class=dim>Serial console:";
  for (const auto& each : node.console)
    text +=
        fmt::format(" <a href=\"file://{0}\">{0}</a> ({1} bytes)", escaped(each.file), each.bytes);
  return text + "</p>";
}

}  // namespace

SourceList::SourceList(const RunSummary& summary) {
  for (const auto& node : summary.nodes) {
    if (!node.record.verdict) continue;
    for (const auto& each : node.record.verdict->checked) {
      if (each.source.empty()) continue;
      if (numbers_.try_emplace(each.source, sources_.size() + 1).second)
        sources_.push_back(each.source);
    }
  }
}

std::string SourceList::number_of(const std::string& source) const {
  const auto found = numbers_.find(source);
  return found == numbers_.end() ? std::string{} : std::to_string(found->second);
}

std::string SourceList::html() const {
  if (sources_.empty()) return {};
  auto text = "<section id=sources><h2>Sources of the numbers</h2>" +
              table_begin({{"Number", 8}, {"Where the limit comes from", 92}});
  for (std::size_t i = 0; i < sources_.size(); ++i)
    text += fmt::format("<tr><td>{}<td>{}</tr>", i + 1, escaped(sources_[i]));
  return text.append(kTableEnd) + "</section>";
}

std::string node_section(const NodeSummary& node, const SourceList& sources) {
  const auto& name = node.record.node;
  auto text = fmt::format(
      "<section class=node id=\"{0}\"><h2>{0} <span class={1}>{1}</span></h2><p class=dim>{2}",
      escaped(name), word(node.decision), escaped(node.profile));
  if (!node.position.rack.empty())
    text +=
        fmt::format(" &middot; rack {}, unit {}", escaped(node.position.rack), node.position.unit);
  if (!node.record.hand_off.empty())
    text += fmt::format(" &middot; hand-off: {} {}", escaped(node.record.hand_off),
                        escaped(node.record.hand_off_detail));
  return text + "</p>" + causes(node) + telemetry_html(node) + numbers(node, sources) +
         pairs_html(node.record) + steps(node) + parts_html(node.record) + console(node) +
         "</section>";
}

}  // namespace cupel::report
