#pragma once
// The time stamp beside a certificate: a time-stamping authority (TSA) of the site says when these
// bytes existed, and with them the ends of the audit log and of the journal that stand in them.
#include <optional>
#include <string>

#include "base/time_stamp.h"
#include "orchestrator/engine/event.h"

namespace cupel::cli {

/// By which the clocks of the TSA, of who signs and of who checks may differ.
inline constexpr std::chrono::minutes kClockSkew{5};

/// "run-12.certificate.tsr": the TSA's answer in DER, which `openssl ts -verify` takes as well.
std::string time_stamp_name(const std::string& certificate);

/// The certificates in `file`. Errors: kInvalid: another user may change it, or it has none.
Result<std::string> authorities_in(const std::string& file);

struct Tsa {
  std::string url{};
  std::string authorities{};  // PEM
};

/// `--tsa` and `--tsa-ca`; nothing where neither is named. Errors: kInvalid: one without the other,
/// a URL that is none; as authorities_in.
Result<std::optional<Tsa>> tsa_of(const std::string& url, const std::string& authorities_file);

/// That a certificate was not stamped before it was issued, nor in time to come. Errors:
/// kUntrusted.
Result<void> check_time(const TimeStamp& stamp, engine::WallTime issued, engine::WallTime now);

/// The TSA's answer for these bytes, which check_answer() and check_time() have taken. Ctrl-C ends
/// the wait. Errors: as handoff::ask_tsa, as those; kCancelled.
Result<std::string> stamp(const Tsa& tsa, std::string_view bytes, engine::WallTime issued);

/// What lies beside a certificate with these bytes. Without `authorities` nothing is checked.
/// Errors: kUntrusted: there is none though there are `authorities`; as check_time_stamp and
/// check_time.
struct StampBeside {
  std::optional<TimeStamp> stamp{};
  std::string words{};  // for people
};
Result<StampBeside> check_stamp_beside(const std::string& certificate, std::string_view bytes,
                                       const std::optional<std::string>& authorities,
                                       engine::WallTime issued);

}  // namespace cupel::cli
