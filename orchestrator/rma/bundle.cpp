#include "orchestrator/rma/bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "base/csv.h"
#include "base/digest.h"
#include "base/secret_forms.h"
#include "base/text.h"
#include "burnin/consequences.h"
#include "burnin/criteria/causes.h"
#include "burnin/stage.h"
#include "burnin/verdict_text.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/rehearsal.h"
#include "orchestrator/report/serials.h"
#include "orchestrator/report/verdict_json.h"

namespace cupel::rma {
namespace {

using burnin::Cause;
using report::NodeSummary;
using report::RunSummary;

constexpr std::size_t kMostBundle = 512u << 20;  // bytes of all raw outputs together
constexpr std::size_t kMostEarlier = 50;         // runs that the history tells of

const NodeSummary* node_in(const RunSummary& summary, const std::string& name) {
  const auto found = std::ranges::find(summary.nodes, name, [](const NodeSummary& each) {
    return std::string_view{each.record.node};
  });
  return found == summary.nodes.end() ? nullptr : &*found;
}

boost::json::array versions_json(const record::NodeRecord& record) {
  boost::json::array all;
  for (const auto& each : report::versions_of(record))
    all.push_back({{"name", each.name}, {"version", each.version}});
  return all;
}

std::vector<Cause> causes_about(const NodeSummary& node, const std::string& part) {
  std::vector<Cause> causes;
  for (const auto& each : node.causes) {
    const bool failed = each.decision == burnin::Decision::fail;
    if (failed && inventory::is_about(each.part, part)) causes.push_back(each);
  }
  return causes;
}

/// Each source's own words for the part: a BMC and the node may each have some of it.
std::vector<inventory::Part> parts_named(const record::NodeRecord& record,
                                         const std::string& part) {
  std::vector<inventory::Part> found;
  const auto take = [&](const std::vector<inventory::Part>& parts) {
    for (const auto& each : parts)
      if (each.name == part) found.push_back(each);
  };
  for (const auto& [stage, findings] : record.findings) take(findings.parts);
  take(record.bmc_parts);
  return found;
}

std::string fact_of(const record::NodeRecord& record, std::string_view name) {
  const auto found = record.facts.find(name);
  return found == record.facts.end() ? std::string{"not reported"} : printable(found->second);
}

std::string part_lines(const record::NodeRecord& record, const std::string& part) {
  std::string text;
  std::set<std::string> known;
  for (const auto& each : parts_named(record, part)) {
    const auto line =
        fmt::format("  {} {} {}: serial {}, part number {}, firmware {}, slot {}\n",
                    printable(each.name), printable(each.manufacturer), printable(each.model),
                    each.serial.empty() ? "not reported" : printable(each.serial),
                    each.part_number.empty() ? "-" : printable(each.part_number),
                    each.firmware.empty() ? "-" : printable(each.firmware),
                    each.slot.empty() ? "-" : printable(each.slot));
    if (known.insert(line).second) text += line;
  }
  return text.empty() ? "  no source reports it any more\n" : text;
}

std::string cause_text(const Cause& cause, const NodeSummary& node) {
  auto text = fmt::format("- {}\n", printable(burnin::to_string(cause)));
  if (!cause.stages.empty()) text += fmt::format("  seen in: {}\n", fmt::join(cause.stages, ", "));
  const auto diagnosis = burnin::causes().diagnose(cause, node.causes, node.record.findings);
  if (!diagnosis) return text;
  text += fmt::format("  likely: {}\n", printable(burnin::suspects_text(*diagnosis)));
  if (!diagnosis->xid_action.empty())
    text += fmt::format("  NVIDIA recommends: {}\n", printable(diagnosis->xid_action));
  return text;
}

/// What the vendor asks for, each once, in the order of the causes.
std::vector<std::string> needed_stages(const std::vector<Cause>& causes, const NodeSummary& node) {
  std::vector<std::string> needed;
  for (const auto& cause : causes)
    if (const auto diagnosis = burnin::causes().diagnose(cause, node.causes, node.record.findings))
      for (const auto& each : diagnosis->vendor)
        if (std::ranges::find(needed, each) == needed.end()) needed.push_back(each);
  return needed;
}

std::string cover_page(const RunSummary& summary, const NodeSummary& node,
                       const BundleRequest& request, const std::vector<Cause>& causes) {
  const auto& record = node.record;
  std::string text = summary.rehearsal ? fmt::format("{}\n\n", report::kRehearsal) : std::string{};
  text += fmt::format("Return of {}\n\n", request.part.empty() ? "a machine" : request.part);
  text += fmt::format("site            {}\nnode            {}\nrack, unit      {}, {}\n",
                      printable(summary.site), record.node,
                      node.position.rack.empty() ? "-" : node.position.rack, node.position.unit);
  text += fmt::format("machine         {} {}, profile {}\nchassis serial  {}\n",
                      fact_of(record, "system.manufacturer"), fact_of(record, "system.model"),
                      node.profile, printable(report::chassis_serial(record)));
  text += fmt::format("BMC, BIOS       {}, {}\n", fact_of(record, "bmc.version"),
                      fact_of(record, "bios.version"));
  if (!request.part.empty()) text += "\nThe part\n" + part_lines(record, request.part);
  text += fmt::format("\nFound by run {} ({}), {} to {}\n", summary.run.id,
                      printable(summary.run.playbook), report::utc(summary.run.began),
                      report::utc(summary.run.ended));
  for (const auto& each : causes) text += cause_text(each, node);
  text += "\nWhat such a return is asked for\n";
  for (const auto& each : needed_stages(causes, node))
    text += fmt::format("- {}\n", printable(each));
  text +=
      "\nIn this archive\n"
      "- verdict.json: each finding with number and limits, and what is likely behind it\n"
      "- criteria.csv: every criterion that was checked, met or not\n"
      "- fleet.csv: the same measures of the other machines of the run\n"
      "- parts.json: serial numbers and firmware of all parts\n"
      "- history.csv: earlier runs of this machine\n"
      "- evidence/: raw outputs, one for each stage; the BMC's and the kernel's log among them\n"
      "- diagnostics/: what the BMC collected; files that are packed or binary are as it made "
      "them,\n"
      "  and may hold passwords, keys and addresses\n"
      "- attached/: what was added by hand\n"
      "- MANIFEST.sha256: sha256sum -c MANIFEST.sha256\n";
  return text;
}

std::string verdict_text_json(const RunSummary& summary, const NodeSummary& node,
                              const std::vector<Cause>& causes) {
  boost::json::object object{{"run", summary.run.id}, {"node", node.record.node}};
  if (summary.rehearsal) object["rehearsal"] = true;
  object["verdict"] = to_string(node.decision);
  object["causes"] = report::to_json(std::span<const Cause>{causes}, node.record.findings);
  return boost::json::serialize(object) + "\n";
}

std::string history_csv(const store::Store& store, const std::string& node,
                        const std::string& part) {
  std::string text = "run,playbook,began,verdict,findings about it\r\n";
  const auto runs = store.runs_of(node, kMostEarlier);
  if (!runs) return text;
  for (const auto id : *runs) {
    const auto summary = report::summarize(store, id);
    const auto* found = summary ? node_in(*summary, node) : nullptr;
    if (found == nullptr) continue;
    text +=
        csv_line({std::to_string(id), summary->run.playbook, report::utc(summary->run.began),
                  to_string(found->decision), std::to_string(causes_about(*found, part).size())});
  }
  return text;
}

/// Steps whose raw output tells of it: those of the causes, what lists the part, and both logs.
std::set<std::string> steps_of(const NodeSummary& node, const std::vector<Cause>& causes,
                               const std::string& part) {
  std::set<std::string> steps;
  for (const auto& cause : causes) steps.insert(cause.stages.begin(), cause.stages.end());
  for (const auto& [stage, findings] : node.record.findings) {
    const bool lists = std::ranges::any_of(
        findings.parts, [&](const inventory::Part& each) { return each.name == part; });
    const bool reported = burnin::is_log(stage) && !findings.measurements.empty();
    if (lists || reported || part.empty()) steps.insert(stage);
  }
  return steps;
}

Result<void> add_evidence(const store::Store& store, const NodeSummary& node,
                          const std::set<std::string>& steps, const BundleRequest& request,
                          std::vector<BundleFile>& files) {
  std::size_t bytes = 0;
  for (const auto& step : steps) {
    const auto hash = node.record.evidence.find(step);
    if (hash == node.record.evidence.end() || hash->second.empty()) continue;
    auto raw = store.evidence(hash->second);
    if (!raw && raw.error().code != Code::kNotFound) return raw.error();
    const auto name = fmt::format("evidence/{}.txt", shortened(printable(step), 60));
    if (!raw) {
      files.push_back({name + ".missing", "it was removed from the store: " + hash->second + "\n"});
      continue;
    }
    bytes += raw->size();
    if (bytes > kMostBundle)
      return Error{
          Code::kInvalid,
          fmt::format("the raw outputs have more than {} MiB: name the part", kMostBundle >> 20U)};
    files.push_back({name, without_secrets(*raw, request.secrets)});
  }
  return ok();
}

using Values = std::map<std::pair<std::string, std::string>, double>;

/// By stage and measure, of one part.
Values values_of(const record::NodeRecord& record, const std::string& part) {
  Values values;
  for (const auto& [stage, findings] : record.findings)
    for (const auto& each : findings.measurements)
      if (each.part == part) values[{stage, each.name}] = each.value;
  return values;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string manifest_of(std::span<const BundleFile> files) {
  std::string text;
  for (const auto& each : files) text += fmt::format("{}  {}\n", sha256_hex(each.bytes), each.name);
  return text;
}

}  // namespace

std::string fleet_csv(const RunSummary& summary, const std::string& node, const std::string& part) {
  std::string text = "stage,measure,part,value,nodes,lowest,median,highest\r\n";
  const auto* mine = node_in(summary, node);
  if (mine == nullptr) return text;
  std::map<std::pair<std::string, std::string>, std::vector<double>> others;
  for (const auto& each : summary.nodes)
    if (&each != mine && each.profile == mine->profile)
      for (const auto& [key, value] : values_of(each.record, part)) others[key].push_back(value);
  for (const auto& [key, value] : values_of(mine->record, part)) {
    const auto found = others.find(key);
    const auto own = plain(value, 6);
    if (found == others.end()) {
      text += csv_line({key.first, key.second, part, own, "0", "", "", ""});
      continue;
    }
    const auto [lowest, highest] = std::ranges::minmax(found->second);
    text += csv_line({key.first, key.second, part, own, std::to_string(found->second.size()),
                      plain(lowest, 6), plain(median_of(found->second), 6), plain(highest, 6)});
  }
  return text;
}

bool is_text(std::string_view bytes) {
  constexpr auto kShown = std::to_array<char>({'\t', '\n', '\r', '\f'});
  const auto is_control = [&](char c) {
    return static_cast<unsigned char>(c) < ' ' && std::ranges::find(kShown, c) == kShown.end();
  };
  return valid_utf8(bytes) == bytes && std::ranges::none_of(bytes, is_control);
}

Result<std::vector<BundleFile>> bundle_of(const store::Store& store, const RunSummary& summary,
                                          const BundleRequest& request) {
  const auto* node = node_in(summary, request.node);
  if (node == nullptr)
    return Error{Code::kNotFound,
                 fmt::format("{} took no part in run {}: cupel report {}", printable(request.node),
                             summary.run.id, summary.run.id)};
  const auto causes = causes_about(*node, request.part);
  if (causes.empty())
    return Error{
        Code::kInvalid,
        fmt::format("run {0} found nothing wrong with {1}: there is nothing to send; cupel "
                    "show {2} --run {0}",
                    summary.run.id, request.part.empty() ? request.node : printable(request.part),
                    request.node)};
  auto alone = summary;
  alone.nodes = {*node};
  boost::json::object parts{{"node", request.node},
                            {"chassis_serial", report::chassis_serial(node->record)},
                            {"parts", report::serials_json(node->record)},
                            {"versions", versions_json(node->record)}};
  std::vector<BundleFile> files{{"cover.txt", cover_page(summary, *node, request, causes)},
                                {"verdict.json", verdict_text_json(summary, *node, causes)},
                                {"criteria.csv", report::to_csv(alone)},
                                {"fleet.csv", fleet_csv(summary, request.node, request.part)},
                                {"parts.json", boost::json::serialize(parts) + "\n"},
                                {"history.csv", history_csv(store, request.node, request.part)}};
  for (auto& each : files) each.bytes = without_secrets(each.bytes, request.secrets);
  TRY(add_evidence(store, *node, steps_of(*node, causes, request.part), request, files));
  if (!request.bug_report.empty())
    files.push_back(
        {"nvidia-bug-report.log", without_secrets(request.bug_report, request.secrets)});
  for (const auto& each : request.diagnostics)
    files.push_back({"diagnostics/" + each.name, is_text(each.bytes)
                                                     ? without_secrets(each.bytes, request.secrets)
                                                     : each.bytes});
  for (const auto& each : request.attached) files.push_back({"attached/" + each.name, each.bytes});
  files.push_back({"MANIFEST.sha256", manifest_of(files)});
  return files;
}

}  // namespace cupel::rma
