#include "orchestrator/engine/event.h"

#include <array>
#include <utility>

namespace cupel::engine {
namespace {

constexpr std::array<std::pair<EventKind, std::string_view>, 20> kWords{{
    {EventKind::run_started, "run-started"},     {EventKind::run_resumed, "run-resumed"},
    {EventKind::step_began, "step-began"},       {EventKind::step_started, "step-started"},
    {EventKind::step_retried, "step-retried"},   {EventKind::step_ended, "step-ended"},
    {EventKind::step_skipped, "step-skipped"},   {EventKind::step_overdue, "step-overdue"},
    {EventKind::step_shed, "step-shed"},         {EventKind::step_stopped, "step-stopped"},
    {EventKind::step_approved, "step-approved"}, {EventKind::node_retried, "node-retried"},
    {EventKind::run_paused, "run-paused"},       {EventKind::run_unpaused, "run-unpaused"},
    {EventKind::run_halted, "run-halted"},       {EventKind::run_released, "run-released"},
    {EventKind::wave_opened, "wave-opened"},     {EventKind::run_interrupted, "run-interrupted"},
    {EventKind::run_cancelled, "run-cancelled"}, {EventKind::run_ended, "run-ended"},
}};

}  // namespace

std::string_view to_string(EventKind kind) {
  for (const auto& [known, word] : kWords)
    if (known == kind) return word;
  __builtin_unreachable();
}

std::optional<EventKind> event_kind(std::string_view word) {
  for (const auto& [kind, known] : kWords)
    if (known == word) return kind;
  return std::nullopt;
}

}  // namespace cupel::engine
