#pragma once
// What /metrics counts, for OpenTelemetry: counters since the service started, gauges as they are.
// In metrics.cpp, which has both forms.
#include "orchestrator/api/otlp_requests.h"
#include "orchestrator/api/request_handler.h"

namespace cupel::api {

/// By the names of /metrics. Errors: kStorage.
Result<std::vector<OtlpRequest>> otlp_of_service(RequestHandler& handler, std::string_view site,
                                                 engine::WallTime now);

}  // namespace cupel::api
