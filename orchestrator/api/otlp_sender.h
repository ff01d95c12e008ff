#pragma once
// Sends OpenTelemetry's requests to a receiver, one after the other, over HTTP. TLS is always
// verified. Answers are bounded; only their status, their counts and a line of words are used.
// Source: OTLP Specification 1.9.0, "OTLP/HTTP Response": partial success is not sent again; 429,
// 502, 503 and 504 may be, after Retry-After.
#include <span>

#include "orchestrator/api/otlp_requests.h"
#include "orchestrator/handoff/api_client.h"

namespace cupel::api {

/// `url`: as fault_in_hook_url() takes it, in front of "/v1/traces". `section`: what names it, for
/// errors: "notices: collector". The token goes out as "Authorization: Bearer ...".
handoff::ApiClient otlp_client(std::string url, std::string ca,
                               std::optional<inventory::SecretRef> token, std::string section);

/// How far the requests of one export have come. Kept, they go on where they failed.
struct OtlpProgress {
  std::size_t next = 0;      // the first that has not been taken
  std::size_t rejected = 0;  // spans, records and points that the receiver did not take, of others
  std::string why{};         // its words about them, printable
};

/// Each request has 20 s. Errors: as ApiClient::ask(), which is_transient() tells apart; kBusy with
/// its retry_after; kFailed: any other status; kMalformed: an answer that is too long. After these
/// two another try would fail in the same way. Cancel-safe: a request under way may have arrived.
Task<Result<void>> send_otlp(handoff::ApiClient& client, std::span<const OtlpRequest> requests,
                             OtlpProgress& progress, Deadline deadline);

}  // namespace cupel::api
