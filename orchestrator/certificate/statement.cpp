#include "orchestrator/certificate/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>

#include "base/digest.h"
#include "base/json.h"
#include "base/readable_json.h"
#include "base/text.h"
#include "base/utc.h"
#include "burnin/stage.h"
#include "inventory/identity.h"
#include "orchestrator/certificate/media_list.h"
#include "orchestrator/certificate/unique_keys.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/serials.h"
#include "orchestrator/report/untested.h"
#include "orchestrator/report/verdict_json.h"

namespace cupel::certificate {
namespace {

namespace json = boost::json;
using report::NodeSummary;

constexpr std::size_t kMostNodes = 20'000;

/// Who says so. A node can be made to print anything by its root; its BMC is another computer.
constexpr std::string_view kByBmc = "out of band";
constexpr std::string_view kByNode = "the node itself";
constexpr std::string_view kByBoth = "out of band and the node itself";

std::string_view seen_by(bool bmc, bool node) {
  return bmc && node ? kByBoth : bmc ? kByBmc : kByNode;
}

/// By kind: a supply and a drive may have one serial number.
using KindsAndSerials = std::set<std::pair<std::string, std::string>>;

void add_serials(const std::vector<inventory::Part>& parts, KindsAndSerials& serials) {
  for (const auto& part : parts) serials.emplace(to_string(part.kind), part.serial);
}

KindsAndSerials seen_by_node(const record::NodeRecord& record) {
  KindsAndSerials serials;
  for (const auto& [stage, findings] : record.findings) add_serials(findings.parts, serials);
  return serials;
}

const std::string& word_of_chassis() {
  static const std::string kWord{to_string(inventory::PartKind::system)};
  return kWord;
}

/// The chassis is among them: the fact of its serial number is bmc-facts' own.
KindsAndSerials seen_by_bmc(const record::NodeRecord& record) {
  KindsAndSerials serials;
  add_serials(record.bmc_parts, serials);
  if (!record.system_serial.empty()) serials.emplace(word_of_chassis(), record.system_serial);
  if (const auto fact = record.facts.find("system.serial"); fact != record.facts.end())
    serials.emplace(word_of_chassis(), fact->second);
  return serials;
}

json::array parts_json(const record::NodeRecord& record) {
  const auto by_bmc = seen_by_bmc(record), by_node = seen_by_node(record);
  auto all = report::serials_json(record);
  for (auto& each : all) {
    const std::pair key{std::string{each.at("kind").as_string()},
                        std::string{each.at("serial").as_string()}};
    each.as_object()["seen_by"] = seen_by(by_bmc.contains(key), by_node.contains(key));
  }
  return all;
}

json::array versions_json(const record::NodeRecord& record) {
  json::array all;
  for (const auto& each : report::versions_of(record))
    all.push_back({{"name", each.name},
                   {"version", each.version},
                   {"seen_by", seen_by(each.by_bmc, each.by_node)}});
  return all;
}

std::string_view chassis_seen_by(const record::NodeRecord& record) {
  const std::pair key{word_of_chassis(), report::chassis_serial(record)};
  return seen_by(seen_by_bmc(record).contains(key), seen_by_node(record).contains(key));
}

/// A stage, what worked beside it ("cpu@train"), or what a log gained meanwhile ("sel@train").
bool is_of(std::string_view stage, const std::vector<std::string>& stages) {
  return std::ranges::any_of(stages, [&](const std::string& each) {
    return stage == each || stage.ends_with("@" + each);
  });
}

/// Numbers where it is about one, else words. Where its limits come from stands once, in `sources`.
/// Of these stages alone, where any are named.
json::array criteria_json(const record::NodeRecord& record, json::object& sources,
                          const std::vector<std::string>* stages = nullptr) {
  json::array all;
  if (!record.verdict) return all;
  for (const auto& each : record.verdict->checked) {
    if (stages != nullptr && !is_of(each.stage, *stages)) continue;
    auto object = report::to_json(each);
    if (!each.criterion_id.empty()) sources[each.criterion_id] = each.source;
    for (const auto* key : {"source", "subject"}) object.erase(key);
    if (object.contains("value"))
      for (const auto* key : {"measured", "expected", "margin"}) object.erase(key);
    object["seen_by"] = burnin::is_seen_by_bmc(each.stage) ? kByBmc : kByNode;
    all.push_back(std::move(object));
  }
  return all;
}

/// SHA-256 of each step's raw output.
json::object evidence_json(const record::NodeRecord& record) {
  json::object all;
  for (const auto& [step, sha256] : record.evidence) all[step] = sha256;
  return all;
}

json::array steps_json(const record::NodeRecord& record) {
  json::array all;
  for (const auto& step : record.steps) {
    json::object object{{"step", step.name}, {"outcome", step.outcome}};
    if (step.attempts > 1) object["tries"] = step.attempts;
    if (step.began != engine::WallTime{}) object["began"] = report::utc(step.began);
    if (step.ended != engine::WallTime{}) object["ended"] = report::utc(step.ended);
    all.push_back(std::move(object));
  }
  return all;
}

/// What an earlier run has proven of the node and no later one has renewed.
json::array kept_json(const std::string& name, const Issue& issue, json::object& sources) {
  json::array all;
  for (const auto& each : issue.kept) {
    if (each.stages.empty()) continue;
    const auto& summary = each.summary;
    const auto node = std::ranges::find(summary.nodes, name, [](const NodeSummary& one) {
      return std::string_view{one.record.node};
    });
    if (node == summary.nodes.end()) continue;
    json::object evidence;
    for (const auto& [step, sha256] : node->record.evidence)
      if (is_of(step, each.stages)) evidence[step] = sha256;
    json::object journal{{"events", summary.provenance.events},
                         {"head_sha256", summary.provenance.head}};
    if (!each.journal_sha256.empty()) journal["file_sha256"] = each.journal_sha256;
    all.push_back({{"run", summary.run.id},
                   {"playbook", summary.run.playbook},
                   {"ended", report::utc(summary.run.ended)},
                   {"chassis_serial", report::chassis_serial(node->record)},
                   {"verdict", to_string(node->decision)},
                   {"journal", std::move(journal)},
                   {"stages", json::array(each.stages.begin(), each.stages.end())},
                   {"criteria", criteria_json(node->record, sources, &each.stages)},
                   {"evidence_sha256", std::move(evidence)}});
  }
  return all;
}

json::object node_json(const NodeSummary& node, const Issue& issue, json::object& sources) {
  const auto& record = node.record;
  json::object object{
      {"node", record.node},        {"chassis_serial", report::chassis_serial(record)},
      {"profile", node.profile},    {"rack", node.position.rack},
      {"unit", node.position.unit}, {"verdict", to_string(node.decision)}};
  object["causes"] =
      report::to_json(std::span<const burnin::Cause>{node.causes}, node.record.findings);
  object["hand_off"] = record.hand_off.empty() ? "none" : record.hand_off;
  object["chassis_seen_by"] = chassis_seen_by(record);
  object["parts"] = parts_json(record);
  if (auto media = media_json(record); !media.empty()) object["media"] = std::move(media);
  object["versions"] = versions_json(record);
  object["criteria"] = criteria_json(record, sources);
  object["evidence_sha256"] = evidence_json(record);
  object["steps"] = steps_json(record);
  if (auto kept = kept_json(record.node, issue, sources); !kept.empty())
    object["kept"] = std::move(kept);
  return object;
}

/// Without what an earlier run has tested and this one leaves standing.
std::vector<report::Untested> untested_of(const report::RunSummary& summary, const Issue& issue) {
  std::set<std::string, std::less<>> standing;
  for (const auto& each : issue.kept)
    for (const auto& stage : each.stages) standing.emplace(burnin::base_name(stage));
  auto untested = report::untested_of(summary);
  std::erase_if(untested, [&](const report::Untested& each) {
    return each.why == report::kNotInPlaybook && standing.contains(each.what);
  });
  return untested;
}

json::object subject_of(const NodeSummary& node) {
  const auto digest = sha256_hex(report::chassis_serial(node.record));
  return {{"name", node.record.node}, {"digest", json::object{{"sha256", digest}}}};
}

/// Those that the certificate is of. Errors: kInvalid, with all that is wrong.
Result<std::vector<const NodeSummary*>> chosen(const report::RunSummary& summary,
                                               const Issue& issue) {
  std::vector<const NodeSummary*> nodes;
  auto missing = issue.nodes;
  std::vector<std::string> nameless;
  for (const auto& node : summary.nodes) {
    if (!issue.nodes.empty() && missing.erase(node.record.node) == 0) continue;
    nodes.push_back(&node);
    if (report::chassis_serial(node.record).empty()) nameless.push_back(node.record.node);
  }
  if (!missing.empty())
    return Error{Code::kInvalid, fmt::format("{} took no part in run {}: cupel report {}",
                                             *missing.begin(), summary.run.id, summary.run.id)};
  if (!nameless.empty())
    return Error{Code::kInvalid,
                 fmt::format("{} reported no chassis serial number, so that a certificate could be "
                             "shown for any machine: leave it out by naming the others",
                             nameless.front())};
  if (nodes.empty() || nodes.size() > kMostNodes)
    return Error{Code::kInvalid, fmt::format("a certificate is of 1 to {} nodes, not {}",
                                             kMostNodes, nodes.size())};
  return nodes;
}

Result<engine::WallTime> time_at(const json::value& object, std::string_view key) {
  const auto text = text_at(object, key).value_or("");
  const auto time = utc_of(text);
  if (!time)
    return Error{Code::kMalformed,
                 fmt::format("its \"{}\" is no time: {}", key, printable(text.substr(0, 40)))};
  return *time;
}

/// A whole number of at least 1; nothing otherwise, also where no machine word could hold it.
std::optional<std::int64_t> count_at(const json::value& object, std::string_view path) {
  constexpr double kMost = 9007199254740992;  // 2^53: up to it every whole number is a double
  const auto number = number_at(object, path);
  if (!number || !(*number >= 1) || *number > kMost || std::floor(*number) != *number)
    return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// Whether its value is within its limits, where it is about a number.
bool is_within_limits(const json::value& criterion) {
  const auto value = number_at(criterion, "value");
  if (!value) return true;
  const auto room = [&](double limit) { return read_back_error(*value, limit); };
  const auto least = number_at(criterion, "at_least"), most = number_at(criterion, "at_most");
  return (!least || *value >= *least - room(*least)) && (!most || *value <= *most + room(*most));
}

/// Errors: kMalformed: one that says that it is met, and whose value is beyond its limit.
Result<void> count_criteria(const json::value& criteria, CertifiedNode& node) {
  for (const auto& each : criteria.get_array()) {
    const auto* met = find(each, "met");
    const bool is_met = met != nullptr && met->is_bool() && met->get_bool();
    ++node.criteria;
    node.not_met += !is_met;
    if (is_met && !is_within_limits(each))
      return Error{
          Code::kMalformed,
          fmt::format("it says that {} of {} is met, and its value is beyond its limit",
                      printable(text_at(each, "measure").value_or("a criterion")), node.node)};
  }
  return ok();
}

void read_kept_journal(const json::value& kept, engine::RunId run,
                       std::vector<KeptJournal>& journals) {
  if (std::ranges::find(journals, run, &KeptJournal::run) != journals.end()) return;
  journals.push_back({.run = run,
                      .events = count_at(kept, "journal/events").value_or(0),
                      .head = text_at(kept, "journal/head_sha256").value_or(""),
                      .file_sha256 = text_at(kept, "journal/file_sha256").value_or("")});
}

/// Earlier runs: of the same machine, passed, and with criteria that bear it.
Result<void> read_kept(const json::value& value, CertifiedNode& node,
                       std::vector<KeptJournal>& journals) {
  const auto* kept = find(value, "kept");
  if (kept == nullptr) return ok();
  if (!kept->is_array())
    return Error{Code::kMalformed, fmt::format("\"kept\" of {} is no list", node.node)};
  for (const auto& each : kept->get_array()) {
    const auto run = count_at(each, "run").value_or(0);
    const auto* criteria = find(each, "criteria");
    if (run <= 0 || criteria == nullptr || !criteria->is_array())
      return Error{Code::kMalformed,
                   fmt::format("{} keeps a run without number or criteria", node.node)};
    if (printable(text_at(each, "chassis_serial").value_or("")) != node.serial)
      return Error{Code::kMalformed,
                   fmt::format("what {} keeps of run {} is of another machine", node.node, run)};
    if (text_at(each, "verdict") != "pass")
      return Error{
          Code::kMalformed,
          fmt::format("{} keeps evidence of run {}, which it did not pass", node.node, run)};
    TRY(count_criteria(*criteria, node));
    node.kept.push_back(run);
    read_kept_journal(each, run, journals);
  }
  return ok();
}

bool is_decision(std::string_view word) {
  using enum burnin::Decision;
  return std::ranges::any_of(std::array{pass, fail, inconclusive},
                             [&](burnin::Decision each) { return to_string(each) == word; });
}

Result<CertifiedNode> read_node(const json::value& value, std::vector<KeptJournal>& journals) {
  CertifiedNode node{.node = printable(text_at(value, "node").value_or("")),
                     .serial = printable(text_at(value, "chassis_serial").value_or("")),
                     .profile = printable(text_at(value, "profile").value_or("")),
                     .decision = printable(text_at(value, "verdict").value_or(""))};
  if (node.node.empty() || node.serial.empty())
    return Error{Code::kMalformed, "one of its nodes has no name or no serial number"};
  if (!is_decision(node.decision))
    return Error{Code::kMalformed,
                 fmt::format("its verdict of {} is \"{}\": expected pass, fail or inconclusive",
                             node.node, node.decision.substr(0, 40))};
  const auto* criteria = find(value, "criteria");
  if (criteria == nullptr || !criteria->is_array())
    return Error{Code::kMalformed, fmt::format("{} has no \"criteria\"", node.node)};
  TRY(count_criteria(*criteria, node));
  TRY(read_kept(value, node, journals));
  TRY(node.media, read_media(value, node.node));
  if (node.decision != "pass") return node;
  const auto left = std::ranges::find_if(
      node.media, [](const CertifiedMedium& each) { return each.result != "erased"; });
  if (left != node.media.end())
    return Error{Code::kMalformed, fmt::format("it says that {} passed, and its medium {} was not "
                                               "erased",
                                               node.node, left->serial)};
  if (node.criteria == 0)
    return Error{Code::kMalformed,
                 fmt::format("it says that {} passed, and has no criterion of it", node.node)};
  if (const auto* causes = find(value, "causes");
      causes != nullptr && !(causes->is_array() && causes->get_array().empty()))
    return Error{Code::kMalformed, fmt::format("it says that {} passed, and has causes why it did "
                                               "not",
                                               node.node)};
  if (node.not_met > 0)
    return Error{Code::kMalformed,
                 fmt::format("it says that {} passed, and {} of its {} criteria are not met",
                             node.node, node.not_met, node.criteria)};
  return node;
}

/// Each node stands among the subjects with the digest of its serial number, and no other does.
Result<void> check_subjects(const json::value& statement, std::span<const CertifiedNode> nodes) {
  const auto* subjects = find(statement, "subject");
  if (subjects == nullptr || !subjects->is_array() || subjects->get_array().size() != nodes.size())
    return Error{Code::kMalformed, "its subjects are not its nodes"};
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const auto& subject = subjects->get_array()[at];
    const bool is_it = text_at(subject, "name") == nodes[at].node &&
                       text_at(subject, "digest/sha256") == sha256_hex(nodes[at].serial);
    if (!is_it)
      return Error{Code::kMalformed,
                   fmt::format("the subject of {} is not its serial number", nodes[at].node)};
  }
  return ok();
}

bool is_inner(const json::value& value) {
  const auto is_leaf = [](const json::value& each) { return !each.is_structured(); };
  if (value.is_array()) return std::ranges::all_of(value.get_array(), is_leaf);
  if (!value.is_object()) return true;
  return std::ranges::all_of(value.get_object(),
                             [&](const auto& each) { return is_leaf(each.value()); });
}

void write_lines(std::string& text, const json::value& value, std::size_t indent) {
  if (is_inner(value)) {
    text += json::serialize(value);
    return;
  }
  const auto open_line = [&](bool first) {
    text += first ? "\n" : ",\n";
    text.append(indent + 1, ' ');
  };
  bool first = true;
  text += value.is_array() ? '[' : '{';
  if (value.is_array())
    for (const auto& each : value.get_array()) {
      open_line(std::exchange(first, false));
      write_lines(text, each, indent + 1);
    }
  else
    for (const auto& each : value.get_object()) {
      open_line(std::exchange(first, false));
      text += json::serialize(json::value(each.key())) + ": ";
      write_lines(text, each.value(), indent + 1);
    }
  text += '\n';
  text.append(indent, ' ');
  text += value.is_array() ? ']' : '}';
}

}  // namespace

std::string payload_of(json::object statement) {
  make_readable(statement);
  std::string text;
  write_lines(text, statement, 0);
  return text + "\n";
}

Result<json::object> statement_of(const report::RunSummary& summary, const Issue& issue) {
  if (summary.run.phase != engine::RunPhase::ended)
    return Error{
        Code::kInvalid,
        fmt::format("run {} is {}: a certificate is of a run that has ended; cupel follow {}",
                    summary.run.id, to_string(summary.run.phase), summary.run.id)};
  TRY(const auto nodes, chosen(summary, issue));
  json::array subjects, tested;
  json::object sources;
  for (const auto* node : nodes) {
    subjects.push_back(subject_of(*node));
    tested.push_back(node_json(*node, issue, sources));
  }
  json::object journal{{"events", summary.provenance.events},
                       {"head_sha256", summary.provenance.head}};
  if (!issue.journal_sha256.empty()) journal["file_sha256"] = issue.journal_sha256;
  json::object predicate{{"run", summary.run.id},
                         {"site", summary.site},
                         {"playbook", summary.run.playbook},
                         {"rehearsal", summary.rehearsal},
                         {"began", report::utc(summary.run.began)},
                         {"ended", report::utc(summary.run.ended)},
                         {"issued", report::utc(issue.at)},
                         {"expires", report::utc(issue.expires)},
                         {"issued_by", issue.by}};
  predicate["journal"] = std::move(journal);
  if (!issue.audit_head.empty()) predicate["audit"] = issue.audit_head;
  if (summary.requalified) predicate["requalifies"] = report::to_json(*summary.requalified);
  predicate["made"] = report::to_json(summary.provenance);
  predicate["not_tested"] = report::to_json(untested_of(summary, issue));
  predicate["criteria_sources"] = std::move(sources);
  predicate["nodes"] = std::move(tested);
  return json::object{{"_type", kStatementType},
                      {"subject", std::move(subjects)},
                      {"predicateType", kPredicateType},
                      {"predicate", std::move(predicate)}};
}

Result<Certified> read_statement(std::string_view payload) {
  TRY(const auto value, parse_unique(payload));
  if (text_at(value, "_type") != kStatementType ||
      text_at(value, "predicateType") != kPredicateType)
    return Error{
        Code::kMalformed,
        fmt::format("no certificate that this Cupel knows: its type is {} with {}, not {}",
                    printable(text_at(value, "_type").value_or("none").substr(0, 80)),
                    printable(text_at(value, "predicateType").value_or("none").substr(0, 80)),
                    kPredicateType)};
  Certified read{.site = printable(text_at(value, "predicate/site").value_or("")),
                 .playbook = printable(text_at(value, "predicate/playbook").value_or("")),
                 .issued_by = printable(text_at(value, "predicate/issued_by").value_or("")),
                 .head = text_at(value, "predicate/journal/head_sha256").value_or(""),
                 .journal_sha256 = text_at(value, "predicate/journal/file_sha256").value_or("")};
  read.run = count_at(value, "predicate/run").value_or(0);
  if (read.run == 0) return Error{Code::kMalformed, "it names no run"};
  read.events = count_at(value, "predicate/journal/events").value_or(0);
  const auto* rehearsal = find(value, "predicate/rehearsal");
  read.rehearsal = rehearsal == nullptr || !rehearsal->is_bool() || rehearsal->get_bool();
  TRY(read.issued, time_at(value, "predicate/issued"));
  TRY(read.expires, time_at(value, "predicate/expires"));
  if (read.expires < read.issued) return Error{Code::kMalformed, "it expires before it was issued"};
  const auto* nodes = find(value, "predicate/nodes");
  if (nodes == nullptr || !nodes->is_array() || nodes->get_array().empty() ||
      nodes->get_array().size() > kMostNodes)
    return Error{Code::kMalformed, "it is of no nodes"};
  std::set<std::string> names, serials;  // in the forms by which they are compared
  for (const auto& each : nodes->get_array()) {
    TRY(auto node, read_node(each, read.kept));
    if (!names.insert(lower_case(node.node)).second)
      return Error{Code::kMalformed, fmt::format("{} stands in it twice", node.node)};
    if (!serials.insert(inventory::serial_key(node.serial)).second)
      return Error{Code::kMalformed, fmt::format("the machine {} stands in it twice, also as {}",
                                                 node.serial, node.node)};
    read.nodes.push_back(std::move(node));
  }
  TRY(check_subjects(value, read.nodes));
  return read;
}

}  // namespace cupel::certificate
