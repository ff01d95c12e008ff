#pragma once
// What NCCL's own RAS says where ranks wait for each other: a thread of NCCL (2.24 and later) in
// each process answers at a loopback port with the state of all communicators of the job. Evidence
// beside our own: its words are kept, and never the only ground of a verdict. Bounded in bytes, in
// lines and in time.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/common/json_line.h"

namespace cupel::burn {

struct RasPlace {
  std::string address = "127.0.0.1";
  std::uint16_t port = 28028;
};

/// Of NCCL_RAS_ADDR, "host:port"; nullptr or empty: NCCL's default. Errors: usage: an address that
/// is not this node's own loopback, which is not asked.
Outcome<RasPlace> ras_place(const char* setting);

/// What RAS answers to VERBOSE STATUS: printable ASCII in lines, at most 16 KiB of it. Errors:
/// nccl: nothing listens there, it is not RAS, or it did not answer within that time.
Outcome<std::string> ask_ras(const RasPlace& place, std::chrono::milliseconds within);

struct RasFindings {
  std::vector<std::string> communicators{};  // "group 0: 1 of 16 ranks, status INIT, errors OK"
  std::vector<std::string> errors{};         // the lines under "Errors", at most eight
};

/// Communicators that are not RUNNING without an error, and what stands under Errors. Of a text
/// that is laid out in another way: nothing. Source: NCCL 2.28.3's answer on one H200.
RasFindings ras_findings(std::string_view text);

/// {"kind":"ras","communicators":[...],"errors":[...],"text":"..."}, or "message" alone where it
/// was not to be had.
agent::JsonLine ras_line(const Outcome<std::string>& answer);

/// Of this process, as its environment says: at most four seconds.
agent::JsonLine ask_own_ras();

}  // namespace cupel::burn
