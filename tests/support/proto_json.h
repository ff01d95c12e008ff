#pragma once
// Holds a JSON text against messages of opentelemetry-proto 1.9, by the rules of ProtoJSON and
// those of OTLP: known names alone, in camelCase; 64-bit integers as texts; ids in hexadecimal;
// enumerators as numbers; one member of a oneof; no null. Shares no code with what writes it.
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace cupel::test {

/// A field's type: a scalar below or a message; "*" in front of it: a list.
using ProtoFields = std::map<std::string, std::string, std::less<>>;

inline const std::map<std::string, ProtoFields>& otlp_messages() {
  static const std::map<std::string, ProtoFields> all{
      {"ExportTraceServiceRequest", {{"resourceSpans", "*ResourceSpans"}}},
      {"ResourceSpans", {{"resource", "Resource"}, {"scopeSpans", "*ScopeSpans"}}},
      {"ScopeSpans", {{"scope", "Scope"}, {"spans", "*Span"}}},
      {"Span",
       {{"traceId", "id16"},
        {"spanId", "id8"},
        {"parentSpanId", "id8"},
        {"name", "string"},
        {"kind", "enum"},
        {"startTimeUnixNano", "fixed64"},
        {"endTimeUnixNano", "fixed64"},
        {"attributes", "*KeyValue"},
        {"events", "*SpanEvent"},
        {"status", "Status"}}},
      {"SpanEvent", {{"timeUnixNano", "fixed64"}, {"name", "string"}}},
      {"Status", {{"code", "enum"}, {"message", "string"}}},
      {"ExportLogsServiceRequest", {{"resourceLogs", "*ResourceLogs"}}},
      {"ResourceLogs", {{"resource", "Resource"}, {"scopeLogs", "*ScopeLogs"}}},
      {"ScopeLogs", {{"scope", "Scope"}, {"logRecords", "*LogRecord"}}},
      {"LogRecord",
       {{"timeUnixNano", "fixed64"},
        {"observedTimeUnixNano", "fixed64"},
        {"severityNumber", "enum"},
        {"severityText", "string"},
        {"body", "AnyValue"},
        {"attributes", "*KeyValue"},
        {"traceId", "id16"},
        {"spanId", "id8"}}},
      {"ExportMetricsServiceRequest", {{"resourceMetrics", "*ResourceMetrics"}}},
      {"ResourceMetrics", {{"resource", "Resource"}, {"scopeMetrics", "*ScopeMetrics"}}},
      {"ScopeMetrics", {{"scope", "Scope"}, {"metrics", "*Metric"}}},
      {"Metric",
       {{"name", "string"},
        {"description", "string"},
        {"unit", "string"},
        {"gauge", "Gauge"},
        {"sum", "Sum"},
        {"histogram", "Histogram"}}},
      {"Gauge", {{"dataPoints", "*NumberDataPoint"}}},
      {"Sum",
       {{"dataPoints", "*NumberDataPoint"},
        {"aggregationTemporality", "enum"},
        {"isMonotonic", "bool"}}},
      {"Histogram", {{"dataPoints", "*HistogramDataPoint"}, {"aggregationTemporality", "enum"}}},
      {"NumberDataPoint",
       {{"attributes", "*KeyValue"},
        {"startTimeUnixNano", "fixed64"},
        {"timeUnixNano", "fixed64"},
        {"asDouble", "double"}}},
      {"HistogramDataPoint",
       {{"attributes", "*KeyValue"},
        {"startTimeUnixNano", "fixed64"},
        {"timeUnixNano", "fixed64"},
        {"count", "fixed64"},
        {"sum", "double"},
        {"bucketCounts", "*fixed64"},
        {"explicitBounds", "*double"}}},
      {"Resource", {{"attributes", "*KeyValue"}}},
      {"Scope", {{"name", "string"}, {"version", "string"}}},
      {"KeyValue", {{"key", "string"}, {"value", "AnyValue"}}},
      {"AnyValue", {{"stringValue", "string"}, {"intValue", "int64"}}}};
  return all;
}

inline bool is_lower_hex(std::string_view text, std::size_t bytes) {
  return text.size() == 2 * bytes && text.find_first_not_of('0') != text.npos &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

inline bool is_proto_scalar(const json::value& value, const std::string& type) {
  if (type == "enum") return value.is_int64() || value.is_uint64();
  if (type == "double") return value.is_number();
  if (type == "bool") return value.is_bool();
  if (!value.is_string()) return false;
  std::string_view text{value.get_string()};
  if (type == "string") return true;
  if (type == "id16") return is_lower_hex(text, 16);
  if (type == "id8") return is_lower_hex(text, 8);
  if (type == "int64" && text.starts_with('-')) text.remove_prefix(1);
  const bool is_whole =
      !text.empty() && text.size() <= 19 && text.find_first_not_of("0123456789") == text.npos;
  return (type == "int64" || type == "fixed64") && is_whole;
}

/// What is wrong with `value` as a message of this type, each with its path.
inline std::vector<std::string> proto_faults(const json::value& value, const std::string& type,
                                             const std::string& path = {}) {
  const auto message = otlp_messages().find(type);
  if (message == otlp_messages().end())
    return is_proto_scalar(value, type)
               ? std::vector<std::string>{}
               : std::vector{path + ": no " + type + ": " + json::serialize(value)};
  if (!value.is_object()) return {path + ": no " + type};
  std::vector<std::string> faults;
  const auto take = [&](std::vector<std::string> more) {
    faults.insert(faults.end(), more.begin(), more.end());
  };
  for (const auto& [key, member] : value.get_object()) {
    const auto below = path + "/" + std::string{key};
    const auto field = message->second.find(std::string_view{key});
    if (field == message->second.end()) {
      faults.push_back(below + ": " + type + " has no such field");
    } else if (!field->second.starts_with('*')) {
      take(proto_faults(member, field->second, below));
    } else if (!member.is_array()) {
      faults.push_back(below + ": no list");
    } else {
      for (const auto& each : member.get_array())
        take(proto_faults(each, field->second.substr(1), below));
    }
  }
  if (type == "AnyValue" && value.get_object().size() != 1)
    faults.push_back(path + ": not one value");
  return faults;
}

}  // namespace cupel::test
