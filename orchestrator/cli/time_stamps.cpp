#include "orchestrator/cli/time_stamps.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/ownership.h"
#include "base/text.h"
#include "orchestrator/cli/interrupt.h"
#include "orchestrator/handoff/tsa_client.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kLargestAuthorities = 1UL << 20U;

engine::WallTime when(const TimeStamp& stamp) {
  return std::chrono::time_point_cast<engine::WallTime::duration>(stamp.at);
}

Result<std::string> asked(const Tsa& tsa, const std::string& request) {
  asio::io_context io{1};
  auto ended = run_to_end(io, until_interrupted(handoff::ask_tsa(tsa.url, request)));
  if (ended.interrupted) return Error{Code::kCancelled, "stopped while the TSA was asked"};
  return std::move(ended.value);
}

}  // namespace

std::string time_stamp_name(const std::string& certificate) { return certificate + ".tsr"; }

Result<void> check_time(const TimeStamp& stamp, engine::WallTime issued, engine::WallTime now) {
  if (when(stamp) + kClockSkew < issued)
    return Error{Code::kUntrusted,
                 fmt::format("stamped at {}, before it was issued at {}: one of the two clocks is "
                             "wrong, or it was not issued then",
                             report::utc(when(stamp)), report::utc(issued))};
  if (when(stamp) > now + kClockSkew)
    return Error{Code::kUntrusted,
                 fmt::format("stamped at {}, and here it is {}: check the clock of this machine, "
                             "and the TSA's",
                             report::utc(when(stamp)), report::utc(now))};
  return ok();
}

Result<std::string> authorities_in(const std::string& file) {
  TRY(auto text, read_trusted_file(file, kLargestAuthorities));
  TRY(within(file, check_authorities(text)));
  return text;
}

Result<std::optional<Tsa>> tsa_of(const std::string& url, const std::string& authorities_file) {
  if (url.empty() && authorities_file.empty()) return std::optional<Tsa>{};
  if (url.empty())
    return Error{Code::kInvalid, "--tsa-ca without --tsa: name the authority that is to stamp"};
  if (authorities_file.empty())
    return Error{Code::kInvalid,
                 "--tsa without --tsa-ca: name the certificates of those who may have signed the "
                 "TSA's, so that its answer is checked before it is kept"};
  if (const auto fault = handoff::fault_in_tsa_url(url))
    return Error{Code::kInvalid, "--tsa: it " + *fault};  // it may have a password
  TRY(auto authorities, authorities_in(authorities_file));
  return std::optional{Tsa{url, std::move(authorities)}};
}

Result<std::string> stamp(const Tsa& tsa, std::string_view bytes, engine::WallTime issued) {
  TRY(const auto request, time_stamp_request(bytes));
  TRY(auto answer, asked(tsa, request));
  const auto who = "the TSA at " + tsa.url;
  TRY(const auto stamp, within(who, check_answer(answer, request, tsa.authorities)));
  TRY(within(who, check_time(stamp, issued, report::wall_now())));
  return answer;
}

Result<StampBeside> check_stamp_beside(const std::string& certificate, std::string_view bytes,
                                       const std::optional<std::string>& authorities,
                                       engine::WallTime issued) {
  const auto file = time_stamp_name(certificate);
  std::error_code unknown;
  const bool is_there = std::filesystem::exists(file, unknown);
  if (!authorities)
    return StampBeside{.words = is_there ? "not checked: --tsa-ca FILE says who may have signed it"
                                         : "none"};
  if (!is_there)
    return Error{Code::kUntrusted,
                 file + ": there is no time stamp beside the certificate: ask who issued it"};
  TRY(const auto answer, read_file(file, kLargestTimeStamp));
  TRY(auto stamp, within(file, check_time_stamp(answer, bytes, *authorities)));
  TRY(within(file, check_time(stamp, issued, report::wall_now())));
  auto words = fmt::format("it existed at {}, says {} (serial {}, policy {})",
                           report::utc(when(stamp)), stamp.by, stamp.serial, stamp.policy);
  return StampBeside{std::move(stamp), std::move(words)};
}

}  // namespace cupel::cli
