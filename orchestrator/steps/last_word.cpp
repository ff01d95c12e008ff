#include "orchestrator/steps/last_word.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.h"

namespace cupel::steps {
namespace {

/// One line of the log, as a person reads it.
std::string line_of(const bmc::LogEntry& entry) {
  constexpr std::size_t kLongest = 160;
  std::string text;
  if (entry.time) text += fmt::format("{:%Y-%m-%d %H:%M:%S} ", *entry.time);
  const bool notable = !entry.severity.empty() && entry.severity != "OK";
  if (notable) text += entry.severity + ": ";
  text += entry.message;
  // An IPMI entry's message may be the state alone.
  if (!entry.sensor.empty() && !entry.message.contains(entry.sensor))
    text += " (" + entry.sensor + ")";
  return shortened(printable(text), kLongest);
}

}  // namespace

Task<std::string> last_word_of_bmc(StepEnvironment& environment,
                                   const engine::StepRequest& request) {
  constexpr std::size_t kMostLines = 3;
  std::string text;
  const auto deadline = with_last_word(request.deadline);
  const auto bmc = environment.bmc(request.node);
  const auto power = co_await bmc->power.state(deadline);
  if (power) {
    text = to_string(power->value);
    const auto log = co_await bmc->log.read(std::nullopt, kMostLines, deadline);
    if (log)
      for (const auto& entry : log->entries) text += "; " + line_of(entry);
  }
  co_await bmc->log_out();
  co_return text;
}

}  // namespace cupel::steps
