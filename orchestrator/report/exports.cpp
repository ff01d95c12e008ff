#include "orchestrator/report/exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "burnin/stage.h"
#include "burnin/verdict_text.h"
#include "orchestrator/report/serials.h"

namespace cupel::report {
namespace {

namespace json = boost::json;
using burnin::Checked;
using burnin::Decision;
using burnin::Met;

/// Text of an element or an attribute (XML 1.0, 2.4); control characters are no XML at all.
std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable(valid_utf8(text))) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

double seconds_of(const record::StepRecord& step) {
  const bool over = step.ended > step.began && step.began != engine::WallTime{};
  return over ? std::chrono::duration<double>(step.ended - step.began).count() : 0;
}

std::string junit_case(const std::string& node, const Checked& checked) {
  auto text = fmt::format("    <testcase classname=\"{}.{}\" name=\"{}{}{}\" time=\"0\"",
                          xml_text(node), xml_text(checked.stage), xml_text(checked.measure),
                          checked.part.empty() ? "" : " of ", xml_text(checked.part));
  if (checked.met == Met::met) return text + "/>\n";
  return text + fmt::format(
                    ">\n      <failure type=\"{}\" message=\"{}, expected {}\">{}</failure>"
                    "\n    </testcase>\n",
                    to_string(checked.met), xml_text(measured_text(checked)),
                    xml_text(expectation_text(checked)), xml_text(checked.remedy));
}

/// What the criteria do not say: parts that the audit found wanting, steps that failed.
std::string junit_cause(const std::string& node, const burnin::Cause& cause) {
  const auto* kind = cause.decision == Decision::fail ? "failure" : "error";
  return fmt::format(
      "    <testcase classname=\"{0}.verdict\" name=\"{1}{2}{3}\" time=\"0\">\n      <{4} "
      "type=\"{5}\" message=\"{6}\">{7}</{4}>\n    </testcase>\n",
      xml_text(node), xml_text(cause.criterion), cause.part.empty() ? "" : " of ",
      xml_text(cause.part), kind, to_string(cause.decision), xml_text(burnin::to_string(cause)),
      xml_text(cause.remedy));
}

std::string junit_suite(const NodeSummary& node) {
  std::string cases;
  std::size_t count = 0, failures = 0, errors = 0;
  if (node.record.verdict)
    for (const auto& each : node.record.verdict->checked) {
      cases += junit_case(node.record.node, each);
      ++count;
      failures += each.met != Met::met;
    }
  for (const auto& each : node.causes) {
    if (!each.criterion_id.empty()) continue;  // one of the criteria above
    cases += junit_cause(node.record.node, each);
    ++count;
    ++(each.decision == Decision::fail ? failures : errors);
  }
  double seconds = 0;
  for (const auto& step : node.record.steps) seconds += seconds_of(step);
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "time=\"{}\">\n    <properties>\n      <property name=\"verdict\" "
      "value=\"{}\"/>\n      <property name=\"chassis_serial\" "
      "value=\"{}\"/>\n    </properties>\n{}  </testsuite>\n",
      xml_text(node.record.node), count, failures, errors, plain(seconds, 3),
      to_string(node.decision), xml_text(chassis_serial(node.record)), cases);
}

/// Families that are not of measurements.
constexpr std::string_view kVerdictFamily = "cupel_verdict", kRehearsalFamily = "cupel_rehearsal";

/// "gemm.bf16.rate": cupel_gemm_bf16_rate.
std::string metric_name(std::string_view measure) {
  std::string name = "cupel_";
  for (const char c : measure) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += good ? c : '_';
  }
  const bool is_taken = name == kVerdictFamily || name == kRehearsalFamily;
  return is_taken ? name + "_measured" : name;
}

/// Backslash, quote and line end are escaped.
std::string label_text(std::string_view text) {
  std::string out;
  for (const char c : printable(valid_utf8(text))) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string value_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return plain(value, 9);
}

void add_samples(const RunSummary& summary, const NodeSummary& node,
                 std::map<std::string, std::string>& families) {
  for (const auto& [stage, findings] : node.record.findings) {
    std::set<std::pair<std::string, std::string>> known;
    for (const auto& each : findings.measurements) {
      const auto family = metric_name(each.name);
      // One set of labels has one sample: of several numbers of a part, the first.
      if (!known.emplace(family, label_text(each.part)).second) continue;
      families[family] += fmt::format(
          "{}{{site=\"{}\",node=\"{}\",stage=\"{}\",part=\"{}\",unit=\"{}\"}} {}\n", family,
          label_text(summary.site), label_text(node.record.node), label_text(stage),
          label_text(each.part), label_text(each.unit), value_text(each.value));
    }
  }
}

