#pragma once
// What a BMC's answer means: a document, or which kind of failure, in words for a person. Pure.
#include <string>

#include "base/json.h"
#include "bmc/redfish/transport.h"

namespace cupel::bmc::redfish {

/// An answer that was accepted.
struct Answer {
  int status = 0;
  json::value body;                          // null where there was none
  std::string etag{};                        // from the header, else from the body; empty: none
  std::string location{};                    // of what was created, as reported
  std::string token{};                       // X-Auth-Token
  std::size_t bytes = 0;                     // of the body as it came
  std::chrono::milliseconds retry_after{0};  // when to look again; 0: not given
};

/// Sorts an answer. `asked` says who was asked what ("a01-n07: GET /redfish/v1"), for the error.
/// Errors: kRefused (401, 403), kUnsupported (a licence is missing; the action does not exist),
/// kNotFound (404, 410), kBusy (503, 429, 502, 504), kConflict (409, 412, 428), kMalformed (no
/// JSON), kFailed (any other status, or an error behind a 2xx).
/// Source: DMTF DSP0266, 8.6 and 13 (status codes, error responses).
Result<Answer> understood(std::string_view asked, const Response& response);
/// The same where its body was read already, or could not be: see document.h.
Result<Answer> understood(std::string_view asked, const Response& response,
                          Result<json::value> document);

/// The messages of an error body, one after the other: "text (MessageId)". Empty: there are none.
std::string reported_messages(const json::value& body);

/// Whether a refused login says that the BMC has no session left, not that somebody is wrong.
bool says_sessions_exhausted(const Response& response);

/// Whether a refused login says that this account may have no session, whatever its password.
bool says_no_right_to_sessions(const Response& response);

/// Whether a refused login says that the password is right and has to be changed first.
bool says_password_must_change(const Response& response);

}  // namespace cupel::bmc::redfish
