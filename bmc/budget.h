#pragma once
// How one BMC has been treated and how it fared: counters, latencies, a health score, and what is
// in use now. What `cupel bmc NODE budget` shows. Pure; the semaphores themselves are in
// bmc_limits.h.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cupel::bmc {

/// How one request ended.
enum class Outcome {
  answered,      // with a status that is none of these
  refused,       // 401
  busy,          // 503, 429
  server_error,  // any other 5xx
  malformed,     // no HTTP, no JSON, too large
  reset,         // the connection broke
  unreachable,   // no connection
  timeout,
};

/// Since the BMC is known, over all processes that kept what they saw.
struct Budget {
  std::int64_t requests = 0;  // that went out, repetitions too
  std::int64_t retries = 0;   // of these, repetitions by ourselves
  std::int64_t refused = 0;
  std::int64_t busy = 0;
  std::int64_t server_errors = 0;
  std::int64_t malformed = 0;
  std::int64_t resets = 0;
  std::int64_t unreachable = 0;
  std::int64_t timeouts = 0;
  std::int64_t bytes = 0;                // of the answers' bodies
  std::chrono::milliseconds latency{0};  // moving average of what was answered
  std::chrono::milliseconds longest{0};  // that an answer took
  double trouble = 0;                    // 0 to 1: see health()
  std::chrono::sys_seconds at{};         // when this was so
  // Now; nothing of it is kept over processes.
  int places = 2, in_flight = 0, waiting = 0;
  bool slow_in_use = false, upload_in_use = false, redfish_session = false;
  int ipmi_sessions = 0;
  int silent = 0;  // the last requests in a row whose connection was accepted and never answered
  std::chrono::seconds silent_for{0};  // since the first of these began
  // Whose credentials the BMC refused, so that nobody tries them again; empty: nobody's.
  std::string refused_user{};
  friend bool operator==(const Budget&, const Budget&) = default;
};

/// Of the requests, those that were answered, with whatever status.
std::int64_t answers(const Budget& budget);

/// Adds one request that went out. `took` counts for answers only.
void note(Budget& budget, Outcome outcome, std::size_t bytes, std::chrono::milliseconds took);

/// An answer that was noted as `answered` turned out to be no JSON.
void note_malformed(Budget& budget);

/// 100 is a BMC that answers everything in time, 0 one that answers nothing:
///
///     health = 100 * (1 - trouble) * slowness
///
/// `trouble` is a moving average over the requests, each with a weight of 1/16: 1 for a timeout or
/// no connection, 0.7 for a reset, 0.5 for a malformed answer or a 5xx, 0.2 for "busy", 0 else: a
/// BMC that stops answering is at 36 after 16 requests, and one that is well again is back at 90
/// after 29. `slowness` is 1 up to a mean latency of 1 s, and then (1 s / latency)^(1/2): 4 s halve
/// the score.
int health(const Budget& budget);

/// What is kept of it, and back; nothing where the text is none of ours.
std::string to_text(const Budget& budget);
std::optional<Budget> budget_of(std::string_view text);

}  // namespace cupel::bmc