/// Lines of OCP's output, numbered and timed.
class OcpWriter {
 public:
  void add(json::object line, engine::WallTime time) {
    line["sequenceNumber"] = sequence_++;
    line["timestamp"] = utc(std::max(time, last_));
    last_ = std::max(time, last_);
    text_ += json::serialize(line) + "\n";
  }
  void step(const std::string& id, std::string_view key, json::object value,
            engine::WallTime time) {
    json::object artifact{{"testStepId", id}};
    artifact[key] = std::move(value);
    add({{"testStepArtifact", std::move(artifact)}}, time);
  }
  const std::string& text() const { return text_; }

 private:
  int sequence_ = 0;
  engine::WallTime last_{};  // a clock that was set back does not turn the order
  std::string text_;
};

/// What can be named by its id: each part once, by its name.
std::map<std::string, inventory::Part> hardware_of(const record::NodeRecord& record) {
  std::map<std::string, inventory::Part> all;
  const auto take = [&](const std::vector<inventory::Part>& parts) {
    for (const auto& part : parts)
      if (part.kind != inventory::PartKind::firmware && !part.name.empty())
        all.try_emplace(part.name, part);
  };
  for (const auto& [stage, findings] : record.findings) take(findings.parts);
  take(record.bmc_parts);
  return all;
}

void put_text(json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = valid_utf8(text);
}

json::object dut_info(const RunSummary& summary, const NodeSummary& node,
                      const std::map<std::string, inventory::Part>& hardware) {
  json::array hardware_infos, software_infos;
  for (const auto& [name, part] : hardware) {
    json::object info{{"hardwareInfoId", name}, {"name", name}};
    put_text(info, "partType", std::string{to_string(part.kind)});
    put_text(info, "serialNumber", part.serial);
    put_text(info, "partNumber", part.part_number);
    put_text(info, "manufacturer", part.manufacturer);
    put_text(info, "manufacturerPartNumber", part.model);
    put_text(info, "version", part.firmware);
    put_text(info, "location", part.slot);
    hardware_infos.push_back(std::move(info));
  }
  std::set<std::string> known;
  const auto take = [&](const std::vector<inventory::Part>& parts) {
    for (const auto& part : parts)
      if (part.kind == inventory::PartKind::firmware && known.insert(part.name).second)
        software_infos.push_back({{"softwareInfoId", part.name},
                                  {"name", part.name},
                                  {"version", part.firmware},
                                  {"softwareType", "FIRMWARE"}});
  };
  take(node.record.bmc_parts);
  for (const auto& [stage, findings] : node.record.findings) take(findings.parts);
  return {{"dutInfoId", node.record.node},
          {"name", node.record.node},
          {"platformInfos",
           json::array{{{"info", "profile " + node.profile}}, {{"info", "site " + summary.site}}}},
          {"hardwareInfos", std::move(hardware_infos)},
          {"softwareInfos", std::move(software_infos)}};
}

json::object ocp_measurement(const burnin::Measurement& measurement, const Checked* checked,
                             const std::map<std::string, inventory::Part>& hardware) {
  json::object object{{"name", measurement.name}, {"value", measurement.value}};
  if (!std::isfinite(measurement.value)) object["value"] = value_text(measurement.value);
  if (!measurement.unit.empty()) object["unit"] = measurement.unit;
  if (hardware.contains(measurement.part))
    object["hardwareInfoId"] = measurement.part;
  else if (!measurement.part.empty())
    object["subcomponent"] = {{"name", measurement.part}};
  json::array validators;
  const auto validator = [&](std::string_view type, const std::optional<double>& limit) {
    if (limit && std::isfinite(*limit))
      validators.push_back({{"name", checked->criterion_id}, {"type", type}, {"value", *limit}});
  };
  if (checked != nullptr && checked->quantity.unit_of_limits.empty()) {
    validator("GREATER_THAN_OR_EQUAL", checked->quantity.at_least);
    validator("LESS_THAN_OR_EQUAL", checked->quantity.at_most);
  }
  if (!validators.empty()) object["validators"] = std::move(validators);
  return object;
}

const Checked* checked_of(const record::NodeRecord& record, const std::string& stage,
                          const burnin::Measurement& measurement) {
  if (!record.verdict) return nullptr;
  const auto& all = record.verdict->checked;
  const auto found = std::ranges::find_if(all, [&](const Checked& each) {
    return each.stage == stage && each.part == measurement.part && each.measure == measurement.name;
  });
  return found == all.end() ? nullptr : &*found;
}

