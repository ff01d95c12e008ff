#include "burnin/agent/burn/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "burnin/agent/burn/line.h"

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
};

Failure usage(std::string message) { return {.code = "usage", .message = std::move(message)}; }

template <class T>
std::optional<T> whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "16G": 17179869184.
std::optional<double> size_of(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  const auto unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
  if (unit != kUnits.npos) text.remove_suffix(1);
  const auto count = whole<std::uint64_t>(text);
  if (!count || *count >= (std::uint64_t{1} << 50)) return std::nullopt;
  double bytes = static_cast<double>(*count);
  for (std::size_t i = 0; unit != kUnits.npos && i <= unit; ++i) bytes *= 1024;
  return bytes;
}

std::string shown(std::string_view text) { return "\"" + std::string{text.substr(0, 60)} + "\""; }

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

const Choice* choice_of(std::string_view name, std::span<const Choice> own) {
  for (const auto all : {common_choices(), own})
    for (const auto& choice : all)
      if (choice.name == name) return &choice;
  return nullptr;
}

}  // namespace

std::span<const Choice> common_choices() { return kCommon; }

std::vector<std::string> parted(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

Outcome<std::vector<int>> parse_gpus(std::string_view text) {
  std::vector<int> gpus;
  for (const auto& part : parted(text)) {
    const auto dash = part.find('-');
    const auto first = whole<int>(std::string_view{part}.substr(0, dash));
    const auto last =
        dash == part.npos ? first : whole<int>(std::string_view{part}.substr(dash + 1));
    const bool sound = first && last && *first >= 0 && *first <= *last && *last < kMostGpus;
    if (!sound) return usage("--gpus " + shown(text) + ": numbers from 0 to 63, as in 0,2-4");
    for (int gpu = *first; gpu <= *last; ++gpu) {
      if (std::ranges::find(gpus, gpu) != gpus.end())
        return usage("--gpus " + shown(text) + ": " + std::to_string(gpu) + " stands there twice");
      gpus.push_back(gpu);
    }
  }
  if (gpus.empty()) return usage("--gpus: none named; leave it out for all");
  std::ranges::sort(gpus);
  return gpus;
}

Outcome<> Options::take(const Choice& choice, std::string_view value) {
  const std::string name{choice.name};
  switch (choice.kind) {
    case Kind::kFlag:
      flags_[name] = value == "yes";
      return done();
    case Kind::kNumber:
    case Kind::kCount: {
      const auto number = whole<double>(value);
      const bool fits = number && std::isfinite(*number) && *number >= choice.low &&
                        *number <= choice.high &&
                        (choice.kind == Kind::kNumber || *number == std::floor(*number));
      if (!fits)
        return usage(name + " " + shown(value) + ": a " +
                     (choice.kind == Kind::kCount ? "whole " : "") + "number from " +
                     number_text(choice.low) + " to " + number_text(choice.high));
      numbers_[name] = *number;
      return done();
    }
    case Kind::kSize: {
      const auto bytes = size_of(value);
      if (!bytes || *bytes < choice.low || *bytes > choice.high)
        return usage(name + " " + shown(value) + ": bytes, such as 8, 512K or 16G, from " +
                     number_text(choice.low) + " to " + number_text(choice.high));
      numbers_[name] = *bytes;
      return done();
    }
    case Kind::kWord:
    case Kind::kWords: {
      const auto allowed = parted(choice.words);
      const auto said = parted(value);
      const bool known = std::ranges::all_of(said, [&](const auto& word) {
        return std::ranges::find(allowed, word) != allowed.end();
      });
      if (!known || (choice.kind == Kind::kWord && said.size() != 1))
        return usage(name + " " + shown(value) + ": " +
                     (choice.kind == Kind::kWord ? "one" : "some") + " of " +
                     std::string{choice.words});
      texts_[name] = value;
      return done();
    }
  }
  return done();
}

Outcome<Options> Options::parse(std::string_view command, std::span<const Choice> own,
                                std::span<const std::string_view> arguments, std::uint64_t seed) {
  Options options;
  options.command_ = command;
  options.seed_ = seed;
  for (const auto all : {common_choices(), own})
    for (const auto& choice : all) {
      TRY(options.take(choice, choice.fallback));
    }
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const auto name = arguments[at];
    const bool more = at + 1 < arguments.size();
    if (name == "--self-test") {  // alone, or with how often
      options.self_tests_ = 1;
      if (!more || !all_digits(arguments[at + 1])) continue;
      const auto count = whole<int>(arguments[++at]);
      if (!count || *count < 1 || *count > 1'000'000)
        return usage("--self-test " + shown(arguments[at]) + ": from 1 to 1000000");
      options.self_tests_ = *count;
      continue;
    }
    const auto* choice = choice_of(name, own);
    if (choice != nullptr && choice->kind == Kind::kFlag) {
      TRY(options.take(*choice, "yes"));
      continue;
    }
    if (choice == nullptr && name != "--gpus" && name != "--seed")
      return usage(std::string{command} + " does not know " + shown(name) +
                   "; see cupel-burn help");
    if (!more) return usage(std::string{name} + " needs a value");
    const auto value = arguments[++at];
    if (name == "--gpus") {
      TRY(options.gpus_, parse_gpus(value));
    } else if (name == "--seed") {
      const auto number = whole<std::uint64_t>(value);
      if (!number) return usage("--seed " + shown(value) + ": a whole number");
      options.seed_ = *number;
    } else {
      TRY(options.take(*choice, value));
    }
  }
  return options;
}

std::chrono::duration<double> Options::seconds() const {
  return std::chrono::duration<double>{number("--seconds")};
}

std::chrono::duration<double> Options::hang_after() const {
  return std::chrono::duration<double>{number("--hang-after")};
}

double Options::number(std::string_view name) const { return numbers_.find(name)->second; }

bool Options::flag(std::string_view name) const { return flags_.find(name)->second; }

const std::string& Options::word(std::string_view name) const { return texts_.find(name)->second; }

std::vector<std::string> Options::words(std::string_view name) const { return parted(word(name)); }

std::string Options::parameters() const {
  Line line;
  for (const auto& [name, value] : numbers_) line.add(name.substr(2), value);
  for (const auto& [name, value] : texts_) line.add(name.substr(2), value);
  for (const auto& [name, value] : flags_) line.add(name.substr(2), value);
  line.add("seed", std::to_string(seed_));  // a text: JSON's numbers hold 53 bits
  if (self_tests_ > 0) line.add("self-test", self_tests_);
  if (!gpus_.empty()) {
    std::string list;
    for (const int gpu : gpus_) list += (list.empty() ? "" : ",") + std::to_string(gpu);
    line.add("gpus", list);
  }
  return std::move(line).object();
}

}  // namespace cupel::burn
