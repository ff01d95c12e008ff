#include "orchestrator/engine/command.h"

#include <array>
#include <utility>

namespace cupel::engine {
namespace {

using Kind = Command::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 7> kKinds{{
    {Kind::cancel, "cancel"},
    {Kind::pause, "pause"},
    {Kind::unpause, "unpause"},
    {Kind::approve, "approve"},
    {Kind::retry, "retry"},
    {Kind::skip, "skip"},
    {Kind::release, "continue"},
}};

}  // namespace

std::string_view to_string(Kind kind) {
  for (const auto& [known, word] : kKinds)
    if (known == kind) return word;
  __builtin_unreachable();
}

std::optional<Kind> command_kind(std::string_view word) {
  for (const auto& [kind, known] : kKinds)
    if (known == word) return kind;
  return std::nullopt;
}

}  // namespace cupel::engine
