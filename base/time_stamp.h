#pragma once
// Time stamps (RFC 3161): that some bytes existed at a time, signed by a time-stamping authority
// (TSA). The request, and what an answer is worth; who carries them is handoff/tsa_client.h. Pure.
#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel {

inline constexpr std::size_t kLargestTimeStamp = 64UL << 10U;  // bytes of an answer

struct TimeStamp {
  std::chrono::sys_seconds at{};  // UTC, by the TSA's clock
  std::string by{};               // the subject of the TSA's certificate, printable
  std::string serial{};           // the stamp's number at that TSA, hexadecimal
  std::string policy{};           // OID of the rules by which it stamps
};

/// A TimeStampReq in DER: the SHA-256 of `bytes`, a fresh nonce of 64 bits, and the wish that the
/// answer has the TSA's certificate. Errors: kFailed: this machine has no random bytes.
Result<std::string> time_stamp_request(std::string_view bytes);

/// The stamp of a TimeStampResp in DER that answers `request`, its nonce included.
/// `authorities`: PEM certificates of those who may have signed the TSA's. The chain is checked at
/// this time, and the TSA's own certificate must be for time stamps alone (RFC 3161, 2.3). Nothing
/// asks whether it was revoked. Errors: kMalformed: it is no such answer, or has bytes behind it;
/// kFailed: the TSA refused, with its words; kUntrusted: it is of another request, or not signed by
/// a TSA of `authorities` with SHA-256 or stronger; kInvalid: `authorities` has no certificate.
Result<TimeStamp> check_answer(std::string_view answer, std::string_view request,
                               std::string_view authorities);

/// The same of an answer that was kept, for `bytes`, whatever nonce it has.
Result<TimeStamp> check_time_stamp(std::string_view answer, std::string_view bytes,
                                   std::string_view authorities);

/// That a text has certificates. Errors: kInvalid, with what helps.
Result<void> check_authorities(std::string_view authorities);

}  // namespace cupel
