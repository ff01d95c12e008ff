#pragma once
// Words of journals that older versions wrote, each with the one that is written now. A journal is
// never rewritten: its words are translated where it is read. Not the names of measures: those are
// in burnin/former_words.h.
#include <array>
#include <string_view>

namespace cupel::engine {

struct FormerWord {
  std::string_view former;
  std::string_view now;
};

/// How a step ended: `outcome` of step_ended and step_retried.
inline constexpr auto kFormerOutcomes = std::to_array<FormerWord>({
    {"reject", "failed"},
    {"needs hands", "needs operator"},
    {"suspect BMC", "BMC unresponsive"},
});

/// What an operator asked for: Command::Kind.
inline constexpr auto kFormerCommandKinds = std::to_array<FormerWord>({
    {"release", "continue"},
});

/// The present word for a former one of the table; any other word unchanged.
constexpr std::string_view present_word(const auto& table, std::string_view word) {
  for (const auto& row : table)
    if (row.former == word) return row.now;
  return word;
}

}  // namespace cupel::engine
