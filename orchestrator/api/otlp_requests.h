#pragma once
// Requests of OpenTelemetry's protocol as JSON, and the small values that they consist of. Pure.
// Sources: OTLP Specification 1.9.0, "JSON Protobuf Encoding" (ids in hexadecimal, names in
// camelCase, enumerators as numbers); "ProtoJSON Format" of Protocol Buffers (64-bit integers as
// texts); opentelemetry-proto 1.9: trace.proto, logs.proto, metrics.proto, common.proto.
#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/engine/event.h"

namespace cupel::api {

enum class OtlpSignal { traces, logs, metrics };

/// Body of one POST to the endpoint's path.
struct OtlpRequest {
  OtlpSignal signal{};
  std::string body{};
  std::size_t items = 0;  // spans, log records or data points

  /// "/v1/traces"
  std::string path() const;
};

/// Nanoseconds since 1970-01-01 UTC, as fixed64 stands in JSON.
std::string otlp_time(engine::WallTime time);

/// Attributes. Texts are made printable UTF-8 and shortened to kLongestOtlpText; empty ones are
/// left out.
inline constexpr std::size_t kLongestOtlpText = 1000;
std::string otlp_text(std::string_view text);
void put_attribute(boost::json::array& attributes, std::string_view key, std::string_view text);
void put_attribute(boost::json::array& attributes, std::string_view key, std::int64_t number);

/// What the telemetry is about: a service named "cupel" of this version, at this site.
boost::json::array otlp_resource(std::string_view version, std::string_view site);

/// Collects items and parts them into requests of kLargest bytes or, where one item has more, of
/// that one.
class OtlpRequests {
 public:
  OtlpRequests(boost::json::array resource, std::string_view version);

  /// `item`: a span, a log record, or a metric with `counts` data points.
  void add(OtlpSignal signal, const boost::json::object& item, std::size_t counts = 1);
  /// Traces first. Once, at the end.
  std::vector<OtlpRequest> finish();

  static constexpr std::size_t kLargest = 1u << 20;

 private:
  struct Begun {
    std::string items{};  // with commas between them
    std::size_t counts = 0;
  };
  void close(OtlpSignal signal);

  std::string resource_, scope_;
  std::array<Begun, 3> begun_{};
  std::vector<OtlpRequest> done_{};
};

}  // namespace cupel::api
