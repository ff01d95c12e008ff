#include "burnin/agent/burn/gemm_lines.h"

#include <algorithm>
#include <charconv>

#include "burnin/agent/common/json_line.h"

namespace cupel::burn {
namespace {

constexpr std::size_t kMostWays = 64, kLongestWay = 1024, kMostWayRecipes = 16;

std::vector<std::string_view> pieces_of(std::string_view text, char between) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const auto end = std::min(text.find(between), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

int digit_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool is_hex(std::string_view text) {
  return text.size() % 2 == 0 && text.size() <= kLongestWay &&
         std::ranges::all_of(text, [](char digit) { return digit_of(digit) >= 0; });
}

bool is_side(std::uint64_t side) { return side > 0 && side <= (std::uint64_t{1} << 20); }

}  // namespace

std::string WrittenRecipe::text() const {
  auto text = std::string{name_of(shape.type)};
  for (const auto number : {shape.m, shape.n, shape.k}) text += " " + std::to_string(number);
  text += rotates ? " 1" : " 0";
  for (const auto& way : ways) text += " " + way;
  return text;
}

Outcome<WrittenRecipe> read_recipe(std::string_view text) {
  const Failure no_recipe{.code = "usage",
                          .message =
                              "--step is for the processes that gemm starts itself: its "
                              "standard input is no list of products"};
  const auto pieces = pieces_of(text, ' ');
  if (pieces.size() < 6 || pieces.size() > 5 + kMostWays) return no_recipe;
  WrittenRecipe recipe;
  const auto type = type_of(pieces[0]);
  auto& shape = recipe.shape;
  const bool is_whole = type && read_number(pieces[1], shape.m) &&
                        read_number(pieces[2], shape.n) && read_number(pieces[3], shape.k) &&
                        is_side(shape.m) && is_side(shape.n) && is_side(shape.k) &&
                        (pieces[4] == "0" || pieces[4] == "1");
  if (!is_whole) return no_recipe;
  shape.type = *type;
  recipe.rotates = pieces[4] == "1";
  for (std::size_t at = 5; at < pieces.size(); ++at) {
    if (!is_hex(pieces[at])) return no_recipe;
    recipe.ways.emplace_back(pieces[at]);
  }
  return recipe;
}

Outcome<std::vector<WrittenRecipe>> read_recipes(std::string_view text) {
  std::vector<WrittenRecipe> recipes;
  for (const auto line : pieces_of(text, '\n')) {
    TRY(auto recipe, read_recipe(line));
    recipes.push_back(std::move(recipe));
  }
  if (recipes.empty() || recipes.size() > kMostWayRecipes) return read_recipe("").error();
  return recipes;
}

std::string text_of(const WayTrials& trials) {
  std::string text;
  for (const auto& trial : trials)
    text += (text.empty() ? "" : " ") + agent::number_text(trial.seconds) +
            (trial.repeats ? ":1" : ":0") + (trial.rotates ? ":1" : ":0");
  return text;
}

std::optional<WayTrials> read_trials(std::string_view text) {
  WayTrials trials;
  for (const auto piece : pieces_of(text, ' ')) {
    const auto parts = pieces_of(piece, ':');
    WayTrial trial;
    const auto is_truth = [](std::string_view word) { return word == "0" || word == "1"; };
    if (parts.size() != 3 || trials.size() == kMostWays || !read_number(parts[0], trial.seconds) ||
        !(trial.seconds >= 0) || !is_truth(parts[1]) || !is_truth(parts[2]))
      return std::nullopt;
    trial.repeats = parts[1] == "1";
    trial.rotates = parts[2] == "1";
    trials.push_back(trial);
  }
  return trials;
}

std::string hex_of(const void* bytes, std::size_t count) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto* from = static_cast<const unsigned char*>(bytes);
  std::string text;
  for (std::size_t at = 0; at < count; ++at) {
    text += kDigits[from[at] >> 4];
    text += kDigits[from[at] & 15];
  }
  return text;
}

bool bytes_of(std::string_view hex, void* bytes, std::size_t count) {
  if (hex.size() != 2 * count || !is_hex(hex)) return false;
  auto* to = static_cast<unsigned char*>(bytes);
  for (std::size_t at = 0; at < count; ++at)
    to[at] = static_cast<unsigned char>(16 * digit_of(hex[2 * at]) + digit_of(hex[2 * at + 1]));
  return true;
}

}  // namespace cupel::burn
