#pragma once
// What a command line may say, as plain data: a row for each command, option and argument. One file
// parses words by them (parse_command_line.cpp); man pages and shell completion print them. No
// header of a parser is included here.
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cupel::cli {

/// Exit codes are a public interface; scripts decide on them.
enum class Exit : int {
  passed = 0,      // all nodes passed
  failed = 1,      // some node failed or is inconclusive
  invalid = 2,     // the input is wrong: nothing was touched
  unfinished = 3,  // the run could not finish
  halted = 4,      // the run is halted, and waits for an operator
};

/// A value; or the exit code of a command that could not have it, and has printed why. TRY hands
/// the exit code up.
template <class T>
struct [[nodiscard]] OrExit : std::expected<T, Exit> {
  using std::expected<T, Exit>::expected;
  OrExit(Exit exit) : std::expected<T, Exit>{std::unexpected{exit}} {}
};

/// Where a value goes, which says what it must be: text, a number or several of them. The first two
/// are of flags, which take none. What is called is called while words are parsed.
using OptionPlace =
    std::variant<bool*, std::function<void()>, std::function<void(const std::string&)>,
                 std::string*, std::filesystem::path*, std::vector<std::string>*, int*,
                 std::uint16_t*, std::int64_t*, std::uint64_t*, std::optional<double>*,
                 std::optional<std::uint64_t>*, std::optional<std::int64_t>*,
                 std::vector<std::int64_t>*>;

/// Both ends are allowed.
struct NumberRange {
  double least;
  double most;
};

enum class Existing { not_needed, file, folder };

struct OptionRules {
  bool required = false;
  bool repeatable = false;                // takes one value each time that it is given
  int up_to = 0;                          // most values of an argument; 0: as its place has it
  char separator = '\0';                  // parts the values in one word
  std::vector<std::string_view> among{};  // values that are allowed; empty: any
  std::optional<NumberRange> range{};
  Existing existing = Existing::not_needed;
  std::function<std::string(const std::string&)> check{};  // what is wrong; "": nothing
  std::string_view placeholder{};                          // of the value; else by its type
  std::vector<std::string_view> excludes{};                // names of options of the same command
  std::vector<std::string_view> needs{};
  bool* given = nullptr;           // becomes true where the option is given
  std::string_view only_one_of{};  // a group: at most one of its options may be given
};

inline const OptionRules kRequired{.required = true};

/// "-i,--inventory" is an option or, with a place that takes no value, a flag. "NODES" is an
/// argument: its place on the command line is that of its row among those of arguments.
struct OptionRow {
  std::string_view names;
  OptionPlace place;
  std::string_view help{};
  OptionRules rules{};
};

/// The places of options must outlive the row: what `run` captures keeps them. A command with
/// subcommands requires one of them, and gives them its footer where they have none.
struct CommandRow {
  std::string_view name;
  std::string_view help;
  std::string_view footer{};   // examples and exit codes
  std::string_view version{};  // printed for --version
  std::vector<OptionRow> options{};
  std::vector<CommandRow> subcommands{};
  std::function<Exit()> run{};
};

template <class Row>
std::vector<Row> joined(std::initializer_list<std::vector<Row>> parts) {
  std::vector<Row> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

bool is_argument(const OptionRow& row);
bool takes_value(const OptionRow& row);
/// "i" of "-i,--inventory"; empty where there is none.
std::string_view short_name(const OptionRow& row);
/// "inventory" of "-i,--inventory".
std::string_view long_name(const OptionRow& row);
/// What help prints for the value: "TEXT:{on,off}", "INT in [1 - 64]", "NAME=VALUE".
std::string placeholder_of(const OptionRow& row);
/// With --help, and --version, which have no rows.
std::vector<OptionRow> all_options(const CommandRow& command);

}  // namespace cupel::cli
