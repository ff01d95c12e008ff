#pragma once
// Names of commands and options that have another name now. The former name is accepted for one
// release, with a warning that gives the new one. Not the tables of playbooks and profiles:
// those are in playbooks/former_words.h and burnin/former_words.h.
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::cli {

/// `cupel hands` is `cupel actions`; "store check" is a subcommand of `store`.
struct FormerCommand {
  std::string_view group;  // the command that it is a subcommand of; empty: of none
  std::string_view former;
  std::string_view now;
};

struct FormerOption {
  std::string_view former;
  std::string_view now;
};

inline constexpr auto kFormerCommands = std::to_array<FormerCommand>({
    {"", "hands", "actions"},
    {"", "release", "continue"},
    {"store", "check", "verify"},
});

inline constexpr auto kFormerOptions = std::to_array<FormerOption>({
    {"--wait-for-hands", "--wait-for-repair"},
    {"--look-again", "--recheck-interval"},
});

/// Replaces former names in a command line without the program's name. Returns one warning for each
/// name that it replaced. `with_values`: the options before the command that take a value.
std::vector<std::string> replace_former_words(std::vector<std::string>& words,
                                              std::span<const std::string_view> with_values);

}  // namespace cupel::cli
