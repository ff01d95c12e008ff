#include "burnin/agent/common/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "burnin/agent/common/json_line.h"

namespace cupel::agent {
namespace {

using Kind = Choice::Kind;

Error invalid(std::string what) { return {Code::kInvalid, std::move(what)}; }

template <class T>
std::optional<T> whole_text(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "16G": 17179869184.
std::optional<double> size_in_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  const auto unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
  if (unit != kUnits.npos) text.remove_suffix(1);
  const auto count = whole_text<std::uint64_t>(text);
  if (!count || *count >= (std::uint64_t{1} << 50)) return std::nullopt;
  double bytes = static_cast<double>(*count);
  for (std::size_t i = 0; unit != kUnits.npos && i <= unit; ++i) bytes *= 1024;
  return bytes;
}

bool is_whole(Kind kind) { return kind == Kind::kCount || kind == Kind::kTimes; }

std::optional<double> number_of(Kind kind, std::string_view value) {
  if (kind == Kind::kSize) return size_in_bytes(value);
  if (kind == Kind::kSeconds && value.ends_with('s')) value.remove_suffix(1);
  const auto number = whole_text<double>(value);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  if (is_whole(kind) && *number != std::floor(*number)) return std::nullopt;
  return number;
}

std::string expected(const Choice& choice) {
  const auto what = choice.kind == Kind::kSize      ? "bytes, such as 8, 512K or 16G,"
                    : choice.kind == Kind::kSeconds ? "seconds"
                    : is_whole(choice.kind)         ? "a whole number"
                                                    : "a number";
  return std::string{what} + " from " + number_text(choice.low) + " to " + number_text(choice.high);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

template <class Values>
auto value_of(const Values& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? typename Values::mapped_type{} : found->second;
}

}  // namespace

std::string shown(std::string_view value) { return "\"" + printable(value.substr(0, 60)) + "\""; }

std::vector<std::string> comma_separated(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

Result<void> Options::take(const Choice& choice, std::string_view value) {
  const std::string name{choice.name};
  switch (choice.kind) {
    case Kind::kFlag:
      flags_[name] = value == "yes";
      return ok();
    case Kind::kNumber:
    case Kind::kCount:
    case Kind::kSeconds:
    case Kind::kSize:
    case Kind::kTimes: {
      const auto number = number_of(choice.kind, value);
      if (!number || *number < choice.low || *number > choice.high)
        return invalid(name + " " + shown(value) + ": expected " + expected(choice));
      numbers_[name] = *number;
      return ok();
    }
    case Kind::kWord:
    case Kind::kWords: {
      const auto allowed = comma_separated(choice.words);
      const auto parts = comma_separated(value);
      const bool known = std::ranges::all_of(parts, [&](const auto& part) {
        return std::ranges::find(allowed, part) != allowed.end();
      });
      for (const auto& part : parts)
        if (std::ranges::count(parts, part) > 1)
          return invalid(name + " " + shown(value) + ": " + shown(part) + " is named twice");
      if (!known || parts.empty() || (choice.kind == Kind::kWord && parts.size() != 1))
        return invalid(name + " " + shown(value) + ": expected " +
                       (choice.kind == Kind::kWord ? "one" : "some") + " of " +
                       std::string{choice.words});
      texts_[name] = value;
      return ok();
    }
    case Kind::kText:
      texts_[name] = value;
      return ok();
  }
  return ok();
}

Result<Options> Options::read(std::span<const Choice> choices,
                              std::span<const std::string_view> arguments) {
  Options options;
  for (const auto& choice : choices) {
    if (choice.fallback.empty() && choice.kind != Kind::kFlag) continue;
    TRY(options.take(choice, choice.fallback));
  }
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const auto name = arguments[at];
    if (name == "--") {
      options.command_.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                              arguments.end());
      break;
    }
    if (!name.starts_with("--")) {
      options.operands_.push_back(name);
      continue;
    }
    const auto choice = std::ranges::find(choices, name, &Choice::name);
    if (choice == choices.end()) return invalid("unknown option " + shown(name));
    if (!options.given_.insert(choice->name).second)
      return invalid(std::string{name} + " is given twice");
    const bool more = at + 1 < arguments.size();
    if (choice->kind == Kind::kFlag) {
      TRY(options.take(*choice, "yes"));
    } else if (choice->kind == Kind::kTimes && !(more && is_number(arguments[at + 1]))) {
      TRY(options.take(*choice, "1"));
    } else if (!more) {
      return invalid(std::string{name} + " needs a value");
    } else {
      TRY(options.take(*choice, arguments[++at]));
    }
  }
  return options;
}

double Options::number(std::string_view name) const { return value_of(numbers_, name); }

std::uint64_t Options::count(std::string_view name) const {
  return static_cast<std::uint64_t>(number(name));
}

bool Options::flag(std::string_view name) const { return value_of(flags_, name); }

const std::string& Options::text(std::string_view name) const {
  static const std::string kNone;
  const auto found = texts_.find(name);
  return found == texts_.end() ? kNone : found->second;
}

std::vector<std::string> Options::words(std::string_view name) const {
  return comma_separated(text(name));
}

}  // namespace cupel::agent
