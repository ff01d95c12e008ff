#include "orchestrator/report/verdict_json.h"

#include <cmath>

#include "burnin/verdict_text.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/report/subject_json.h"

namespace cupel::report {
namespace {

namespace json = boost::json;

void put(json::object& object, std::string_view key, const std::optional<double>& number) {
  if (number && std::isfinite(*number)) object[key] = *number;
}

void put(json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

}  // namespace

json::object to_json(const burnin::Cause& cause) {
  auto object = record::to_json(cause);
  put_subject(object, cause.part);
  put(object, "margin", margin(cause.quantity));
  put(object, "measured", measured_text(cause));
  put(object, "expected", expectation_text(cause));
  object.erase("wanted");  // the journal's key
  return object;
}

json::array to_json(std::span<const burnin::Cause> causes,
                    const burnin::FindingsByStage& findings) {
  json::array all;
  for (const auto& each : causes) {
    auto object = to_json(each);
    const bool acts = each.decision == burnin::Decision::fail && each.consequence_of.empty();
    const auto diagnosis = acts ? burnin::causes().diagnose(each, causes, findings) : std::nullopt;
    if (diagnosis) object["diagnosis"] = to_json(*diagnosis);
    all.push_back(std::move(object));
  }
  return all;
}

json::object to_json(const burnin::Diagnosis& diagnosis) {
  json::array suspects;
  for (const auto& each : diagnosis.suspects)
    suspects.push_back({{"part", each.part}, {"share", each.share}});
  json::object object{
      {"name", diagnosis.name},
      {"suspects", std::move(suspects)},
      {"equally_likely", diagnosis.is_open()},
      {"next_test", diagnosis.apart},
      {"remedy", diagnosis.remedy},
      {"vendor_wants", json::array(diagnosis.vendor.begin(), diagnosis.vendor.end())}};
  put(object, "xid_action", diagnosis.xid_action);
  return object;
}

json::object to_json(const burnin::Checked& checked) {
  const auto& quantity = checked.quantity;
  json::object object{{"stage", checked.stage},
                      {"part", checked.part},
                      {"measure", checked.measure},
                      {"met", checked.met == burnin::Met::met},
                      {"measured", measured_text(checked)},
                      {"expected", expectation_text(checked)},
                      {"source", checked.source}};
  put_subject(object, checked.part);
  put(object, "value", quantity.value);
  put(object, "at_least", quantity.at_least);
  put(object, "at_most", quantity.at_most);
  put(object, "margin", margin(quantity));
  put(object, "unit", quantity.unit);
  put(object, "unit_of_limits", quantity.unit_of_limits);
  put(object, "criterion_id", checked.criterion_id);
  put(object, "place", checked.place);
  return object;
}

json::array slow_json(std::span<const burnin::Compared> slow) {
  json::array all;
  for (const auto& each : slow) {
    json::object object{{"stage", each.stage},     {"part", each.part},
                        {"measure", each.measure}, {"against", to_string(each.against)},
                        {"others", each.others},   {"unit", each.unit},
                        {"text", slow_text(each)}};
    put(object, "value", each.value);
    put(object, "expected", each.expected);
    put(object, "limit", each.limit);
    put(object, "behind", behind(each));
    all.push_back(std::move(object));
  }
  return all;
}

}  // namespace cupel::report
