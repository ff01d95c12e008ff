#include "orchestrator/report/document.h"

#include <boost/json.hpp>
#include <cmath>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "orchestrator/report/node_json.h"
#include "orchestrator/report/serials.h"
#include "orchestrator/report/subject_json.h"
#include "orchestrator/report/untested.h"
#include "orchestrator/report/verdict_json.h"

namespace cupel::report {
namespace {

namespace json = boost::json;

json::array measurements_json(const record::NodeRecord& record) {
  json::array all;
  for (const auto& [stage, findings] : record.findings)
    for (const auto& each : findings.measurements) {
      json::object object{{"stage", stage}, {"measure", each.name}};
      if (!each.part.empty()) object["part"] = each.part;
      put_subject(object, each.part);
      if (std::isfinite(each.value))
        object["value"] = each.value;
      else
        object["value"] = nullptr;
      object["unit"] = each.unit;
      all.push_back(std::move(object));
    }
  return all;
}

json::array checked_json(const record::NodeRecord& record) {
  json::array all;
  if (!record.verdict) return all;
  for (const auto& each : record.verdict->checked) {
    auto object = to_json(each);
    const auto evidence = record.evidence.find(each.stage);
    if (evidence != record.evidence.end()) object["evidence"] = evidence->second;
    all.push_back(std::move(object));
  }
  return all;
}

json::array links_json(const RunSummary& summary) {
  json::array all;
  for (const auto& event : summary.links) all.push_back(burnin::full_json(event));
  return all;
}

std::string text_at(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  if (value == nullptr) return {};
  return value->is_string() ? std::string{value->get_string()} : plain(value->as_double(), 9);
}

}  // namespace

void put_details(json::object& object, const NodeSummary& node) {
  const auto& record = node.record;
  object["profile"] = node.profile;
  object["rack"] = node.position.rack;
  object["unit"] = node.position.unit;
  object["chassis_serial"] = chassis_serial(record);
  put_domain(object, record);
  object["gpus_with_serial"] = parts_with_serial(record, inventory::PartKind::gpu).size();
  object["serials"] = serials_json(record);
  object["checked"] = checked_json(record);
  object["measurements"] = measurements_json(record);
}

json::object to_document(const RunSummary& summary) {
  auto document = to_json(summary);
  auto& object = document["summary"].as_object();
  object["site"] = summary.site;
  object["made"] = to_json(summary.provenance);
  object["not_tested"] = to_json(untested_of(summary));
  if (!summary.links.empty()) object["links"] = links_json(summary);
  auto& nodes = object["nodes"].as_array();
  for (std::size_t i = 0; i < summary.nodes.size(); ++i)
    put_details(nodes[i].as_object(), summary.nodes[i]);
  return document;
}

std::string to_csv(const RunSummary& summary) {
  auto text = csv_line({"run", "rehearsal", "node", "rack", "unit", "chassis_serial", "verdict",
                        "stage", "part", "measure", "measured", "value", "unit_of_value",
                        "expected", "at_least", "at_most", "met", "source", "evidence"});
  const auto run = std::to_string(summary.run.id);
  const auto* rehearsal = summary.rehearsal ? "REHEARSAL" : "";
  for (const auto& node : summary.nodes) {
    const auto unit = node.position.unit > 0 ? std::to_string(node.position.unit) : std::string{};
    const auto serial = chassis_serial(node.record);
    auto checked = checked_json(node.record);
    if (checked.empty()) checked.emplace_back(json::object{});
    for (const auto& each : checked) {
      const auto& object = each.get_object();
      const auto reported = [&](std::string_view key) { return text_at(object, key); };
      const auto* met = object.if_contains("met");
      const auto* is_met = met == nullptr ? "" : met->get_bool() ? "yes" : "no";
      text += csv_line({run, rehearsal, node.record.node, node.position.rack, unit, serial,
                        to_string(node.decision), reported("stage"), reported("part"),
                        reported("measure"), reported("measured"), reported("value"),
                        reported("unit"), reported("expected"), reported("at_least"),
                        reported("at_most"), is_met, reported("source"), reported("evidence")});
    }
  }
  return text;
}

}  // namespace cupel::report