void add_ocp_step(const NodeSummary& node, const record::StepRecord& step, const std::string& id,
                  const std::map<std::string, inventory::Part>& hardware, OcpWriter& out) {
  out.step(id, "testStepStart", {{"name", step.name}}, step.began);
  if (const auto found = node.record.findings.find(step.name); found != node.record.findings.end())
    for (const auto& each : found->second.measurements)
      out.step(id, "measurement",
               ocp_measurement(each, checked_of(node.record, step.name, each), hardware),
               step.ended);
  const bool skipped = step.outcome == "skipped", done = step.outcome == "done";
  if (!skipped && !done)
    out.step(id, "error",
             {{"symptom", step.error.empty() ? "step-failed" : step.error},
              {"message", valid_utf8(step.detail)}},
             step.ended);
  if (burnin::base_name(step.name) == "verdict")
    for (const auto& cause : node.causes) {
      json::object diagnosis{{"verdict", cause.criterion},
                             {"type", cause.decision == Decision::fail ? "FAIL" : "UNKNOWN"},
                             {"message", valid_utf8(burnin::to_string(cause))}};
      if (hardware.contains(cause.part))
        diagnosis["hardwareInfoId"] = cause.part;
      else if (!cause.part.empty())
        diagnosis["subcomponent"] = {{"name", cause.part}};
      out.step(id, "diagnosis", std::move(diagnosis), step.ended);
    }
  out.step(id, "testStepEnd",
           {{"status", done      ? "COMPLETE"
                       : skipped ? "SKIP"
                                 : "ERROR"}},
           step.ended);
}

json::object parameters_json(const RunSummary& summary) {
  json::object parameters;
  for (const auto& [name, value] : summary.provenance.parameters) parameters[name] = value;
  return parameters;
}

std::string version_in(const RunSummary& summary) {
  for (const auto& [name, version] : summary.provenance.versions)
    if (name == "cupel") return version;
  return "unknown";
}

}  // namespace

std::string to_junit(const RunSummary& summary) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text +=
      fmt::format("<testsuites name=\"{}run {} ({})\">\n", summary.rehearsal ? "REHEARSAL " : "",
                  summary.run.id, xml_text(summary.run.playbook));
  for (const auto& node : summary.nodes) text += junit_suite(node);
  return text + "</testsuites>\n";
}

std::string to_openmetrics(const RunSummary& summary) {
  std::map<std::string, std::string> families;
  std::string verdicts;
  for (const auto& node : summary.nodes) {
    add_samples(summary, node, families);
    for (const auto decision : {Decision::pass, Decision::fail, Decision::inconclusive})
      verdicts += fmt::format("cupel_verdict{{site=\"{}\",node=\"{}\",cupel_verdict=\"{}\"}} {}\n",
                              label_text(summary.site), label_text(node.record.node),
                              to_string(decision), node.decision == decision ? 1 : 0);
  }
  std::string text;
  if (summary.rehearsal)
    text +=
        "# TYPE cupel_rehearsal gauge\n# HELP cupel_rehearsal Virtual machines, no proof of any "
        "real one.\ncupel_rehearsal 1\n";
  text += "# TYPE cupel_verdict stateset\n" + verdicts;
  for (const auto& [name, samples] : families)
    text += fmt::format("# TYPE {} gauge\n{}", name, samples);
  return text + "# EOF\n";
}

Result<std::string> to_ocp(const RunSummary& summary, const std::string& name) {
  const auto node = std::ranges::find(summary.nodes, name, [](const NodeSummary& each) {
    return std::string_view{each.record.node};
  });
  if (node == summary.nodes.end())
    return Error{Code::kNotFound, fmt::format("{} took no part in run {}: cupel report {}",
                                              printable(name), summary.run.id, summary.run.id)};
  const auto hardware = hardware_of(node->record);
  OcpWriter out;
  out.add({{"schemaVersion", {{"major", 2}, {"minor", 0}}}}, summary.run.began);
  json::object start{{"name", "cupel " + summary.run.playbook},
                     {"version", version_in(summary)},
                     {"commandLine", fmt::format("cupel run {}", summary.run.playbook)},
                     {"parameters", parameters_json(summary)},
                     {"dutInfo", dut_info(summary, *node, hardware)}};
  if (summary.rehearsal) start["metadata"] = {{"rehearsal", true}};
  out.add({{"testRunArtifact", {{"testRunStart", std::move(start)}}}}, summary.run.began);
  int step_id = 0;
  for (const auto& step : node->record.steps)
    add_ocp_step(*node, step, std::to_string(step_id++), hardware, out);
  const auto* result = node->decision == Decision::pass   ? "PASS"
                       : node->decision == Decision::fail ? "FAIL"
                                                          : "NOT_APPLICABLE";
  const auto* status = node->decision == Decision::inconclusive ? "ERROR" : "COMPLETE";
  out.add({{"testRunArtifact", {{"testRunEnd", {{"status", status}, {"result", result}}}}}},
          summary.run.ended);
  return out.text();
}

}  // namespace cupel::report
