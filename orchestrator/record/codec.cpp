#include "orchestrator/record/codec.h"

#include <array>
#include <cmath>

#include "base/text.h"

namespace cupel::record {
namespace {

using inventory::AuditFinding;
using inventory::Finding;
using inventory::Part;
using inventory::Unknown;

void put(json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = valid_utf8(text);
}

void put(json::object& object, std::string_view key, const std::optional<double>& number) {
  if (number && std::isfinite(*number)) object[key] = *number;
}

std::string text(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

std::optional<double> number(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

/// Calls `take` for each object of an array; nothing else is in it, or it is ignored.
template <class Take>
void each_object(const json::value* value, Take take) {
  const auto* array = value == nullptr ? nullptr : value->if_array();
  if (array == nullptr) return;
  for (const auto& item : *array)
    if (const auto* object = item.if_object()) take(*object);
}

json::object to_json(const Part& part) {
  json::object object;
  object["kind"] = to_string(part.kind);
  put(object, "name", part.name);
  put(object, "model", part.model);
  put(object, "manufacturer", part.manufacturer);
  put(object, "serial", part.serial);
  put(object, "part_number", part.part_number);
  put(object, "firmware", part.firmware);
  put(object, "slot", part.slot);
  put(object, "size_bytes", part.size_bytes);
  put(object, "count", part.count);
  put(object, "health", part.health);
  if (part.pcie)
    object["pcie"] = {{"generation", part.pcie->generation},
                      {"width", part.pcie->width},
                      {"max_generation", part.pcie->max_generation},
                      {"max_width", part.pcie->max_width}};
  if (!part.macs.empty()) object["macs"] = json::value_from(part.macs);
  put(object, "source", part.source);
  return object;
}

inventory::PcieLink pcie_from(const json::object& object) {
  const auto whole = [&](std::string_view key) {
    const auto told = number(object, key).value_or(0);
    return told >= 0 && told <= 64 ? static_cast<int>(told) : 0;
  };
  return {.generation = whole("generation"),
          .width = whole("width"),
          .max_generation = whole("max_generation"),
          .max_width = whole("max_width")};
}

Part part_from(const json::object& object) {
  Part part;
  part.kind = inventory::part_kind(text(object, "kind")).value_or(inventory::PartKind::system);
  part.name = text(object, "name");
  part.model = text(object, "model");
  part.manufacturer = text(object, "manufacturer");
  part.serial = text(object, "serial");
  part.part_number = text(object, "part_number");
  part.firmware = text(object, "firmware");
  part.slot = text(object, "slot");
  part.size_bytes = number(object, "size_bytes");
  part.count = number(object, "count");
  part.health = text(object, "health");
  if (const auto* link = object.if_contains("pcie"); link != nullptr && link->is_object())
    part.pcie = pcie_from(link->get_object());
  if (const auto* macs = object.if_contains("macs"); macs != nullptr && macs->is_array())
    for (const auto& mac : macs->get_array())
      if (mac.is_string()) part.macs.emplace_back(mac.get_string());
  part.source = text(object, "source");
  return part;
}

json::object to_json(const burnin::Measurement& measurement) {
  json::object object;
  object["name"] = measurement.name;
  put(object, "part", measurement.part);
  // JSON has no NaN; a criterion does not meet one either (RFC 8259, 6).
  if (std::isfinite(measurement.value))
    object["value"] = measurement.value;
  else
    object["value"] = nullptr;
  put(object, "unit", measurement.unit);
  put(object, "traced_to", measurement.traced_to);
  return object;
}

void put(json::object& object, const burnin::Quantity& quantity) {
  put(object, "value", quantity.value);
  put(object, "at_least", quantity.at_least);
  put(object, "at_most", quantity.at_most);
  put(object, "unit", quantity.unit);
}

json::object to_json(const burnin::Cause& cause) {
  json::object object;
  object["decision"] = to_string(cause.decision);
  put(object, "part", cause.part);
  put(object, "criterion", cause.criterion);
  put(object, "measured", cause.measured);
  put(object, "wanted", cause.wanted);
  put(object, "evidence", cause.evidence);
  put(object, "remedy", cause.remedy);
  if (!cause.stages.empty())
    object["stages"] = json::array(cause.stages.begin(), cause.stages.end());
  put(object, cause.quantity);
  put(object, "consequence_of", cause.consequence_of);
  return object;
}

json::object to_json(const burnin::Checked& checked) {
  json::object object;
  put(object, "stage", checked.stage);
  put(object, "part", checked.part);
  put(object, "measure", checked.measure);
  put(object, "measured", checked.measured);
  put(object, "wanted", checked.wanted);
  object["met"] = checked.met;
  put(object, "source", checked.source);
  return object;
}

burnin::Quantity quantity_from(const json::object& object) {
  return {number(object, "value"), number(object, "at_least"), number(object, "at_most"),
          text(object, "unit")};
}

burnin::Decision decision_from(const std::string& word) {
  if (word == "pass") return burnin::Decision::pass;
  if (word == "fail") return burnin::Decision::fail;
  return burnin::Decision::inconclusive;
}

constexpr std::array kFindings{Finding::missing,    Finding::extra,          Finding::wrong_model,
                               Finding::wrong_size, Finding::wrong_firmware, Finding::wrong_serial,
                               Finding::wrong_name, Finding::wrong_setting,  Finding::wrong_clock,
                               Finding::unhealthy,  Finding::unobserved};

template <class Item>
json::array array_of(const std::vector<Item>& items) {
  json::array array;
  array.reserve(items.size());
  for (const auto& item : items) array.push_back(to_json(item));
  return array;
}

std::vector<std::string> stages_from(const json::value* value) {
  std::vector<std::string> stages;
  if (value == nullptr || !value->is_array()) return stages;
  for (const auto& each : value->get_array())
    if (each.is_string()) stages.emplace_back(each.get_string());
  return stages;
}

}  // namespace

json::array to_json(const std::vector<Part>& parts) { return array_of(parts); }

json::array to_json(const std::vector<Unknown>& unknown) {
  json::array array;
  for (const auto& each : unknown)
    array.push_back({{"fact", each.fact}, {"source", each.source}, {"why", each.why}});
  return array;
}

json::array to_json(const std::vector<AuditFinding>& findings) {
  json::array array;
  for (const auto& finding : findings) {
    json::object object;
    object["finding"] = to_string(finding.finding);
    put(object, "part", finding.part);
    put(object, "expected", finding.expected);
    put(object, "observed", finding.observed);
    put(object, "source", finding.source);
    put(object, "remedy", finding.remedy);
    array.push_back(std::move(object));
  }
  return array;
}

json::object to_json(const burnin::Findings& findings) {
  json::object object;
  object["measurements"] = array_of(findings.measurements);
  object["parts"] = to_json(findings.parts);
  object["unknown"] = to_json(findings.unknown);
  return object;
}

json::object to_json(const burnin::Verdict& verdict) {
  json::object object;
  object["verdict"] = to_string(verdict.decision);
  object["causes"] = array_of(verdict.causes);
  object["checked"] = array_of(verdict.checked);
  return object;
}

std::vector<Part> parts_from(const json::value* value) {
  std::vector<Part> parts;
  each_object(value, [&](const auto& object) { parts.push_back(part_from(object)); });
  return parts;
}

std::vector<Unknown> unknown_from(const json::value* value) {
  std::vector<Unknown> found;
  each_object(value, [&](const auto& object) {
    found.push_back({text(object, "fact"), text(object, "source"), text(object, "why")});
  });
  return found;
}

std::vector<AuditFinding> audit_from(const json::value* value) {
  std::vector<AuditFinding> found;
  each_object(value, [&](const auto& object) {
    const auto word = text(object, "finding");
    const auto kind = std::ranges::find(kFindings, word, [](Finding f) { return to_string(f); });
    found.push_back({kind == kFindings.end() ? Finding::unobserved : *kind, text(object, "part"),
                     text(object, "expected"), text(object, "observed"), text(object, "source"),
                     text(object, "remedy")});
  });
  return found;
}

json::array to_json(const std::vector<Needed>& needs) {
  json::array all;
  for (const auto& each : needs) {
    json::object object{{"action", each.action}, {"goes_on", each.goes_on}};
    put(object, "part", each.part);
    all.push_back(std::move(object));
  }
  return all;
}

std::vector<Needed> needed_from(const json::value* value) {
  std::vector<Needed> found;
  each_object(value, [&](const auto& object) {
    const auto* goes_on = object.if_contains("goes_on");
    found.push_back({text(object, "action"), text(object, "part"),
                     goes_on != nullptr && goes_on->is_bool() && goes_on->get_bool()});
  });
  return found;
}

burnin::Findings findings_from(const json::object& object) {
  burnin::Findings findings;
  each_object(object.if_contains("measurements"), [&](const auto& each) {
    const auto value = number(each, "value").value_or(std::nan(""));
    findings.measurements.push_back({text(each, "name"), text(each, "part"), value,
                                     text(each, "unit"), text(each, "traced_to")});
  });
  findings.parts = parts_from(object.if_contains("parts"));
  findings.unknown = unknown_from(object.if_contains("unknown"));
  return findings;
}

burnin::Verdict verdict_from(const json::object& object) {
  burnin::Verdict verdict;
  verdict.decision = decision_from(text(object, "verdict"));
  each_object(object.if_contains("causes"), [&](const auto& each) {
    verdict.causes.push_back({decision_from(text(each, "decision")), text(each, "part"),
                              text(each, "criterion"), text(each, "measured"), text(each, "wanted"),
                              text(each, "evidence"), text(each, "remedy"),
                              stages_from(each.if_contains("stages")), quantity_from(each),
                              text(each, "consequence_of")});
  });
  each_object(object.if_contains("checked"), [&](const auto& each) {
    const auto* met = each.if_contains("met");
    verdict.checked.push_back({text(each, "stage"), text(each, "part"), text(each, "measure"),
                               text(each, "measured"), text(each, "wanted"),
                               met != nullptr && met->is_bool() && met->get_bool(),
                               text(each, "source")});
  });
  return verdict;
}

}  // namespace cupel::record
