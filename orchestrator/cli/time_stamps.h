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

/// The TSA's answer for these bytes, which check_time_stamp() has taken. Ctrl-C ends the wait.
/// Errors: as handoff::ask_tsa, as check_answer; kUntrusted: by the TSA's clock they were stamped
/// more than five minutes before `issued`.
Result<std::string> stamp(const Tsa& tsa, std::string_view bytes, engine::WallTime issued);

/// What lies beside a certificate with these bytes. Without `authorities` nothing is checked.
/// Errors: kUntrusted: it does not hold, there is none though there are `authorities`, or it says a
/// time before `issued` or a time to come (by more than five minutes); as check_time_stamp.
struct StampBeside {
  std::optional<TimeStamp> stamp{};
  std::string words{};  // for people
};
Result<StampBeside> check_stamp_beside(const std::string& certificate, std::string_view bytes,
                                       const std::optional<std::string>& authorities,
                                       engine::WallTime issued);

}  // namespace cupel::cli
