#include "orchestrator/handoff/batch_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.h"

namespace cupel::handoff {
namespace {

constexpr std::size_t kMostOptions = 64, kLongestValue = 255, kMostProblems = 8;
constexpr std::string_view kMagic = "#SBATCH";

enum class Value { none, optional, text, count };

struct Option {
  std::string_view name{};
  char letter = 0;  // 0: it has none
  Value value = Value::text;
  bool is_said_by_the_step = false;
};

/// Source: man sbatch (22.05).
constexpr std::array kOptions{
    Option{"account", 'A'},
    Option{"constraint", 'C'},
    Option{"cpus-per-task", 'c', Value::count},
    Option{"error", 'e'},
    Option{"exclusive", 0, Value::optional},
    Option{"gpus-per-node"},
    Option{"gres"},
    Option{"mem"},
    Option{"ntasks", 'n', Value::count},
    Option{"ntasks-per-node", 0, Value::count},
    Option{"qos", 'q'},
    Option{"reservation"},
    Option{"chdir", 'D', Value::text, true},
    Option{"comment", 0, Value::text, true},
    Option{"job-name", 'J', Value::text, true},
    Option{"no-requeue", 0, Value::none, true},
    Option{"nodelist", 'w', Value::text, true},
    Option{"nodes", 'N', Value::text, true},
    Option{"output", 'o', Value::text, true},
    Option{"parsable", 0, Value::none, true},
    Option{"partition", 'p', Value::text, true},
    Option{"requeue", 0, Value::none, true},
    Option{"time", 't', Value::text, true},
};

std::string passed_on() {
  std::vector<std::string> names;
  for (const auto& each : kOptions)
    if (!each.is_said_by_the_step) names.push_back(fmt::format("--{}", each.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What is wrong with it; nothing where nothing is.
std::optional<std::string> fault_in(const Option& option, std::string_view value) {
  if (option.value == Value::none && !value.empty()) return "takes no value";
  if (option.value == Value::none) return std::nullopt;
  // "user", "mcs" and "topo" have no form that all versions of the API know.
  if (option.value == Value::optional && !value.empty())
    return "with a value has no form for slurmrestd";
  if (option.value == Value::optional) return std::nullopt;
  if (value.empty() || value.size() > kLongestValue || value != printable(value))
    return fmt::format("needs a value of 1 to {} printable characters", kLongestValue);
  constexpr unsigned kMost = 65'000;  // they are 16 bits wide
  if (option.value != Value::count) return std::nullopt;
  const auto count = number<unsigned>(value);
  if (!count || *count == 0 || *count > kMost)
    return fmt::format("needs a number from 1 to {}", kMost);
  return std::nullopt;
}

/// Reads one #SBATCH line.
class OptionLine {
 public:
  OptionLine(std::string_view line, BatchScript& script)
      : words_{words(line.substr(kMagic.size()))}, script_{script} {}

  /// The first thing that is wrong; nothing: the line was read.
  std::optional<std::string> read() {
    for (; at_ < words_.size() && !words_[at_].starts_with('#'); ++at_) {
      if (words_[at_].find_first_of("\"'\\") != std::string_view::npos)
        return "has quotes, which are not read here: write the value without them";
      if (auto fault = read_option(words_[at_])) return fault;
    }
    return std::nullopt;
  }

 private:
  static const Option* option_of(std::string_view name) {
    const bool is_long = name.size() > 1;
    const auto found = std::ranges::find_if(kOptions, [&](const Option& each) {
      return is_long ? each.name == name : each.letter != 0 && name == std::string{each.letter};
    });
    return found == kOptions.end() ? nullptr : &*found;
  }

  std::optional<std::string> read_option(std::string_view word) {
    const bool is_long = word.starts_with("--");
    const auto bare = word.substr(std::min<std::size_t>(word.size(), is_long ? 2 : 1));
    const auto equals = is_long ? bare.find('=') : bare.npos;
    const auto name = is_long ? bare.substr(0, equals) : bare.substr(0, 1);
    const auto* option = word.starts_with('-') ? option_of(name) : nullptr;
    if (option == nullptr || (is_long && name.size() == 1))
      return fmt::format(
          "has {}: slurmrestd reads no #SBATCH lines, and Cupel passes on only {}: take it out, or "
          "leave rest out of the slurm section",
          shortened(printable(word), kLongestValue), passed_on());
    std::string_view value = is_long ? std::string_view{} : bare.substr(1);
    if (equals != bare.npos) value = bare.substr(equals + 1);
    const bool takes_the_next = option->value == Value::text || option->value == Value::count;
    if (takes_the_next && value.empty() && equals == bare.npos && at_ + 1 < words_.size())
      value = words_[++at_];
    if (auto fault = fault_in(*option, value))
      return fmt::format("has --{}, which {}", option->name, *fault);
    if (!option->is_said_by_the_step) script_.options[std::string{option->name}] = value;
    return std::nullopt;
  }

  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  BatchScript& script_;
};

bool is_option_line(std::string_view line) {
  return line.starts_with(kMagic) && (line.size() == kMagic.size() || line[kMagic.size()] == ' ' ||
                                      line[kMagic.size()] == '\t');
}

}  // namespace

Result<BatchScript> parse_batch_script(std::string text, const std::string& file) {
  if (text.empty() || text.size() > kMostOfScript || text.find('\0') != text.npos ||
      text != valid_utf8(text))
    return Error{
        Code::kInvalid,
        fmt::format("{}: a batch script is text in UTF-8, of 1 to {} bytes", file, kMostOfScript)};
  BatchScript script;
  std::vector<std::string> problems;
  std::size_t at_line = 0, options = 0;
  for (const auto line : lines(text)) {
    ++at_line;
    if (!trimmed(line).empty() && !line.starts_with('#')) break;  // the first command
    if (!is_option_line(line)) continue;
    const auto fault = ++options > kMostOptions
                           ? fmt::format("is behind {} others: that is too many", kMostOptions)
                           : OptionLine{line, script}.read();
    if (fault) problems.push_back(fmt::format("{}:{}: #SBATCH {}", file, at_line, *fault));
    if (problems.size() == kMostProblems) break;
  }
  if (!problems.empty()) return Error{Code::kInvalid, fmt::format("{}", fmt::join(problems, "; "))};
  script.text = std::move(text);
  return script;
}

}  // namespace cupel::handoff
