#include "bmc/budget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/wall_clock.h"

namespace cupel::bmc {
namespace {

constexpr double kWeight = 1.0 / 16;

double trouble_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::answered:
    case Outcome::refused:
      return 0;
    case Outcome::busy:
      return 0.2;
    case Outcome::server_error:
    case Outcome::malformed:
      return 0.5;
    case Outcome::reset:
      return 0.7;
    case Outcome::unreachable:
    case Outcome::timeout:
      return 1;
  }
  __builtin_unreachable();
}

std::int64_t* counter(Budget& budget, Outcome outcome) {
  switch (outcome) {
    case Outcome::answered:
      return nullptr;
    case Outcome::refused:
      return &budget.refused;
    case Outcome::busy:
      return &budget.busy;
    case Outcome::server_error:
      return &budget.server_errors;
    case Outcome::malformed:
      return &budget.malformed;
    case Outcome::reset:
      return &budget.resets;
    case Outcome::unreachable:
      return &budget.unreachable;
    case Outcome::timeout:
      return &budget.timeouts;
  }
  __builtin_unreachable();
}

bool is_answer(Outcome outcome) {
  return outcome != Outcome::reset && outcome != Outcome::unreachable &&
         outcome != Outcome::timeout;
}

/// The counters that are kept, by name.
constexpr std::array<std::pair<std::string_view, std::int64_t Budget::*>, 10> kCounters{
    {{"requests", &Budget::requests},
     {"retries", &Budget::retries},
     {"refused", &Budget::refused},
     {"busy", &Budget::busy},
     {"server_errors", &Budget::server_errors},
     {"malformed", &Budget::malformed},
     {"resets", &Budget::resets},
     {"unreachable", &Budget::unreachable},
     {"timeouts", &Budget::timeouts},
     {"bytes", &Budget::bytes}}};

}  // namespace

void note(Budget& budget, Outcome outcome, std::size_t bytes, std::chrono::milliseconds took) {
  ++budget.requests;
  budget.bytes += static_cast<std::int64_t>(bytes);
  if (auto* count = counter(budget, outcome)) ++*count;
  budget.trouble += kWeight * (trouble_of(outcome) - budget.trouble);
  budget.at = seconds_now();
  if (!is_answer(outcome)) return;
  const bool first = budget.latency.count() == 0;
  budget.latency = first ? took : budget.latency + (took - budget.latency) / 8;
  budget.longest = std::max(budget.longest, took);
}

std::int64_t answers(const Budget& budget) {
  return budget.requests - budget.resets - budget.unreachable - budget.timeouts;
}

void note_malformed(Budget& budget) {
  ++budget.malformed;
  budget.trouble += kWeight * trouble_of(Outcome::malformed);
  budget.trouble = std::min(budget.trouble, 1.0);
}

int health(const Budget& budget) {
  const double seconds = static_cast<double>(budget.latency.count()) / 1000;
  const double slowness = seconds <= 1 ? 1 : std::sqrt(1 / seconds);
  return static_cast<int>(std::lround(100 * (1 - budget.trouble) * slowness));
}

std::string to_text(const Budget& budget) {
  json::object kept;
  for (const auto& [name, member] : kCounters) kept[name] = budget.*member;
  kept["latency_ms"] = budget.latency.count();
  kept["longest_ms"] = budget.longest.count();
  kept["trouble"] = budget.trouble;
  kept["at"] = budget.at.time_since_epoch().count();
  return serialize(kept);
}

std::optional<Budget> budget_of(std::string_view text) {
  const auto parsed = parse_json(text);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto& kept = *parsed;
  // Counts that this program wrote: far below 2^53, which a double holds exactly.
  const auto count = [&kept](std::string_view name) {
    const double reported = number_at(kept, name).value_or(0);
    return reported > 0 && reported < 9e15 ? static_cast<std::int64_t>(reported) : std::int64_t{0};
  };
  Budget budget;
  for (const auto& [name, member] : kCounters) budget.*member = count(name);
  budget.latency = std::chrono::milliseconds{count("latency_ms")};
  budget.longest = std::chrono::milliseconds{count("longest_ms")};
  budget.trouble = std::clamp(number_at(kept, "trouble").value_or(0), 0.0, 1.0);
  budget.at = std::chrono::sys_seconds{std::chrono::seconds{count("at")}};
  return budget;
}

}  // namespace cupel::bmc
