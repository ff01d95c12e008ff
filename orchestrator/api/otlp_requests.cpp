#include "orchestrator/api/otlp_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

/// How a signal's messages are called, by OtlpSignal.
struct Names {
  std::string_view path, resources, scopes, items;
};

constexpr std::array<Names, 3> kNames{
    Names{"/v1/traces", "resourceSpans", "scopeSpans", "spans"},
    Names{"/v1/logs", "resourceLogs", "scopeLogs", "logRecords"},
    Names{"/v1/metrics", "resourceMetrics", "scopeMetrics", "metrics"}};

const Names& names_of(OtlpSignal signal) { return kNames.at(static_cast<std::size_t>(signal)); }

}  // namespace

std::string OtlpRequest::path() const { return std::string{names_of(signal).path}; }

std::string otlp_time(engine::WallTime time) {
  constexpr std::int64_t kLast = 9'000'000'000'000;  // of what fits, in milliseconds: year 2255
  const std::int64_t milliseconds = time.time_since_epoch().count();
  return std::to_string(std::clamp<std::int64_t>(milliseconds, 0, kLast) * 1'000'000);
}

std::string otlp_text(std::string_view text) {
  return shortened(printable(valid_utf8(text)), kLongestOtlpText);
}

void put_attribute(json::array& attributes, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  attributes.push_back(
      json::object{{"key", key}, {"value", json::object{{"stringValue", otlp_text(text)}}}});
}

void put_attribute(json::array& attributes, std::string_view key, std::int64_t number) {
  attributes.push_back(
      json::object{{"key", key}, {"value", json::object{{"intValue", std::to_string(number)}}}});
}

json::array otlp_resource(std::string_view version, std::string_view site) {
  json::array attributes;
  put_attribute(attributes, "service.name", "cupel");
  put_attribute(attributes, "service.version", version);
  put_attribute(attributes, "cupel.site", site);
  return attributes;
}

OtlpRequests::OtlpRequests(json::array resource, std::string_view version)
    : resource_{json::serialize(json::object{{"attributes", std::move(resource)}})},
      scope_{json::serialize(json::object{{"name", "cupel"}, {"version", otlp_text(version)}})} {}

void OtlpRequests::add(OtlpSignal signal, const json::object& item, std::size_t counts) {
  auto& begun = begun_.at(static_cast<std::size_t>(signal));
  const auto text = json::serialize(item);
  const bool is_full = begun.items.size() + text.size() > kLargest - (8u << 10);
  if (is_full) close(signal);
  if (!begun.items.empty()) begun.items += ',';
  begun.items += text;
  begun.counts += counts;
}

void OtlpRequests::close(OtlpSignal signal) {
  auto begun = std::exchange(begun_.at(static_cast<std::size_t>(signal)), {});
  if (begun.items.empty()) return;
  const auto& names = names_of(signal);
  done_.push_back(
      {signal,
       fmt::format(R"({{"{}":[{{"resource":{},"{}":[{{"scope":{},"{}":[{}]}}]}}]}})",
                   names.resources, resource_, names.scopes, scope_, names.items, begun.items),
       begun.counts});
}

std::vector<OtlpRequest> OtlpRequests::finish() {
  for (const auto signal : {OtlpSignal::traces, OtlpSignal::logs, OtlpSignal::metrics})
    close(signal);
  std::ranges::stable_sort(done_, {}, &OtlpRequest::signal);
  return std::move(done_);
}

}  // namespace cupel::api
