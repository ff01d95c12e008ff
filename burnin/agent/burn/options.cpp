#include "burnin/agent/burn/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "burnin/agent/common/json_line.h"

namespace cupel::burn {
namespace {

using Kind = Choice::Kind;
constexpr int kMostGpus = 64;
constexpr double kWeek = 168.0 * 3600;

constexpr std::array kCommon{
    Choice{.name = "--seconds",
           .kind = Kind::kNumber,
           .fallback = "60",
           .low = 1,
           .high = kWeek,
           .help = "how long, at most"},
    Choice{.name = "--hang-after",
           .kind = Kind::kNumber,
           .fallback = "60",
           .low = 5,
           .high = 3600,
           .help = "seconds without progress that are a hang"},
    Choice{.name = "--rounds",
           .kind = Kind::kCount,
           .fallback = "0",
           .high = 1e9,
           .help = "end after so many rounds; 0: by time alone"},
    Choice{.name = "--passes",
           .kind = Kind::kCount,
           .fallback = "0",
           .high = 1e6,
           .help = "products or sweeps within a round; 0: the command's own number"},
    Choice{.name = "--repeats",
           .kind = Kind::kCount,
           .fallback = "0",
           .high = 1e6,
           .help = "samples of each figure; 0: the command's own number"},
    Choice{.name = "--gpus",
           .kind = Kind::kText,
           .help = "such as 0,2-4: by PCI address, as nvidia-smi counts; all"},
    Choice{.name = "--self-test",
           .kind = Kind::kTimes,
           .low = 1,
           .high = 1e6,
           .help = "plants an error of a single bit, which must be found"},
    Choice{.name = "--seed",
           .kind = Kind::kText,
           .help = "for the same data again; else from the clock"},
};

Failure usage(std::string message) { return {.code = "usage", .message = std::move(message)}; }

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::span<const Choice> common_choices() { return kCommon; }

Outcome<std::vector<int>> parse_gpus(std::string_view text) {
  std::vector<int> gpus;
  for (const auto& part : agent::comma_separated(text)) {
    const auto dash = part.find('-');
    const auto first = whole_number<int>(std::string_view{part}.substr(0, dash));
    const auto last =
        dash == part.npos ? first : whole_number<int>(std::string_view{part}.substr(dash + 1));
    const bool sound = first && last && *first >= 0 && *first <= *last && *last < kMostGpus;
    if (!sound)
      return usage("--gpus " + agent::shown(text) + ": expected numbers from 0 to 63, as in 0,2-4");
    for (int gpu = *first; gpu <= *last; ++gpu) {
      if (std::ranges::find(gpus, gpu) != gpus.end())
        return usage("--gpus " + agent::shown(text) + ": " + std::to_string(gpu) +
                     " is given twice");
      gpus.push_back(gpu);
    }
  }
  if (gpus.empty()) return usage("--gpus: none named; leave it out for all");
  std::ranges::sort(gpus);
  return gpus;
}

Outcome<Options> Options::parse(std::string_view command, std::span<const Choice> own,
                                std::span<const std::string_view> arguments, std::uint64_t seed) {
  std::vector<Choice> choices{kCommon.begin(), kCommon.end()};
  choices.insert(choices.end(), own.begin(), own.end());
  auto values = agent::Options::read(choices, arguments);
  if (!values)
    return usage(std::string{command} + ": " + values.error().what + "; see cupel-burn help");
  const auto& stray = values->operands().empty() ? values->command() : values->operands();
  if (!stray.empty())
    return usage(std::string{command} + ": unexpected argument " + agent::shown(stray.front()) +
                 "; see cupel-burn help");
  Options options;
  options.command_ = command;
  options.seed_ = seed;
  options.values_ = *std::move(values);
  if (options.values_.given("--gpus")) {
    TRY(options.gpus_, parse_gpus(options.word("--gpus")));
  }
  if (options.values_.given("--seed")) {
    const auto number = whole_number<std::uint64_t>(options.word("--seed"));
    if (!number)
      return usage("--seed " + agent::shown(options.word("--seed")) + ": expected a whole number");
    options.seed_ = *number;
  }
  return options;
}

std::chrono::duration<double> Options::seconds() const {
  return std::chrono::duration<double>{number("--seconds")};
}

std::chrono::duration<double> Options::hang_after() const {
  return std::chrono::duration<double>{number("--hang-after")};
}

std::vector<std::string> Options::given_but(std::span<const std::string_view> left_out) const {
  std::vector<std::string> words;
  const auto is_given = [&](std::string_view name) {
    return given(name) && std::ranges::find(left_out, name) == left_out.end();
  };
  for (const auto& [name, value] : values_.numbers())
    if (is_given(name)) words.insert(words.end(), {name, agent::number_text(value)});
  for (const auto& [name, value] : values_.texts())
    if (is_given(name)) words.insert(words.end(), {name, value});
  for (const auto& [name, value] : values_.flags())
    if (is_given(name) && value) words.push_back(name);
  return words;
}

std::string Options::parameters() const {
  agent::JsonLine line;
  for (const auto& [name, value] : values_.numbers())
    if (name != "--self-test") line.add(name.substr(2), value);
  for (const auto& [name, value] : values_.texts())
    if (name != "--gpus" && name != "--seed") line.add(name.substr(2), value);
  for (const auto& [name, value] : values_.flags()) line.add(name.substr(2), value);
  line.add("seed", std::to_string(seed_));  // a text: JSON's numbers hold 53 bits
  if (self_tests() > 0) line.add("self-test", self_tests());
  if (!gpus_.empty()) {
    std::string list;
    for (const int gpu : gpus_) list += (list.empty() ? "" : ",") + std::to_string(gpu);
    line.add("gpus", list);
  }
  return line.object_text();
}

}  // namespace cupel::burn
